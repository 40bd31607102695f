package gate

import (
	"context"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/machine"
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
		Plan: &p.Plan, Who: p.Who, SessionKey: p.SessionKey, Claim: p.Claim, Now: g.Now(), Hash: g.Hashes.Of, Signer: g.Signers.Of, Packaged: machine.Packaged,
		Waits: func(id string) bool { return g.approved.waits(id, p.AgentID) },
	}
	for _, change := range p.Env {
		if change.Asks {
			in.Env = append(in.Env, approval.Variable{Name: change.Name, Value: change.Value, Unknown: change.Secret})
		}
	}
	waits := g.Pending.While(p.ID)
	if plan := g.inProject(waits, rules, &p); plan != nil {
		in.Plan = plan
		if waits.Err() != nil {
			return approval.Answer{}, false // nobody waits for the rest of it
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

// inProject makes the plan of a question anew where its folder was no project and is
// one now, as long as somebody waits for it; nil elsewhere.
func (g *Gate) inProject(waits context.Context, rules *rules, p *approval.Prompt) *approval.Plan {
	b, ok := p.Bound.(*bound)
	if !ok || p.Plan.Folder.Path != "" || len(rules.projects) == 0 || waits.Err() != nil {
		return nil
	}
	m, err := g.Machine(waits) // there is one: something waits
	if err != nil {
		return nil
	}
	folder := rules.folder(m, &b.req)
	if folder.Path == "" {
		return nil
	}
	plan := analyze(waits, m, &b.req, folder)
	return &plan
}

// byPolicy in Answer.By says that a changed policy gave the answer.
const byPolicy = "policy"
