//go:build linux || darwin

package main

import (
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/gate"
)

// TestADenialStands: where no window is, a no is told once. The same is denied
// without a question, from whatever process and session of its agent, until its time
// is over or a person forgets it.
func TestADenialStands(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.policy(t, `{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss"}}`)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	ask := func(words ...string) (end func() string) {
		cmd := w.asks(words...)
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return func() string {
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitDenied {
				t.Errorf("%q: %v", words, err)
			}
			return said.String()
		}
	}
	over := ask("--", "touch", "made")
	told := w.must(t, "approvals", "deny", "--note", "use make", w.mustQuestions(t, 1)[0].ID)
	if said := over(); !strings.Contains(told, "The same is denied until ") || !strings.Contains(said, "It is about: touch made.") {
		t.Errorf("%q %q", told, said)
	}
	for _, words := range [][]string{{"--", "touch", "made"}, {"--session", "s", "--", "bash", "-c", "touch made"}} {
		if said := ask(words...)(); !strings.Contains(said, "They say: use make.") || !strings.Contains(said, "the same is denied until ") {
			t.Errorf("%q: %s", words, said)
		}
	}
	var list []gate.Standing
	if w.json(t, &list, "approvals", "standing"); len(list) != 1 {
		t.Fatalf("%+v", list)
	}
	w.must(t, "approvals", "forget", list[0].ID)
	over = ask("--", "touch", "made")
	w.must(t, "approvals", "deny", "--for", "once", w.mustQuestions(t, 1)[0].ID)
	over()
	if w.json(t, &list, "approvals", "standing"); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}
