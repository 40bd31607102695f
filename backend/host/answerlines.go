package host

import (
	"fmt"

	"github.com/countersign-app/countersign/backend/approval"
)

// answerLines say what a yes to a question means: what runs, where, with which
// changes of the environment, and what it writes.
func answerLines(p approval.Prompt, d approval.Decision, c approval.Choice) []string {
	word := "Allows once"
	if d == approval.AllowAlways {
		word = "Allows from now on"
	}
	lines := []string{fmt.Sprintf("%s, for agent %s: %s", word, p.AgentID, p.Plan.Text)}
	if p.Count > 1 {
		lines = append(lines, fmt.Sprintf("It was asked for %d times", p.Count))
	}
	if p.Plan.Cwd.Path != "" {
		lines = append(lines, "In folder "+p.Plan.Cwd.Path)
	}
	for _, e := range p.Env {
		value := e.Value
		if e.Secret {
			value = "(hidden)"
		}
		lines = append(lines, "Sets "+e.Name+"="+value)
	}
	if d == approval.AllowAlways {
		entries, _ := p.Judgement.Chosen(c, p.SessionKey)
		for _, e := range entries {
			line := "Writes the entry " + EntryWords(e)
			if name, ok := e.AcceptsSkill(); ok {
				line = "Accepts the file of the skill " + name + " as it is now"
			}
			if c.Keep.Lease() {
				line += ", for " + string(c.Keep)
			}
			lines = append(lines, line)
		}
	}
	if p.Judgement.Sentence != "" {
		lines = append(lines, "Asked because "+p.Judgement.Sentence)
	}
	return append(lines, fmt.Sprintf("Risk %s", p.Judgement.Risk.Level))
}
