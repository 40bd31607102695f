package gate

import (
	"context"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/judge"
)

// confirm is the only look whether all is still as it was shown when somebody said
// yes: to a question, at a gateway, or to what waits to be run under an id. It waits
// out a pause, judges the request as things are now, and denies it where the policy
// does, where something else would run, or where a person would have to see a reason
// or a content that they did not. since says for how long that may have changed.
func (f *flight) confirm(ctx context.Context, shown judge.Shown, since string) *approval.Denial {
	if f.stopped() {
		return stopDenial()
	}
	if _, d := f.unpaused(ctx); d != nil {
		return d
	}
	f.judge(ctx, f.answer.By == byFallback)
	switch {
	case f.judged.Judgement.Verdict == approval.VerdictDeny, !f.byPerson && f.judged.Judgement.Verdict != approval.VerdictAllow:
		return f.judged.Denied()
	case !f.judged.Like(ctx, shown, f.byPerson):
		return judge.Deny(approval.ReasonDrifted, "what it would run changed "+since+": ask again")
	case f.byPerson && !f.judged.Holds(shown):
		return judge.Deny(approval.ReasonDrifted, "what its files hold changed "+since+": ask again")
	}
	return nil
}
