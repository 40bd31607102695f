package gate_test

import (
	"context"
	"os"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
)

// busy is a disk on which something happens at the first look.
type busy struct {
	command.World
	first func()
}

func (d *busy) Look(name string) (approval.File, error) {
	if do := d.first; do != nil {
		d.first = nil
		do()
	}
	return d.World.Look(name)
}

// Nothing runs, under no security, of which the caller leaves before it is
// understood, or which is stopped then; and the next one is none the worse.
func TestNobodyWaitsForTheAnalysis(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{{"tool"}, {"bash", "-c", "tool; tool"}} {
		b := newBench(t, approval.Entry{Pattern: "*"})
		b.script("tool", "touch "+b.path("mark"))
		machine, err := b.Machine(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		disk := &busy{World: machine.Analyzer.World}
		machine.Analyzer.World = disk
		leaves := func() context.Context {
			ctx, leave := context.WithCancel(t.Context())
			disk.first = leave
			return ctx
		}
		if got := outcome(b.Run(leaves(), b.request(words...))); got != "denied approval-cancelled" {
			t.Errorf("%q, and the caller leaves: %s", words, got)
		}
		if d, answered := b.Decide(leaves(), b.request(words...), nil); d != approval.DecisionDeny {
			t.Errorf("%q, and the caller leaves: %s %v", words, d, answered)
		}
		if _, j, err := b.Explain(leaves(), b.request(words...)); err == nil && j.Verdict != approval.VerdictDeny {
			t.Errorf("%q, and the caller leaves: %s", words, j.Verdict)
		}
		if _, err := b.Prepare(leaves(), b.request(words...)); err == nil {
			t.Errorf("%q was prepared, and the caller leaves", words)
		}
		disk.first = func() { b.Stop("test") }
		if got := outcome(b.Run(t.Context(), b.request(words...))); got != "denied user-denied" {
			t.Errorf("%q, and everything is stopped: %s", words, got)
		}
		if _, err := os.Stat(b.path("mark")); err == nil {
			t.Errorf("%q ran", words)
		}
		if got := outcome(b.Run(t.Context(), b.request(words...))); got != `code 0 ""` {
			t.Errorf("%q, and everybody waits: %s", words, got)
		}
	}
}
