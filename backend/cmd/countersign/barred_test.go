//go:build linux || darwin

package main

import (
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/ipc"
)

// TestFolderHeldBySomebody tightens where no host answers and another program
// holds the lock of the state folder, and loosens nothing there.
func TestFolderHeldBySomebody(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.policy(t, `{"version": 1, "defaults": {"security": "allowlist"}, "agents": {"*": {"allowlist": ["/usr/bin/id"]}}}`)
	lock, err := ipc.Hold(w.state.Lock())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	w.must(t, "approvals", "add", "--deny", "rm")
	w.must(t, "approvals", "remove", "/usr/bin/id")
	w.must(t, "policy", "set", "security", "deny")
	for _, looser := range [][]string{{"policy", "set", "security", "full"}, {"approvals", "add", "/usr/bin/id"}} {
		if out, err := w.command(looser...).CombinedOutput(); err == nil || !strings.Contains(string(out), "another Countersign") {
			t.Errorf("%q: %v: %s", looser, err, out)
		}
	}
	lock.Close()
	if shown := w.must(t, "policy", "show"); !strings.Contains(shown, "security     deny") || !strings.Contains(shown, "entries      0") {
		t.Errorf("what holds: %s", shown)
	}
}
