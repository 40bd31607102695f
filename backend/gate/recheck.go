package gate

import (
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/judge"
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
		a, answered = approval.Answer{Decision: approval.DecisionDeny, By: judge.ByPolicy, Finding: failed().Finding}, true
	})
	var req *approval.Request
	if b, ok := p.Bound.(*bound); ok {
		req = &b.req
	}
	switch j, _ := g.judge.Covered(g.Pending.While(p.ID), p, req); j.Verdict {
	case approval.VerdictAllow:
		return approval.Answer{Decision: approval.AllowOnce, By: judge.ByPolicy}, true
	case approval.VerdictDeny:
		return approval.Answer{Decision: approval.DecisionDeny, By: judge.ByPolicy, Finding: j.Finding}, true
	}
	return approval.Answer{}, false
}
