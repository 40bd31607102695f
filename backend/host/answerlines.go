package host

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
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
			lines = append(lines, "Writes the entry "+entryLine(e, c.Keep))
		}
	}
	if p.Judgement.Sentence != "" {
		lines = append(lines, "Asked because "+p.Judgement.Sentence)
	}
	return append(lines, fmt.Sprintf("Risk %s", p.Judgement.Risk.Level))
}

// entryLine says what an entry that a yes writes covers, and how long.
func entryLine(e approval.Entry, keep approval.Keep) string {
	parts := []string{strings.TrimSpace(e.Pattern + " " + command.Quote(e.Args))}
	if e.ArgsExact {
		parts = append(parts, "no further arguments")
	}
	if e.ArgPattern != "" {
		parts = append(parts, "arguments match "+e.ArgPattern)
	}
	for _, name := range slices.Sorted(maps.Keys(e.When)) {
		parts = append(parts, name+" is "+e.When[name])
	}
	if e.Cwd != "" {
		parts = append(parts, "in "+e.Cwd)
	}
	if keep.Lease() {
		parts = append(parts, "for "+string(keep))
	}
	return strings.Join(parts, ", ")
}
