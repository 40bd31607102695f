package gate

import (
	"context"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
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
	rules := g.prepare(p)
	f := &flight{Gate: g, req: req, machine: m, plan: rules.plan(ctx, m, &req)}
	f.judgement = rules.Evaluate(f.input())
	d := f.alone(unasked)
	o := f.outcome(d)
	o.Final = d != nil
	return o, nil
}

// alone is why a call is denied that was judged without a host, nil where it is not.
func (f *flight) alone(unasked bool) *approval.Denial {
	j := f.judgement
	if j.Verdict == approval.VerdictDeny {
		return f.denied()
	}
	if touched := touchesProtected(&f.plan, j); touched.Reason != approval.ReasonNone {
		d := f.denied()
		d.Finding = touched
		d.Sentence += withoutHost
		return d
	}
	counted := slices.ContainsFunc(j.Segments, func(s approval.SegmentJudgement) bool { return s.Counted })
	switch {
	case !unasked:
		return nil
	case j.Verdict != approval.VerdictAllow:
		d := f.denied()
		d.Sentence += withoutHost
		return d
	case counted:
		return deny(approval.ReasonLeaseEnded, "what allows it counts its uses, which only the host does")
	}
	return nil
}

// withoutHost ends the sentence of what a person would have been asked about.
const withoutHost = "; the host of Countersign is not there to ask about it"

// touchesProtected returns what a judgement and, but under full, its plan say of
// protected state, whatever else is to be asked about.
func touchesProtected(plan *approval.Plan, j approval.Judgement) approval.Finding {
	all := []approval.Finding{j.Finding}
	for _, s := range j.Segments {
		all = append(all, s.Finding)
	}
	if j.Security != approval.SecurityFull {
		all = append(all, plan.Findings...)
		for _, s := range plan.Segments {
			if !s.Named {
				all = append(all, s.Findings...)
			}
		}
	}
	for _, f := range all {
		if f.Reason == approval.ReasonProtectedState {
			return f
		}
	}
	return approval.Finding{}
}
