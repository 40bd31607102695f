//go:build desktoptest && linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/app/apptest"
)

// Of a folder that is no project it is asked once, before the command that waits for
// the answer; a yes and a no are kept.
func TestWindowAsksOfAFolder(t *testing.T) {
	d := newDesk(t, strings.Replace(askMe, `"agents": {}`, `"agents": {"*": {"allowlist": [{"pattern": "touch"}]}}`, 1))
	kept := func(text string) bool {
		policy, err := os.ReadFile(filepath.Join(d.state, "exec-approvals.json"))
		return err == nil && strings.Contains(string(policy), text)
	}
	folder := func(name string) string {
		at := filepath.Join(d.home, name)
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		return at
	}
	yes, none := folder("yes"), folder("none")
	if err := os.WriteFile(filepath.Join(yes, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	done := d.askIn(t.Context(), yes, "touch", "made")
	d.wait(apptest.Button, "Yes, this agent")
	d.shows("a project of yours?")
	d.shows("main works there. Until you answer, nothing there counts as inside.")
	d.shows("1 file")
	d.press("More", func() bool { return strings.Contains(d.tree.Text(), "notes.txt") })
	if kept("projects") {
		t.Error("it counts before its button")
	}
	d.press("Yes, this agent", func() bool { return len(done) == 1 })
	if o := d.outcome(done); o.code != 0 || !kept(yes) {
		t.Errorf("%+v", o)
	}
	if o := d.outcome(d.askIn(t.Context(), yes, "touch", "again")); o.code != 0 {
		t.Errorf("it is asked again: %+v", o)
	}

	done = d.askIn(t.Context(), none, "touch", "made")
	d.wait(apptest.Button, "Yes, every agent")
	d.press("Not a project", func() bool { return kept(none) })
	d.wait(apptest.Button, "Deny") // of the command, which asks now
	d.press("Deny", func() bool { return len(done) == 1 })
	if o := d.outcome(done); o.code != 126 {
		t.Errorf("%+v", o)
	}
}
