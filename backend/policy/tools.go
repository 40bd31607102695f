package policy

import "github.com/countersign-app/countersign/backend/approval"

// Shut reports whether nothing of the agent may run or be asked about.
func (r *Rules) Shut() bool {
	return r.policy.Broken != "" || r.policy.Security == approval.SecurityUnset || r.policy.Security == approval.SecurityDeny
}

// Tool makes a verdict of what package toolpolicy found of a tool call: what
// refuses a command refuses it too, and security, ask and askFallback hold for
// it as for a command.
func (r *Rules) Tool(in Input, found approval.Judgement) approval.Judgement {
	j := found
	j.Security = approval.StricterSecurity(r.policy.Security, in.Claim.Security)
	j.Ask = approval.StricterAsk(approval.StricterAsk(r.policy.Ask, in.Claim.Ask), found.Ask)
	j.Writes, j.Offers = nil, nil
	if refused := r.refuse(in, j.Security); refused.Reason != approval.ReasonNone {
		j.Verdict, j.Finding = approval.VerdictDeny, refused
		return j
	}
	j.Security = approval.StricterSecurity(j.Security, found.Security)
	if j.Security == approval.SecurityFull && j.Verdict == approval.VerdictAsk && !HoldsProtected(j) {
		j.Verdict, j.Finding = approval.VerdictAllow, approval.Finding{}
		for i := range j.Segments {
			j.Segments[i] = verdict(approval.VerdictAllow, approval.Finding{}, "security full")
		}
	}
	j = r.asking(in, j)
	if j.Verdict == approval.VerdictAsk && (j.Ask == approval.AskOff || j.Ask == approval.AskOnMiss) && len(found.Writes) > 0 && r.policy.AgentID != "" {
		j.Writes, j.Offers = found.Writes, found.Offers
		j.Choices = []approval.Decision{approval.AllowOnce, approval.AllowAlways, approval.DecisionDeny}
	}
	return j
}
