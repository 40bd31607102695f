//go:build linux || darwin

package main

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/countersign-app/countersign/backend/pending"
)

// TestHundredHooksAtOneHost has a hundred hooks of one agent ask the real host at
// once, what passes, the same, and each something else.
func TestHundredHooksAtOneHost(t *testing.T) {
	const n = 100
	w := mcpWorld(t)
	var mu sync.Mutex
	var kinds map[string]int
	begin := func(command func(i int) string) (wait func()) {
		mu.Lock()
		kinds = map[string]int{}
		mu.Unlock()
		var hooks sync.WaitGroup
		for i := range n {
			hooks.Go(func() {
				cmd := w.command("hook", "claude-code")
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as an agent's would be
				got := finish(t, cmd, claudeAsks("PermissionRequest", command(i)))
				kind := "something else: " + fmt.Sprintf("%+v", got)
				switch {
				case got.code != 0 || got.stderr != "":
				case got.stdout == "":
					kind = "silent"
				case strings.Contains(got.stdout, `"behavior":"allow"`) && strings.Contains(got.stdout, "run --approved "):
					kind = "allow"
				case strings.Contains(got.stdout, `"behavior":"deny"`):
					kind = "deny"
				}
				mu.Lock()
				defer mu.Unlock()
				kinds[kind]++
			})
		}
		return hooks.Wait
	}
	count := func(kind string) int {
		mu.Lock()
		defer mu.Unlock()
		return kinds[kind]
	}
	ended := func(what string, want map[string]int) {
		t.Helper()
		if fmt.Sprint(kinds) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", what, kinds, want)
		}
	}

	begin(func(int) string { return "printf x" })()
	ended("what passes", map[string]int{"allow": n})

	wait := begin(func(int) string { return "touch one" })
	if !eventually(func() bool { return w.mustQuestions(t, 1)[0].Count == n }) {
		t.Fatalf("%d share a question", w.mustQuestions(t, 1)[0].Count)
	}
	w.must(t, "approvals", "deny", w.mustQuestions(t, 1)[0].ID)
	wait()
	ended("the same", map[string]int{"deny": n})

	wait = begin(func(i int) string { return fmt.Sprint("touch ", i) })
	if !eventually(func() bool { return count("silent") == n-pending.PerAgent }) {
		t.Fatalf("%v", kinds)
	}
	for _, q := range w.mustQuestions(t, pending.PerAgent) {
		w.must(t, "approvals", "deny", q.ID)
	}
	wait()
	ended("each something else", map[string]int{"deny": pending.PerAgent, "silent": n - pending.PerAgent})
}
