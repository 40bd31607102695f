//go:build linux || darwin

package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/store"
)

// decides answers the one question of a request, and waits for its end.
func (b *bench) decides(d approval.Decision, command ...string) answer {
	b.t.Helper()
	away := b.askers.look()
	defer away()
	done := make(chan answer, 1)
	go func() {
		done <- b.ask(context.Background(), approval.Request{Command: command, Cwd: b.path("work"), AgentID: "main"})
	}()
	eventually(b.t, "it asks", func() bool {
		for _, p := range b.Waiting() {
			if err := b.Answer(p.ID, pending.Shown{Digest: p.Digest(), Count: p.Count}, approval.Answer{Decision: d, By: "panel"}); err == nil {
				return true
			}
		}
		return len(done) > 0
	})
	return <-done
}

// The last five are told with what was decided, and an answer for always is
// taken back, exactly what it wrote.
func TestRecentAndUndo(t *testing.T) {
	b := newBench(t, "/bin/echo", "one")
	b.script("one", "true")
	b.script("two", "true")
	_, err := b.Update(func(d *store.Document) error {
		d.Defaults.Ask = approval.AskOnMiss
		d.Deny("", approval.DenyRule{Pattern: "wget"})
		return nil
	})
	must(t, err)
	say := func() (lines []string) {
		list, err := b.Recent(t.Context())
		must(t, err)
		for _, r := range list {
			lines = append(lines, fmt.Sprint(r.Command, " ", r.Outcome, " ", r.CanUndo))
		}
		return lines
	}
	if got := say(); len(got) != 0 {
		t.Errorf("%q", got)
	}
	b.decides(approval.DecisionDeny, "touch", "first")
	b.decides("", "wget", "x")
	b.decides("", "echo", "passes")
	b.decides(approval.DecisionDeny, "touch", "no")
	b.decides(approval.AllowOnce, "touch", "once")
	b.decides(approval.AllowAlways, b.path("bin/two"))
	want := []string{b.path("bin/two") + " allowed-always true", "touch once allowed-once false", "touch no denied-by-you false", "echo passes passed false", "wget x denied-by-rule false"}
	if got := say(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", got)
	}
	list, err := b.Recent(t.Context())
	must(t, err)
	entries := func() int {
		p := b.store.Snapshot().Policy("main")
		return len(p.Allowlist)
	}
	before := entries()
	for _, id := range []string{"", "x", list[1].ID} {
		if err := b.Undo(id); !errors.Is(err, errNothingToUndo) {
			t.Errorf("%q: %v", id, err)
		}
	}
	must(t, b.Undo(list[0].ID))
	if err := b.Undo(list[0].ID); !errors.Is(err, errNothingToUndo) {
		t.Errorf("twice: %v", err)
	}
	if got := say(); entries() != before-1 || got[0] != b.path("bin/two")+" allowed-always false" {
		t.Errorf("%d entries of %d, %q", entries(), before, got)
	}
	if got := b.decides(approval.DecisionDeny, b.path("bin/two")); got.refused == nil {
		t.Errorf("it still passes: %v", got)
	}
	if got := b.decides("", b.path("bin/one")); !got.Success {
		t.Errorf("more than that was taken back: %v", got)
	}
}

// What was decided is told by who decided it.
func TestOutcome(t *testing.T) {
	ask, allow, deny := approval.VerdictAsk, approval.VerdictAllow, approval.VerdictDeny
	for _, test := range []struct {
		row  history.Row
		want Outcome
	}{
		{history.Row{Verdict: allow}, Passed},
		{history.Row{Verdict: ask, Decision: approval.AllowOnce, AnsweredBy: "panel"}, AllowedOnce},
		{history.Row{Verdict: ask, Decision: approval.AllowOnce, AnsweredBy: "panel (earlier)"}, AllowedOnce},
		{history.Row{Verdict: ask, Decision: approval.AllowAlways, AnsweredBy: "terminal"}, AllowedAlways},
		{history.Row{Verdict: ask, Decision: approval.AllowOnce, AnsweredBy: "policy"}, Passed}, // a new entry covers it
		{history.Row{Verdict: allow, AnsweredBy: "askFallback"}, Passed},
		{history.Row{Verdict: deny, Reason: approval.ReasonUserDenied, Decision: approval.DecisionDeny}, DeniedByYou},
		{history.Row{Verdict: deny, Reason: approval.ReasonDenylisted}, DeniedByRule},
		{history.Row{Verdict: deny, Reason: approval.ReasonAskFallback}, DeniedByRule},
		{history.Row{Verdict: deny, Reason: approval.ReasonPromptExpired}, TimeRanOut},
		{history.Row{Verdict: deny, Reason: approval.ReasonApprovalCancelled, AnsweredBy: "nobody"}, CallerHungUp},
		{history.Row{Verdict: deny, Reason: approval.ReasonApprovalCancelled}, Denied},
		{history.Row{Verdict: deny, Reason: approval.ReasonDrifted, Decision: approval.AllowOnce}, Denied},
	} {
		if got := outcome(test.row); got != test.want {
			t.Errorf("%+v: %s, want %s", test.row, got, test.want)
		}
	}
}
