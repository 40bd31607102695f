package judge

import (
	"context"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// Alone judges a call of a tool by a policy alone, where there is no host and the
// agent's own shell and tools make the call. It denies what policy denies and what
// touches protected state and, where the agent would ask nobody, all that no entry
// lets pass. It asks nobody, runs and keeps nothing: an entry that counts its uses
// lets nothing pass.
func (j *Judge) Alone(ctx context.Context, p approval.Policy, call approval.ToolCall, unasked bool) (approval.Outcome, error) {
	call.Who, call.JudgeOnly = approval.Theirs, true
	c, rules, err := j.supposed(ctx, p, RequestFor(call, approval.Peer{}))
	if err != nil {
		return approval.Outcome{}, err
	}
	c.Judgement = c.under(rules)
	d := c.alone(unasked)
	o := c.Outcome(d, approval.Answer{})
	o.Final = d != nil
	return o, nil
}

// alone is why a call is denied that was judged without a host, nil where it is not.
func (c *Case) alone(unasked bool) *approval.Denial {
	j := c.Judgement
	if j.Verdict == approval.VerdictDeny {
		return c.Denied()
	}
	if touched := touchesProtected(&c.Plan, j); touched.Reason != approval.ReasonNone {
		d := c.Denied()
		d.Finding = touched
		d.Sentence += withoutHost
		return d
	}
	counted := slices.ContainsFunc(j.Segments, func(s approval.SegmentJudgement) bool { return s.Counted })
	switch {
	case !unasked:
		return nil
	case j.Verdict != approval.VerdictAllow:
		d := c.Denied()
		d.Sentence += withoutHost
		return d
	case counted:
		return Deny(approval.ReasonLeaseEnded, "what allows it counts its uses, which only the host does")
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
