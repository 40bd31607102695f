package shown

import (
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
)

// Trial says what would become of a command that somebody tries.
type Trial struct {
	// Problem says why it cannot be judged; nothing else is set then.
	Problem string `json:"problem,omitempty"`
	// Verdict is that of the whole.
	Verdict Verdict `json:"verdict"`
	// Question is what the panel would show. Without a verdict of ask it is not
	// put, but shows the same.
	Question Question `json:"question"`
	// Told is what the agent would be told, if it would be denied.
	Told string `json:"told,omitempty"`
	// Took is how long the judgement took, in microseconds.
	Took int64 `json:"took"`
}

// NewTrial makes what is shown of a command that was judged as this agent's.
// Nobody asked for it.
func NewTrial(agentID string, plan approval.Plan, j approval.Judgement, told string, in Person) Trial {
	if plan.Invalid != "" {
		return Trial{Problem: display.Escape(plan.Invalid), Question: NewPlace(approval.Prompt{}, in)}
	}
	t := Trial{Question: NewQuestion(approval.Prompt{AgentID: agentID, Who: approval.Ours, Plan: plan, Judgement: j, Count: 1}, in)}
	t.Question.Node = ""
	t.Verdict = judged(j.Verdict)
	for _, r := range t.Question.Runs {
		if t.Verdict == Asks && r.Verdict == Danger {
			t.Verdict = Danger
		}
	}
	if j.Verdict != approval.VerdictAsk {
		t.Question.Shell = "" // that is for a yes
	}
	if j.Verdict == approval.VerdictDeny {
		t.Told = display.Escape(told)
	}
	return t
}
