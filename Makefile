# Countersign. `make help` lists what there is.

GO       ?= go
BIN      := build/bin
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X main.version=$(VERSION)
FUZZTIME ?= 60s

.PHONY: help setup build run demo test check bench fuzz clean

help:
	@echo "make run     set up, build and start the host in this terminal"
	@echo "make test    set up and run every test"
	@echo "make demo    a tour on real programs, without questions to you"
	@echo "make check   formatting, vet, modules, the tour"
	@echo "make bench   speed and size, as ratios measured side by side"
	@echo "make fuzz    longer fuzzing (FUZZTIME=$(FUZZTIME) each)"
	@echo "make build   build/bin/countersign"
	@echo "make setup   install what is missing"
	@echo "make clean   remove what was built"

setup:
	@sh build/setup.sh

build:
	@mkdir -p $(BIN)
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "$(LDFLAGS)" -o $(BIN)/countersign ./backend/cmd/countersign

run: setup build
	$(BIN)/countersign host run

demo: build
	$(GO) run ./build/demo $(BIN)/countersign

# -race needs a C compiler, which setup looks for.
test: setup
	$(GO) test -race -count=1 -timeout 20m ./...

check: setup
	sh build/check.sh
	$(MAKE) demo

bench: build
	$(GO) run ./build/bench $(BIN)/countersign

fuzz:
	@for p in $$($(GO) list ./backend/...); do \
		for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
		done; \
	done

clean:
	rm -rf $(BIN)
