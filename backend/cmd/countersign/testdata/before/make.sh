#!/bin/sh
# Has an older countersign write a home: make.sh PROGRAM SOURCES
# PROGRAM is its command line, SOURCES the folder of its repository, which is
# asked for the agent of launchd that no Linux program writes. The home is
# /tmp/cs-before, because hashes in it hold its path; a copy of what is in it,
# without the program, replaces home, untouched and said beside this file.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$1 sources=$2
H=/tmp/cs-before
S=$H/.openclaw
rm -rf $H "$here/home" "$here/untouched" "$here/said"
mkdir -m 700 $H $H/bin $S $H/fake
cp "$program" $H/bin/countersign
mkdir "$here/said"

# What a person has before us: programs, a skill, a charter, settings of agents.
printf '#!/bin/sh\necho tool "$@"\n' >$H/bin/tool
printf '#!/bin/sh\necho talk\n' >$H/bin/talk
cp $H/bin/tool $H/bin/counted
printf '#!/bin/sh\ncase "$*" in *MainPID*) echo 0;; esac\n' >$H/fake/systemctl
chmod 700 $H/bin/* $H/fake/systemctl
mkdir -p $H/work/shop/.git $H/work/plain $H/.claude $H/.codex $H/.gemini $H/.cursor $H/.copilot $S/charters
printf '{\n  // mine\n  "model": "opus",\n  "permissions": {"deny": ["Read(.env)"]},\n}\n' >$H/.claude/settings.json
printf '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "/usr/bin/true"}]}]}}\n' >$H/.codex/hooks.json
printf '{\r\n\t"theme": "Default",\r\n\t"hooks": {}\r\n}\r\n' >$H/.gemini/settings.json
printf '{\n  "version": 1,\n  "hooks": {\n    "stop": [{"command": "/usr/bin/true"}]\n  }\n}\n' >$H/.cursor/hooks.json
printf "{ autoApprove: ['uname'], alwaysReject: ['uname -s'] }\n" >$S/charters/careful.json5
cat >$S/exec-approvals.json <<'P'
{
  "version": 1,
  "remark": "a key that nobody knows is kept",
  "defaults": {"security": "allowlist", "ask": "on-miss", "autoAllowSkills": true, "denylist": ["whoami", {"pattern": "touch", "args": ["--forbidden"], "reason": "it is ours"}]},
  "agents": {
    "*": {"allowlist": ["/usr/bin/id"]},
    "main": {
      "displayName": "Main", "presence": "never",
      "allowlist": [
        {"pattern": "printf", "args": ["first"], "argsExact": true},
        {"pattern": "echo", "argPattern": "[a-z]+"},
        {"pattern": "date", "env": {"TZ": ["UTC"]}},
        {"pattern": "expr", "usesLeft": 1000, "expiresAt": 4102444800000, "note": "a lease far off"},
        {"pattern": "sync", "disabled": true},
        {"pattern": "tool:github/create_issue", "when": {"repo": "me/*"}}
      ],
      "skillBins": [{"name": "talk", "path": "~/bin/talk"}]
    },
    "locked": {"security": "deny"},
    "free": {"security": "full", "ask": "off"}
  },
  "tools": {
    "rules": {"github/create_issue": {"argRestrictions": {"title": {"required": true, "maxLength": 20}}}},
    "agents": {"main": {"rules": {"fetch": {"argRestrictions": {"url": {"pattern": "https://.*"}}}}}}
  }
}
P
chmod 600 $S/exec-approvals.json $S/charters/careful.json5
mkdir "$here/untouched"
for f in .claude/settings.json .codex/hooks.json .gemini/settings.json .cursor/hooks.json; do
	mkdir -p "$here/untouched/$(dirname $f)"
	cp $H/$f "$here/untouched/$f"
done

world() { cd "${IN:-$H}" && exec env -i HOME=$H SHELL=/bin/sh PATH=$H/fake:/usr/local/bin:/usr/bin:/bin TZ=UTC "$@"; }
cs() { (world $H/bin/countersign "$@"); }
# Who asks has a terminal of its own, as the family of who asks may not answer.
asks() { (world script -qec "$H/bin/countersign run --wait=30s $*" /dev/null </dev/null >/dev/null) || true; }
questions() { cs --json approvals pending | sed -n 's/^    "id": "\(.*\)",/\1/p'; }
# answered WORDS… -- COMMAND: the command is asked about, and answered so.
answered() {
	words=
	while [ "$1" != -- ]; do words="$words $1"; shift; done
	shift
	asks "$@" &
	asked=$!
	until [ -n "$(questions)" ]; do sleep 0.1; done
	# shellcheck disable=SC2086
	cs approvals $words "$(questions)" >/dev/null
	wait $asked
}

# The passphrase of a person, typed at a terminal once it is asked for.
(world python3 - <<'P')
import os, pty
pid, term = pty.fork()
if pid == 0:
    os.execv("/tmp/cs-before/bin/countersign", ["countersign", "operator", "passphrase"])
for prompt in b"New passphrase", b"The same again":
    said = b""
    while prompt not in said:
        said += os.read(term, 4096)
    os.write(term, b"correct horse battery staple\n")
try:
    while os.read(term, 4096):
        pass
except OSError: # the terminal is gone with the program
    pass
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P

begin() {
	(world $H/bin/countersign host run --ask=command-line --operate=anyone) >>$H/host.log 2>&1 &
	host=$!
	trap 'kill $host' EXIT
	until cs approvals pending >/dev/null 2>&1; do kill -0 $host; sleep 0.1; done
}
begin

cs policy set ask on-miss --agent '*'
cs policy set askFallback deny
cs approvals add --agent main --cwd "$H/work/**" --args=-s --exact --note 'the kernel' /usr/bin/uname
cs approvals add --agent main --session s1 /usr/bin/nproc
cs approvals add --agent main --for 1s /usr/bin/arch
cs approvals add --deny --agent main --note 'never here' /usr/bin/shred
cs projects add $H/work/plain
cs projects add --no --agent other $H/work/shop
cs policy skills accept talk
cs charters accept --agent careful careful

i=0
while [ $i -lt 8 ]; do
	asks --agent main -- /usr/bin/id -u
	asks --agent main -- "sh -c 'id -u | head -1; echo word'"
	asks --agent main -- whoami
	asks --agent locked -- /usr/bin/id
	i=$((i + 1))
done
asks --agent main -- printf first
asks --agent main -- expr 1 + 1
asks --agent main -- $H/bin/talk
asks --agent free -- "sh -c 'exit 3'"
answered approve -- --agent main -- uname -m
answered approve --always -- --agent main -- $H/bin/tool one
answered approve --always -- --agent main -- tty
answered approve --width exact --for session -- --agent main --session s2 -- $H/bin/counted 7
answered deny --for once -- --agent main -- uname -n
answered deny -- --agent main -- touch /tmp/cs-before-no
asks --agent main -- touch --forbidden
asks --agent careful -- uname -m
asks --agent careful -- uname -s
asks --agent main -- $H/bin/tool two
long=$(head -c 5000 /dev/zero | tr '\0' a) # kept beside its row
asks --agent main -- "sh -c 'echo $long'"
asks --agent main -- "sh -c 'echo $long'"
for title in '"short"' '"much longer than it may be"'; do
	echo '{"version": 1, "agent": "main", "server": "github", "tool": "create_issue", "args": {"repo": "me/app", "title": '"$title"'}, "cwd": "/"}' | cs hook generic >/dev/null
done

for agent in claude-code codex copilot cursor gemini vscode; do cs hook install $agent --yes >/dev/null; done
IN=$H/work/shop cs hook install claude-code --scope project --yes >/dev/null
cs node install --gateway ws://127.0.0.1:1 --display-name '50% mini' --exec-host app >/dev/null
cs gateway install --listen 127.0.0.1:2 >/dev/null
cs node identity >/dev/null
printf '{"version": 1, "defaults": {"denylist": ["shred"]}}\n' >$H/for-nodes.json
cs gateway policy $H/for-nodes.json >/dev/null
sleep 1.5 # the lease of a second is over, and what is written late is written
kill "$host"
wait

# What the older program says of all that, without a host and with one.
say() {
	mkdir -p "$here/said/$1"
	for agent in main locked free careful other; do cs --json policy show --agent $agent >"$here/said/$1/policy-$agent.json"; done
	cs --json approvals list >"$here/said/$1/entries.json"
	cs --json leases list >"$here/said/$1/leases.json"
	cs --json projects list >"$here/said/$1/projects.json"
	cs --json charters list >"$here/said/$1/charters.json"
	cs --json policy skills list >"$here/said/$1/skills.json"
}
say without
cs --json node identity >"$here/said/identity.json"
cs --json gateway policy >"$here/said/signed.json"
cs --json history list --limit 1000 >"$here/said/history.json"
cs history export >"$here/said/history.jsonl"
cs --json history verify >"$here/said/verify.json"
cs --json hook status >"$here/said/hooks.json"
IN=$H/work/shop cs --json hook status --scope project >"$here/said/hooks-project.json"
begin
say with
kill "$host"
wait
trap - EXIT

# The agent of launchd, from a test that is laid into the older sources.
cat >$H/print_test.go <<'G'
package service

import (
	"os"
	"testing"
)

func TestPrint(t *testing.T) {
	u := Unit{Name: "node", About: "Countersign node service", Program: "/tmp/cs-before/bin/countersign", Args: []string{
		"--json", "--state-dir", "/tmp/cs-before/.openclaw", "node", "run", "--gateway", "ws://127.0.0.1:1", "--exec-host", "app", "--display-name", "50% mini"}}
	if err := os.WriteFile("/tmp/cs-before/Library/LaunchAgents/app.countersign.node.plist", launchdAgent(u, "/tmp/cs-before/Library/Logs/Countersign"), 0o600); err != nil {
		t.Fatal(err)
	}
}
G
mkdir -p $H/Library/LaunchAgents
printf '{"Replace": {"%s/backend/service/print_test.go": "%s/print_test.go"}}' "$sources" $H >$H/overlay.json
(cd "$sources" && go test -overlay $H/overlay.json -count=1 -run '^TestPrint$' ./backend/service)

rm -rf $H/bin/countersign $H/fake $H/print_test.go $H/overlay.json $H/host.log $H/work/shop/.git $S/*.sock $S/*.lock
cp -R $H "$here/home"
rm -rf $H
