# Countersign. `make help` lists what there is.

GO       ?= go
SYSTEM   := $(shell uname -s)
BIN      := build/bin
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X main.version=$(VERSION)
# What is fuzzed, and how long each target of it: make test has a short turn
# of its own on what reads commands.
FUZZED   ?= ./backend/... ./app/...
FUZZTIME ?= 60s
# How often each thing is swapped between question, answer and start.
SWAPS    ?= 500

comma    := ,
# The command line speaks HTTP/1.1 alone: that is all it needs, and it starts sooner.
CLITAGS  := nethttpomithttp2
TAGS     := desktop,production$(if $(filter Linux,$(SYSTEM)),$(comma)webkit2_41)

# From where random tests begin. The number is the same in each run, so that a
# failure is one of the change; another one finds other texts.
SEED     ?= 1
export COUNTERSIGN_RANDOM_SEED := $(SEED)

# The steps are in order; each tool uses all cores by itself.
.NOTPARALLEL:

.PHONY: help setup bindings page cli build app run demo test unit swap-test random-test fuzz-test agents-test page-test desktop-test smoke mac-layout-test screenshots icons notices check mac-link mac-headers bench fuzz clean

help:
	@echo "make run          set up, build and start the app"
	@echo "make test         set up, build and run every test"
	@echo "make agents-test  real agent programs against an invented model"
	@echo "make smoke        start the app, ask it, deny, end it; pictures in build/smoke"
	@echo "make demo         a tour of the host on real programs, without questions to you"
	@echo "make build        build/bin/countersign-app (on a Mac build/bin/Countersign.app) and build/bin/countersign (command line)"
	@echo "make app          build/dist/Countersign.app for both kinds of Mac, its zip and cask"
	@echo "make screenshots  every view of the page, as pictures in build/gallery"
	@echo "make icons        the pictures of the status item, from their vectors"
	@echo "make notices      the licences of all that is in the programs and the page, after a dependency changed"
	@echo "make check        formatting, vet, modules, the tour"
	@echo "make mac-link     links for both kinds of Mac without one (MACSDK=folder of an SDK)"
	@echo "make mac-headers  holds what is declared of macOS against Apple's headers (MACSDK)"
	@echo "make bench        speed and size, as ratios measured side by side"
	@echo "make fuzz         longer fuzzing (FUZZTIME=$(FUZZTIME) each)"
	@echo "make setup        install what is missing"
	@echo "make clean        remove what was built"

setup:
	@sh build/setup.sh

# What the page may call, written by Wails from the Go side.
bindings: setup
	@tsoutputtype=interfaces CGO_ENABLED=0 $(GO) run -tags bindings ./app >/dev/null

page: bindings
	cd frontend && npm run --silent build -- --logLevel warn

# A Mac takes only a bundle for an app: its own permissions, notifications and login item hang on it.
# The command line is the one in it, which the app knows.
ifeq ($(SYSTEM),Darwin)
cli: build

build: page
	$(GO) run ./build/bundle -here -out $(BIN)
	ln -sfn Countersign.app/Contents/Helpers/countersign $(BIN)/countersign
else
cli: setup
	@mkdir -p $(BIN)
	CGO_ENABLED=0 $(GO) build -trimpath -tags $(CLITAGS) -ldflags "$(LDFLAGS)" -o $(BIN)/countersign ./backend/cmd/countersign

build: page cli
	$(GO) build -trimpath -tags $(TAGS) -ldflags "$(LDFLAGS)" -o $(BIN)/countersign-app ./app
endif

# Countersign.app, for both kinds of Mac. Elsewhere what needs a Mac is left out, and it says so.
app: page
	$(GO) run ./build/bundle

run: build
	@sh build/run.sh $(BIN)

demo: cli
	$(GO) run ./build/demo $(BIN)/countersign

test: build unit swap-test random-test fuzz-test page-test desktop-test

# -race needs a C compiler, which setup looks for.
unit: setup
	@sh build/unit.sh $(CLITAGS) $(GO)

# Without -race, so that the swaps come as fast as they can.
swap-test: setup
	COUNTERSIGN_SWAPS=$(SWAPS) $(GO) test -count=1 -timeout 20m -v -run '^TestSwap' ./backend/gate

# Random texts compared with bash and dash, and the corpus really run, mixed too:
# more of both than unit has.
random-test: setup
	COUNTERSIGN_RANDOM_TEXTS=30000 $(GO) test -v -count=1 -timeout 20m -run '^TestRandomTexts$$' ./backend/runner
	COUNTERSIGN_RANDOM_TEXTS=2000 $(GO) test -v -count=1 -timeout 20m -run '^TestRandomOutputs$$' ./backend/runner
	COUNTERSIGN_MIXTURES=4000 $(GO) test -v -count=1 -timeout 20m -run '^TestCorpusReallyRuns$$' ./backend/cmd/countersign

# Real Claude Code and Codex with an invented model. They are large, so only this
# installs them.
agents-test: setup
	@cd build/agentprograms && { [ node_modules/.package-lock.json -nt package-lock.json ] || \
		{ npm ci --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json; }; }
	$(GO) test -count=1 -timeout 15m -v -run '^TestRealAgents' ./backend/cmd/countersign

fuzz-test: FUZZED = ./backend/command ./backend/oneliner ./backend/glob ./backend/pathname ./backend/toolpolicy ./backend/ipc ./backend/link ./backend/config ./backend/agents/...
fuzz-test: FUZZTIME = 10000x
fuzz-test: fuzz

page-test: bindings
	cd frontend && npm run --silent check && npm run --silent test
	cd frontend && npm run --silent gallery -- --logLevel warn && node e2e/gallery.mjs --check

# The production program in a real window, on a display and bus of its own.
desktop-test: build
	@if [ $(SYSTEM) = Linux ]; then \
		xvfb-run -a -s "-screen 0 1280x1024x24" dbus-run-session -- \
			$(GO) test -tags desktoptest -count=1 -timeout 10m -run '^Test(Window[A-Z].*|StatusItem.*|StartedTwice|DeadPageComesBack|NoDisplay|DevelopmentBuildRefuses)$$' ./app; \
	else echo "skipped: the window is driven through AT-SPI, which only Linux has"; fi

# The program as a person starts it, asked as agents do, denied and ended.
smoke: build
	@if [ $(SYSTEM) = Linux ]; then \
		xvfb-run -a -s "-screen 0 1280x1024x24" dbus-run-session -- sh build/smoke.sh $(BIN)/countersign-app build/smoke; \
	else sh build/smoke.sh $(BIN)/Countersign.app build/smoke; fi

# Where files lie as on a Mac: every test, or with LAYOUT=short those that such
# a layout once stopped.
mac-layout-test: setup
	$(GO) run ./build/maclayout -tags $(CLITAGS) $(if $(filter short,$(LAYOUT)),-short)

icons: setup
	node build/icons/icons.mjs

notices: setup
	$(GO) run ./build/notices

screenshots: bindings
	cd frontend && npm run --silent gallery -- --logLevel warn && node e2e/gallery.mjs ../build/gallery

check: setup
	sh build/check.sh
	$(MAKE) demo

# Both say that they are skipped where MACSDK names no SDK.
mac-link: setup
	@MACSDK="$(abspath $(MACSDK))" sh build/mac-link.sh

mac-headers: setup
	MACSDK="$(abspath $(MACSDK))" $(GO) test -count=1 -v -run '^TestHeaders$$' ./build/objc

# MILLION names a folder that keeps a history of a million rows; filling it takes minutes, once.
bench: build
	$(GO) run ./build/bench $(if $(MILLION),-million $(MILLION)) $(BIN)/countersign $(BIN)/countersign-app

fuzz: setup
	@for p in $$($(GO) list $(FUZZED)); do \
		for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$p || exit 1; \
		done; \
	done

clean:
	rm -rf $(BIN) frontend/dist-gallery frontend/wailsjs
	find build/gallery -name '*.png' ! -name 'panel-light@2x.png' ! -name 'agents-dark@2x.png' -delete
	find frontend/dist -mindepth 1 ! -name .gitkeep -delete
