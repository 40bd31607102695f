#!/bin/sh
# Starts what was built: the app, and where there is no display to ask on, the
# host that asks in this terminal. usage: run.sh FOLDER
set -eu
headless() {
	echo "There is no display, so the host without a window starts: $1/countersign host run" >&2
	exec "$1/countersign" host run
}
if [ "$(uname -s)" = Darwin ]; then
	# Who came by ssh has no part in the session on the screen, which is called Aqua.
	[ "$(launchctl managername)" = Aqua ] || headless "$1"
	exec open "$1/Countersign.app"
fi
[ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || headless "$1"
exec "$1/countersign-app"
