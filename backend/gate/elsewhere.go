package gate

import (
	"context"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/policy"
)

// answeredElsewhere reports whether the yes counts that was given at a gateway:
// where a person switched that on for it, for a run that is just what was
// prepared, under the policy of then. What is asked about always, and what only
// a person here may let through, it does not answer.
func (f *flight) answeredElsewhere() bool {
	c, p := f.req.Claim, f.req.Prepared
	switch {
	case c.Decision != approval.AllowOnce || c.Source != "" || c.Gateway == "":
		return false
	case p == nil || p.Policy == nil || f.drifted() != nil || p.Programs == "" || p.EnvHash != f.req.EnvHash():
		return false
	case f.judgement.Ask == approval.AskAlways || policy.HoldsProtected(f.judgement):
		return false
	case f.Store.Current().Policy(f.req.AgentID).Presence.For(f.judgement.Risk.Level):
		return false // nobody there shows that it is them
	}
	return f.Store.Current().AcceptsGateway(f.req.AgentID, c.Gateway)
}

// ByGateway is who answered at a gateway, for the record. What a gateway tells of
// its operator can be of any length and hold anything.
func ByGateway(gateway, operator string) string {
	return approval.ByGateway(gateway, shorten(display.Line(operator)))
}

// takeElsewhere runs what was answered at a gateway, as if the person here had
// said yes once.
func (f *flight) takeElsewhere(ctx context.Context) *approval.Denial {
	f.row.Asked = f.Now()
	f.record(approval.Answer{Decision: approval.AllowOnce, By: ByGateway(f.req.Claim.Gateway, f.req.Claim.Operator)})
	f.byPerson = true
	shown := bound{plan: f.plan, judgement: f.judgement, held: f.contents()}
	if _, d := f.unpaused(ctx); d != nil {
		return d
	}
	f.judge(ctx, false)
	if d := f.stillTheSame(ctx, shown.plan, shown.judgement); d != nil {
		return d
	}
	if !f.answeredElsewhere() || !shown.held.sameAs(f.contents()) {
		return deny(approval.ReasonDrifted, "what was answered at the gateway changed: ask again")
	}
	return f.grants()
}
