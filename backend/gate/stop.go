package gate

import (
	"context"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/judge"
)

// epoch is the time between two stops. A request belongs to the one in which
// it came, and nothing of it starts after that.
type epoch struct {
	context.Context
	end context.CancelFunc
}

func newEpoch() *epoch {
	ctx, end := context.WithCancel(context.Background())
	return &epoch{ctx, end}
}

// errStoppedAll ends an edit of the policy for a request that came before a
// stop.
type errStoppedAll struct{}

func (errStoppedAll) Error() string { return judge.StoppedAll }

// Stop denies every question and every request that is on its way, for good:
// when it returns, none of them starts anything more, as soon as what runs by
// then has been ended, which is for the caller. It ends the answers that stand.
// by says who did it. It returns how many questions it denied, how many it took
// away that nobody waited for any more, and how many answers it ended.
func (g *Gate) Stop(by string) (questions, left, answers int) {
	// What came before this is ended before anything is denied: what it judges or
	// puts from then on is known to be too late.
	before := g.epoch.Swap(newEpoch())
	questions, left = g.Pending.DenyAll(approval.Answer{
		Decision: approval.DecisionDeny, By: by, Finding: approval.Finding{Reason: approval.ReasonUserDenied, Sentence: judge.StoppedAll},
	}, before.end)
	return questions, left, g.standing.drop(func(*standingAnswer) bool { return true })
}

// stopped reports whether everything was stopped since the request came.
func (f *flight) stopped() bool { return f.epoch.Err() != nil }

func stopDenial() *approval.Denial { return judge.Deny(approval.ReasonUserDenied, judge.StoppedAll) }

// within is ctx until everything is stopped. What is stopped sees it at once.
func (f *flight) within(ctx context.Context) (context.Context, func()) {
	inner, cancel := context.WithCancel(f.epoch)
	unhook := context.AfterFunc(ctx, cancel)
	return inner, func() { unhook(); cancel() }
}
