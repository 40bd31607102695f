package pending_test

import (
	"context"
	"errors"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
)

// While nobody who may answer is in front of the screen no answer is taken, and
// what the policy answers counts.
func TestLock(t *testing.T) {
	b := pending.New()
	defer b.Close()
	done := asked(t, b, context.Background(), question("1", "a"), "1", later())
	other := asked(t, b, context.Background(), question("2", "a"), "2", later())
	b.Lock(true)
	deny := approval.Answer{Decision: approval.DecisionDeny}
	for name, err := range map[string]error{
		"yes":       b.Answer("1", seen(b, "1", 1), allow),
		"no":        b.Answer("1", seen(b, "1", 1), deny),
		"one":       b.AllowOne("1", seen(b, "1", 1), allow),
		"again":     b.Keep("1", seen(b, "1", 1), func(approval.Prompt, string) { t.Error("it was kept") }),
		"in a list": b.AnswerMany([]pending.Reply{{ID: "1", Shown: seen(b, "1", 1), Decision: approval.AllowOnce}}, allow)[0],
	} {
		if !errors.Is(err, pending.ErrLocked) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.Recheck(func(p approval.Prompt) (approval.Answer, bool) { return deny, p.ID == "2" })
	if a := <-other; a.Decision != approval.DecisionDeny {
		t.Errorf("the policy: %+v", a)
	}
	b.Lock(false)
	if err := b.Answer("1", seen(b, "1", 1), allow); err != nil {
		t.Error(err)
	}
	if a := <-done; a.Decision != approval.AllowOnce {
		t.Errorf("%+v", a)
	}
}
