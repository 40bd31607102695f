#!/bin/sh
# Looks for what building and testing need, installs what is missing where it
# can, and else prints the one command to type.
set -eu

need=
have() { command -v "$1" >/dev/null 2>&1; }

if ! have go; then
	echo "Go is missing: install Go 1.26 or newer from your package manager, then try again." >&2
	exit 1
fi
# With its own tool chain switched off, an older Go says here that it is too old.
if ! GOTOOLCHAIN=local go list ./backend/paths >/dev/null 2>&1; then
	echo "$(go version) is too old or cannot read this module: install Go 1.26 or newer, then try again." >&2
	exit 1
fi

# The race detector needs a C compiler; the tests of the plan runner compare
# with bash and dash.
have cc || have gcc || have clang || need="$need gcc libc6-dev"
have git || need="$need git"
have bash || need="$need bash"
if [ "$(uname -s)" = Linux ]; then
	have dash || need="$need dash"
	have ps || need="$need procps"
fi
[ -n "$need" ] || exit 0

if [ "$(uname -s)" = Darwin ]; then
	echo "Missing:$need. Type: xcode-select --install" >&2
	exit 1
fi
install="apt-get update && apt-get install -y --no-install-recommends$need"
if ! have apt-get; then
	echo "Missing:$need. Install them with your package manager, then try again." >&2
	exit 1
fi
if [ "$(id -u)" = 0 ]; then
	sh -c "$install"
elif have sudo && sudo -n true 2>/dev/null; then
	sudo sh -c "$install"
else
	echo "Missing:$need. Type: sudo sh -c '$install'" >&2
	exit 1
fi
