#!/bin/sh
# Starts the app as a person would, asks it as an agent would, answers, and ends
# it: nothing may run that was denied, nothing may crash, nothing may be left.
# usage: smoke.sh APP FOLDER, where APP is a bundle, or on Linux the program,
# and FOLDER gets what it printed and a picture of the screen.
set -eu
app=$1
mkdir -p "$2"
to=$(cd "$2" && pwd)
state=$(mktemp -d /tmp/cs.XXXXXX)
mac=$([ "$(uname -s)" = Darwin ] && echo yes || echo)
if [ "$mac" ]; then
	cli=$app/Contents/Helpers/countersign
else
	cli=$(dirname "$app")/countersign
fi
: >"$to/started" # crashes after this are ours

# countersign speaks to this app alone.
countersign() { "$cli" --state-dir "$state" "$@"; }

# agent runs it in a terminal of its own, so that this script is not taken for a
# part of who asks, and may answer.
agent() {
	if [ "$mac" ]; then
		script -q /dev/null "$cli" --state-dir "$state" "$@"
	else
		script -qec "$(quoted "$cli" --state-dir "$state" "$@")" /dev/null
	fi
}

quoted() { for word; do printf "'%s' " "$(printf %s "$word" | sed "s/'/'\\\\''/g")"; done; }

waits() { countersign --json approvals pending | grep -q '"id"'; }

gone() { ! pgrep -f -- "--state-dir $state\$"; }

die() {
	echo "smoke: $*" >&2
	picture failed
	pkill -KILL -f -- "--state-dir $state\$" || true
	exit 1
}

# until_so runs a command until it succeeds, for half a minute.
until_so() {
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || return 1
		sleep 0.1
	done
}

picture() {
	if [ "$mac" ]; then
		screencapture -x "$to/$1.png" || echo "smoke: no picture of the screen" >&2
	elif command -v import >/dev/null; then
		import -window root "$to/$1.png" || echo "smoke: no picture of the screen" >&2
	fi
}

echo=$(command -v echo | grep / || echo /bin/echo)
cat >"$state/exec-approvals.json" <<END
{"version":1,"defaults":{"security":"allowlist","ask":"on-miss"},"agents":{"main":{"allowlist":[{"pattern":"$echo"}]}}}
END
chmod 600 "$state/exec-approvals.json"

if [ "$mac" ]; then
	open -n "$app" --args --state-dir "$state"
else
	"$app" --state-dir "$state" >"$to/app.log" 2>&1 &
fi
until_so test -S "$state/exec-approvals.sock" || die "the app does not listen"
countersign doctor >"$to/doctor.txt" 2>&1 || true # it may have something to say
echo "the app runs"

[ "$(agent run --agent main -- "$echo" hello | tr -d '\r')" = hello ] || die "what the policy allows does not run"
echo "what is allowed ran"

agent run --agent main --wait 60s -- touch "$state.proof" >"$to/denied.txt" 2>&1 &
asker=$!
until_so waits || die "no question waits"
sleep 8 # the panel comes, also on a slow machine
picture question
id=$(countersign --json approvals pending | tr ',{' '\n\n' | sed -n 's/^ *"id": *"\([^"]*\)".*/\1/p' | head -n 1)
countersign approvals deny --for once "$id" || die "the question cannot be denied"
code=0
wait $asker || code=$?
[ $code = 126 ] || die "who was denied ends with $code, not 126"
[ ! -e "$state.proof" ] || die "what was denied ran"
echo "what was denied did not run"

# A question waits while the app is told to end: it ends all the same.
agent run --agent main --wait 60s -- touch "$state.proof" >"$to/quit.txt" 2>&1 &
asker=$!
until_so waits || die "no question waits"
# As a log-out does. Without the right to send the event, as kill does.
if ! { [ "$mac" ] && perl -e 'alarm 20; exec @ARGV' osascript -e 'tell application id "app.countersign.Countersign" to quit'; }; then
	pkill -TERM -f -- "--state-dir $state\$"
fi
ending=$(date +%s)
if ! until_so gone; then
	pkill -TERM -f -- "--state-dir $state\$" || true
	die "the app does not end when its session does"
fi
echo "the app ended within $(($(date +%s) - ending + 1)) s"
wait $asker && die "what nobody answered was allowed"
[ ! -e "$state.proof" ] || die "what nobody answered ran"

if [ "$mac" ]; then
	crashes=$(find "$HOME/Library/Logs/DiagnosticReports" -iname '*countersign*' -newer "$to/started" 2>/dev/null || true)
	if [ "$crashes" ]; then
		echo "$crashes" | while read -r f; do cp "$f" "$to"; done
		die "it crashed: $crashes"
	fi
	cp "$HOME/Library/Logs/Countersign/Countersign.log" "$to" 2>/dev/null || true
fi
rm -rf "$state"
echo "smoke: all is well"
