//go:build linux || darwin

package command_test

import (
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// TestCleared: an entry with exactly these words can cover find -delete below folders
// of the project that rm -r may delete, and no other.
func TestCleared(t *testing.T) {
	for text, want := range map[string]bool{
		"find plain -delete": true, "find plain -name '*.bk' -delete": true, "find ./plain -type f -name '*.bk' -o -name x -delete": true, "find plain build -name x -delete": true, "find -P plain -delete": true, "cd plain && find ../build -name x -delete": true,
		"find node_modules -name '*.map' -delete": true, "find plain/* -delete": true, "find plain '(' -name x -o -name y ')' -delete": true, "find plain ! -name x -delete": true, "find /home/ann/p/plain -delete": true, "find plain -name x -print -delete": true, "find dist -mindepth 1 -delete": true,
		// All of the project, or outside of it.
		"find -delete": false, "find . -delete": false, "find . -name '*.bk' -delete": false, "find ./ -delete": false, "find -name '*.bk' -delete": false, "find .. -delete": false, "find plain . -delete": false, "find /home/ann/p -delete": false, "find /home/ann -delete": false, "find / -name x -delete": false, "find /tmp/x -delete": false,
		"cd plain && find . -delete": true, "cd plain && find . ../build -delete": true, "cd plain && find .. -delete": false, "find plain/.. -delete": false, "find plain/../../q -delete": false, "find * -delete": false, "find -name plain -delete": false, "find '!' -delete": false,
		// What starts programs, or is git's or secret.
		"find nested -name '*.json' -delete": false, "find packages -delete": false, "find packages/a -delete": false, "find checkout -name x -delete": false, "find .git -name '*.lock' -delete": false, "find .git/hooks -delete": false, "find .claude -delete": false, "find .env -delete": false, "find plain .env -delete": false, "find /home/ann/.ssh -delete": false, "find plain nested -delete": false,
		// Through links.
		"find -L plain -delete": false, "find -H plain -delete": false, "find plain -follow -delete": false, "find outward -delete": false, "find outward/x -delete": false,
		// Not known, or more than that.
		"find $x -delete": false, "find plain $x -delete": false, "find plain -name \"$x\" -delete": true, "find $(ls) -delete": false, "find plain -delete -exec sh {} +": false, "find plain -delete -fprint out": false, "find plain -delete -delete": false, "find -files0-from plain -delete": false, "find -f plain -delete": false, "find plain -delete | xargs rm": false,
	} {
		a := unpacking(t)
		world := a.World.(*approvaltest.World)
		for _, name := range strings.Fields("plain/a.bk plain/b.go build/x node_modules/p/x.map dist/x.js nested/.claude/settings.json packages/a/.vscode/tasks.json packages/b/c.go checkout/.git/config checkout/a.go .claude/settings.json .env main.go .git/config .git/HEAD") {
			world.Files["/home/ann/p/"+name] = approvaltest.File{Mode: 0o644, UID: 500, Text: "x"}
		}
		world.Files["/usr/bin/find"] = approvaltest.File{Mode: 0o755}
		world.Files["/home/ann/q/x"] = approvaltest.File{Mode: 0o644, UID: 500}
		world.Links["/home/ann/p/outward"] = "/home/ann/q"
		plan := a.Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p"))
		if got := covers(plan) == string(approval.AllowRemovals); got != want {
			t.Errorf("%s: %s (%s)", text, covers(plan), show(plan))
		}
		for _, s := range plan.Segments {
			wide, exact := approval.Entry{Allows: approval.AllAllowed}, approval.Entry{ArgsExact: true, Allows: approval.AllAllowed}
			if _, passes := wide.Covers(s.Findings); passes && strings.Contains(strings.Join(s.Argv, " "), "-delete") {
				t.Errorf("%s passes with any words", text)
			}
			if _, passes := exact.Covers(s.Findings); want && !passes {
				t.Errorf("%s asks with just these words", text)
			}
		}
	}
}
