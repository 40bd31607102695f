package gate

import (
	"context"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/policy"
	"github.com/countersign-app/countersign/backend/store"
)

// Alone judges a call of a tool by a policy alone, where there is no host and the
// agent's own shell and tools make the call. It denies what policy denies and what
// touches protected state and, where the agent would ask nobody, all that no entry
// lets pass. It asks nobody, runs and keeps nothing: an entry that counts its uses
// lets nothing pass.
func (g *Gate) Alone(ctx context.Context, p approval.Policy, call approval.ToolCall, unasked bool) (approval.Outcome, error) {
	m, err := g.Machine(ctx)
	if err != nil {
		return approval.Outcome{}, err
	}
	call.Who, call.JudgeOnly = approval.Theirs, true
	req := requestFor(call, approval.Peer{})
	req.AgentID = store.AgentID(req.AgentID)
	f := &flight{Gate: g, req: req, machine: m, plan: analyze(m, &req)}
	f.judgement = g.prepare(p).Evaluate(f.input())
	j := f.judgement
	counted := false
	for _, s := range j.Segments {
		counted = counted || s.Counted
	}
	passes := j.Verdict == approval.VerdictAllow && !counted
	if j.Verdict == approval.VerdictDeny || policy.HoldsProtected(j) || unasked && !passes {
		d := f.denied()
		if d.Reason == approval.ReasonNone { // an entry let it pass that counts
			d = deny(approval.ReasonLeaseEnded, "what allows it counts its uses, which only the host does")
		}
		o := f.outcome(d)
		o.Final = true
		return o, nil
	}
	return f.outcome(nil), nil
}
