//go:build linux || darwin

package gate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/store"
)

// TestEscalation goes from approver to approver, and at the end to askFallback.
func TestEscalation(t *testing.T) {
	t.Parallel()
	const list = `[{"who":"person","seconds":3600},{"who":"gateway","url":"wss://home:1","seconds":60},{"who":"gateway","url":"wss://far:2","seconds":60}]`
	for _, c := range []struct {
		name, charter string
		accepts       []string
		gateway       string
		decision      approval.Decision
		want          string // of MayAnswer, "" for nil
		outcome       string
	}{
		{"not its turn", `{}`, []string{"home:1"}, "home:1", "deny", "this gateway is not asked now", "deny user-denied"},
		{"escalated at once", `{escalate: ["file_write"]}`, []string{"home:1"}, "home:1", "allow-once", "", "allow"},
		{"the one after the next", `{escalate: ["file_write"]}`, []string{"far:2"}, "far:2", "allow-once", "this gateway is not asked now", "deny user-denied"},
		{"a stranger", `{escalate: ["file_write"]}`, []string{"other:3"}, "other:3", "deny", "this gateway is not asked now", "deny user-denied"},
		{"a yes that was not switched on", `{escalate: ["file_write"]}`, nil, "home:1", "allow-once", "its answers are not accepted here: a person adds it to acceptAnswersFrom", "deny user-denied"},
		{"a no needs no switch", `{escalate: ["file_write"]}`, nil, "home:1", "deny", "", "deny user-denied"},
		{"never for always", `{escalate: ["file_write"]}`, []string{"home:1"}, "home:1", "allow-always", "a gateway may allow once or deny", "deny user-denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.charter(c.charter, true)
			b.edit(func(d *store.Document) error {
				d.Extra["approvers"] = []byte(list)
				d.Agent("main").AcceptAnswersFrom = c.accepts
				return nil
			})
			over := make(chan string, 1)
			go func() {
				call := b.call("file_write", "path", "x", "content", "y")
				over <- b.evaluate(call)
			}()
			p := b.waitsFor()
			err := b.MayAnswer(p, c.gateway, c.decision)
			if got := errorText(err); got != c.want {
				t.Fatalf("%q, want %q", got, c.want)
			}
			decision := approval.DecisionDeny
			if err == nil {
				decision = c.decision
			}
			b.pending.Lock(true) // who is in front of this screen does not matter for it
			if err := b.pending.Answer(p.ID, pending.Shown{Digest: p.Digest(), Count: 1}, approval.Answer{Decision: decision, By: "gateway", Remote: true}); err != nil {
				t.Fatal(err)
			}
			if got := <-over; got != c.outcome {
				t.Errorf("%s, want %s", got, c.outcome)
			}
		})
	}
}

// TestEscalationEnds: the end of the list is askFallback, and never more. What that
// let through waits for nobody any more; a denial is shown for a while.
func TestEscalationEnds(t *testing.T) {
	t.Parallel()
	for fallback, want := range map[approval.Security]string{"": "deny prompt-expired", "deny": "deny prompt-expired", "full": "allow"} {
		b := newBench(t)
		b.edit(func(d *store.Document) error {
			d.Extra = store.Extra{"approvers": []byte(`[{"who":"person","seconds":1}]`)}
			d.Defaults.AskFallback = fallback
			return nil
		})
		call := b.call("file_write", "path", "x", "content", "y")
		call.Deadline = time.Now().Add(time.Hour).UnixMilli()
		if got := b.evaluate(call); got != want {
			t.Errorf("askFallback %q: %s, want %s", fallback, got, want)
		}
		left := b.pending.List()
		if want == "allow" && len(left) > 0 || want != "allow" && (len(left) != 1 || !left[0].CallerGone) {
			t.Errorf("askFallback %q leaves %+v", fallback, left)
		}
		if told := string(b.Metrics()); !strings.Contains(told, "\ncountersign_waiting 0\n") {
			t.Errorf("askFallback %q:\n%s", fallback, told)
		}
	}
}

// waitsFor returns the question that waits.
func (b *bench) waitsFor() approval.Prompt {
	var cursor uint64
	for {
		var list []approval.Prompt
		if cursor, list = b.pending.Watch(b.t.Context(), cursor); len(list) > 0 || b.t.Context().Err() != nil {
			return list[0]
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
