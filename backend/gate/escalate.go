package gate

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/policy"
)

// escalation is the way of one question from approver to approver. The person
// here may answer all the time, and the first answer counts.
type escalation struct {
	turns []approval.Turn
	ends  time.Time // of the last one; zero where there is no list
}

// escalate lays out who is asked when. What a charter escalates goes to the
// second of the list at once.
func (f *flight) escalate() (e escalation) {
	list := f.gate.Store.Current().Policy(f.judged.Req.AgentID).Approvers
	if len(list) == 0 {
		return e
	}
	now := f.gate.Now()
	if len(list) > 1 && escalates(f.judged.Judgement) {
		list = list[1:]
	}
	for _, a := range list {
		if a.Who == approval.ApproverGateway {
			e.turns = append(e.turns, approval.Turn{
				URL: a.URL, From: now.UnixMilli(), DenyOnly: f.gate.mayAllow(f.judged.Req.AgentID, f.judged.Judgement, a.Gateway()) != nil,
			})
		}
		now = now.Add(a.Time())
	}
	e.ends = now
	return e
}

func escalates(j approval.Judgement) bool {
	return j.Escalate || slices.ContainsFunc(j.Segments, func(s approval.SegmentJudgement) bool { return s.Escalate })
}

// within returns the end of a question that its caller waits for no longer than
// latest.
func (e escalation) within(ends, latest time.Time) time.Time {
	switch {
	case e.ends.IsZero():
		return ends
	case e.ends.Before(latest):
		return e.ends
	}
	return latest
}

// atEnd reports whether every approver had their time and none answered.
func (e escalation) atEnd(a approval.Answer, now time.Time) bool {
	return a.Reason == approval.ReasonPromptExpired && !e.ends.IsZero() && !now.Before(e.ends)
}

// fallsBack reports whether askFallback lets pass what no approver answered, as
// it was shown to them.
func (f *flight) fallsBack(ctx context.Context, shown approval.Plan) bool {
	f.judge(ctx, true)
	if f.judged.Judgement.Verdict != approval.VerdictAllow || !judge.SamePlan(&shown, &f.judged.Plan) {
		return false
	}
	f.answer = approval.Answer{By: byFallback}
	return true
}

// MayAnswer says why the operators of a gateway may not give a question this
// answer: it must be their turn, and their yes counts where a person switched
// that on, for what a person here need not show themselves for. A no always
// counts.
func (g *Gate) MayAnswer(p approval.Prompt, gateway string, d approval.Decision) error {
	asked := slices.ContainsFunc(p.Turns, func(t approval.Turn) bool {
		return approval.GatewayName(t.URL) == gateway && g.Now().UnixMilli() >= t.From
	})
	switch {
	case gateway == "" || !asked:
		return errors.New("this gateway is not asked now")
	case d == approval.DecisionDeny:
		return nil
	case d != approval.AllowOnce:
		return errors.New("a gateway may allow once or deny")
	}
	return g.mayAllow(p.AgentID, p.Judgement, gateway)
}

// mayAllow says why a yes of a gateway does not count.
func (g *Gate) mayAllow(agentID string, j approval.Judgement, gateway string) error {
	now := g.Store.Current()
	switch {
	case !now.AcceptsGateway(agentID, gateway):
		return errors.New("its answers are not accepted here: a person adds it to acceptAnswersFrom")
	case policy.HoldsProtected(j) || now.Policy(agentID).Presence.For(j.Risk.Level):
		return errors.New("only the person here may allow this")
	}
	return nil
}
