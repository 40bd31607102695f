package shown

import (
	"github.com/countersign-app/countersign/backend/approval"
)

// Denial is a rule that denying always would write, narrowest first.
type Denial struct {
	Pattern string   `json:"pattern"`
	Args    []string `json:"args"` // the first words; none for any
}

// WithDenials adds what denying a question for longer would mean.
func (q Question) WithDenials(rules []approval.DenyRule, in Person) Question {
	for _, r := range rules {
		q.Denials = append(q.Denials, Denial{in.short(r.Pattern), escaped(r.Args)})
	}
	return q
}

// Standing is an answer that stands for identical requests to come.
type Standing struct {
	ID      string `json:"id"`
	Agent   Agent  `json:"agent"`
	Command string `json:"command"`
	// Allows tells a yes, which is had once, from a denial.
	Allows bool  `json:"allows"`
	Until  int64 `json:"until"` // unix milliseconds
}
