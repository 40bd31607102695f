//go:build linux || darwin

package gate_test

import (
	"context"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestAlone: without a host policy's no is a no, protected state as well, and where
// nobody would be asked also what no entry lets pass. Nothing is used up.
func TestAlone(t *testing.T) {
	t.Parallel()
	three := 3
	b := newBench(t, approval.Entry{ID: "n", Pattern: "counted", UsesLeft: &three}, approval.Entry{Pattern: "free"}, approval.Entry{Pattern: "over", ExpiresAt: 1})
	for _, name := range []string{"counted", "free", "over", "other"} {
		b.script(name, "echo "+name)
	}
	b.ourselves()
	b.onlyProject("work/app")
	list := b.store.Snapshot().Policy("main")
	broken := list
	broken.Broken = "it is"
	full := list
	full.Security = approval.SecurityFull
	for _, c := range []struct {
		policy       approval.Policy
		text         string
		asks, unasks string
	}{
		{list, "free", "allow", "allow"},
		{list, "free && other", "ask", "deny allowlist-miss"},
		{list, "counted", "allow", "deny lease-ended"},
		{list, "over", "ask", "deny lease-ended"},
		{list, "cat .env", "deny protected-state", "deny protected-state"},
		{list, "{ cat; } < ~/.ssh/id_rsa", "deny protected-state", "deny protected-state"},
		{list, "countersign stop", "deny floor", "deny floor"},
		{list, "copy stop", "deny floor", "deny floor"},
		{list, "countersign run --approved x", "deny replay", "deny replay"},
		{broken, "free", "deny policy-broken", "deny policy-broken"},
		{full, "other", "allow", "allow"},
		{full, "rm -rf /", "deny floor", "deny floor"},
	} {
		for unasked, want := range map[bool]string{false: c.asks, true: c.unasks} {
			o, err := b.Alone(context.Background(), c.policy, b.call("bash_execute", "command", c.text), unasked)
			if err != nil {
				t.Fatal(err)
			}
			if got := said(o); got != want || o.Verdict == approval.VerdictDeny && (o.Unanswered() || o.Receipt.Message == "") {
				t.Errorf("%s, nobody asked: %t: %s, want %s", c.text, unasked, got, want)
			}
		}
	}
	if left := b.store.Snapshot().Policy("main").Allowlist[0].UsesLeft; left == nil || *left != 3 {
		t.Errorf("uses left: %v", left)
	}
}
