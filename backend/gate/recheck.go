package gate

import (
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/policy"
	"github.com/countersign-app/countersign/backend/rescue"
)

// Recheck answers the waiting questions that the policy of this moment has an
// answer to: a new entry covers them, or a new rule denies them.
func (g *Gate) Recheck() {
	g.Pending.Recheck(g.coveredNow)
	g.recheckStanding()
}

// coveredNow judges a waiting question again. A yes here only ends the wait:
// the request itself is analysed and judged once more before it runs. What makes
// us panic is denied.
func (g *Gate) coveredNow(p approval.Prompt) (a approval.Answer, answered bool) {
	defer rescue.Catch(g.Log, "a question that waits", func() {
		a, answered = approval.Answer{Decision: approval.DecisionDeny, By: byPolicy, Finding: failed().Finding}, true
	})
	rules, _ := g.rulesFor(p.AgentID)
	in := policy.Input{
		Plan: &p.Plan, Who: p.Who, SessionKey: p.SessionKey, Claim: p.Claim, Now: g.Now(), Hash: g.Hashes.Of, Signer: g.Signers.Of, Packaged: command.Packaged,
		Waits: func(id string) bool { return g.approved.waits(id, p.AgentID) },
	}
	for _, change := range p.Env {
		if change.Asks {
			in.EnvAsks = append(in.EnvAsks, change.Name)
		} else {
			in.EnvOther = append(in.EnvOther, change.Name)
		}
	}
	switch j := rules.Evaluate(in); j.Verdict {
	case approval.VerdictAllow:
		return approval.Answer{Decision: approval.AllowOnce, By: byPolicy}, true
	case approval.VerdictDeny:
		return approval.Answer{Decision: approval.DecisionDeny, By: byPolicy, Finding: j.Finding}, true
	}
	return approval.Answer{}, false
}

// byPolicy in Answer.By says that a changed policy gave the answer.
const byPolicy = "policy"
