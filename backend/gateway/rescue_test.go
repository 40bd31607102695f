package gateway

import (
	"context"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// TestPanicsOfRuns: a command whose start panics ends as one that failed, and the next
// one is begun.
func TestPanicsOfRuns(t *testing.T) {
	w := newWorld(t, "{}")
	begin := func(start func(context.Context) (outcome, error)) *run {
		u := &run{ID: t.Name(), Host: approval.HostNode}
		must(t, w.g.runs.begin(t.Context(), u, w.g, start))
		<-u.done
		return u
	}
	before := rescue.Caught()
	u := begin(func(context.Context) (outcome, error) { panic("secret") })
	if told := refusal(u.err); told == nil || !strings.Contains(string(told.Details), string(approval.ReasonInternal)) || strings.Contains(told.Error(), "secret") {
		t.Errorf("it ended with %v", u.err)
	}
	if n := rescue.Caught() - before; n != 1 {
		t.Errorf("%d were counted", n)
	}
	if u := begin(func(context.Context) (outcome, error) { return outcome{}, nil }); u.err != nil {
		t.Errorf("then %v", u.err)
	}
	if n := w.g.runs.open(); n != 0 {
		t.Errorf("%d go on", n)
	}
}
