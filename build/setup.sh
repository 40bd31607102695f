#!/bin/sh
# Looks for what building and testing need, installs what is missing where it
# can, and else prints the one command to type.
set -eu

need=
have() { command -v "$1" >/dev/null 2>&1; }

# Every Mac has programs named cc and git, which only ask for these tools.
if [ "$(uname -s)" = Darwin ] && ! xcode-select -p >/dev/null 2>&1; then
	echo "Apple's command line tools are missing. Type: xcode-select --install" >&2
	exit 1
fi

if ! have go; then
	echo "Go is missing: install Go 1.26 or newer from your package manager, then try again." >&2
	exit 1
fi
# With its own tool chain switched off, an older Go says here that it is too old.
if ! GOTOOLCHAIN=local go list ./backend/paths >/dev/null 2>&1; then
	echo "$(go version) is too old or cannot read this module: install Go 1.26 or newer, then try again." >&2
	exit 1
fi

# Node 20.19 is what Vite needs.
if ! have node || ! node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || a === 20 && b >= 19 ? 0 : 1)'; then
	case "$(uname -s)" in
	Darwin) hint="brew install node" ;;
	*) hint="nvm install 20, or on a Debian that has it: sudo apt-get install nodejs npm" ;;
	esac
	echo "Node.js 20.19 or newer is missing. Type: $hint" >&2
	exit 1
fi
if ! have npm; then
	echo "npm is missing: it comes with Node.js, or on Debian as a package of its own: sudo apt-get install npm" >&2
	exit 1
fi

# The race detector needs a C compiler; the tests of the plan runner compare
# with bash and dash, those of links use busybox.
have cc || have gcc || have clang || need="$need gcc libc6-dev"
have git || need="$need git"
have bash || need="$need bash"
if [ "$(uname -s)" = Linux ]; then
	have dash || need="$need dash"
	have ps || need="$need procps"
	have busybox || need="$need busybox"
	have tmux || need="$need tmux"
	have bwrap || need="$need bubblewrap"
	# Objective-C files are read by clang, and the bundle by file.
	have clang || need="$need clang"
	have file || need="$need file"
	# The window, and what it is tested with.
	have pkg-config || need="$need pkg-config"
	pkg-config --exists gtk+-3.0 2>/dev/null || need="$need libgtk-3-dev"
	pkg-config --exists webkit2gtk-4.1 2>/dev/null || need="$need libwebkit2gtk-4.1-dev"
	have Xvfb || need="$need xvfb"
	have xauth || need="$need xauth"
	have dbus-run-session || need="$need dbus"
	[ -e /usr/share/dbus-1/services/org.a11y.Bus.service ] || need="$need at-spi2-core"
	have chromium || have chromium-browser || have google-chrome || need="$need chromium"
fi
if [ "$(uname -s)" = Darwin ] && [ -z "${CHROMIUM:-}" ] && ! [ -e "/Applications/Google Chrome.app" ]; then
	echo "The tests of the page need Chrome: brew install --cask google-chrome, or name another Chromium in CHROMIUM." >&2
fi
packages() {
	# What is installed is what the lock file says, or it is installed anew: of
	# the page, and of the MCP servers that tests stand the proxy before.
	for folder in frontend build/mcpservers; do
		[ $folder/node_modules/.package-lock.json -nt $folder/package-lock.json ] ||
			(cd $folder && npm ci --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json) || return 1
	done
}
if [ -z "$need" ]; then
	packages
	exit 0
fi

if [ "$(uname -s)" = Darwin ]; then
	echo "Missing:$need, which Apple's command line tools hold: look at them with xcode-select -p" >&2
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
packages
