package gate

import (
	"context"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/policy"
)

// answeredElsewhere reports whether the yes counts that was given at a gateway:
// where a person switched that on for it, for a run that is just what was
// prepared, under the policy of then. What is asked about always, and what only
// a person here may let through, it does not answer.
func (f *flight) answeredElsewhere() bool {
	c, p := f.judged.Req.Claim, f.judged.Req.Prepared
	switch {
	case c.Decision != approval.AllowOnce || c.Source != "" || c.Gateway == "":
		return false
	case p == nil || p.Policy == nil || f.judged.Drifted() != nil || p.Programs == "" || p.EnvHash != f.judged.Req.EnvHash():
		return false
	case f.judged.Judgement.Ask == approval.AskAlways || policy.HoldsProtected(f.judged.Judgement):
		return false
	case f.gate.Store.Current().Policy(f.judged.Req.AgentID).Presence.For(f.judged.Judgement.Risk.Level):
		return false // nobody there shows that it is them
	}
	return f.gate.Store.Current().AcceptsGateway(f.judged.Req.AgentID, c.Gateway)
}

// ByGateway is who answered at a gateway, for the record. What a gateway tells of
// its operator can be of any length and hold anything.
func ByGateway(gateway, operator string) string {
	return approval.ByGateway(gateway, display.Short(display.Line(operator)))
}

// takeElsewhere runs what was answered at a gateway, as if the person here had
// said yes once.
func (f *flight) takeElsewhere(ctx context.Context) *approval.Denial {
	f.row.Asked = f.gate.Now()
	f.record(approval.Answer{Decision: approval.AllowOnce, By: ByGateway(f.judged.Req.Claim.Gateway, f.judged.Req.Claim.Operator)})
	f.byPerson = true
	if d := f.confirm(ctx, f.judged.Shown(), "since it was answered at the gateway"); d != nil {
		return d
	}
	if !f.answeredElsewhere() {
		return judge.Deny(approval.ReasonDrifted, "what was answered at the gateway changed: ask again")
	}
	return f.grants()
}
