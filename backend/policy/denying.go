package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// Denials returns the deny rules that a person may choose for a request that
// asks, narrowest first: the program that asks first, with its first words, and
// whatever its words are. There is none where no file is known, for a wrapper,
// which is not what is meant, and for an agent without a name, whose rules would
// be everybody's.
func Denials(agentID string, plan *approval.Plan, j approval.Judgement) []approval.DenyRule {
	i := slices.IndexFunc(j.Segments, func(s approval.SegmentJudgement) bool { return s.Verdict != approval.VerdictAllow })
	if agentID == "" || i < 0 || i >= len(plan.Segments) {
		return nil
	}
	s := &plan.Segments[i]
	if s.Program == nil || s.Kind == approval.KindWrapper || s.Named {
		return nil
	}
	pattern := s.Program.File.Path
	if path.Base(s.Program.Path) != path.Base(pattern) { // one program of many names: this one is meant
		pattern = s.Program.Path
		if s.Program.Link != "" {
			pattern = s.Program.Link
		}
	}
	if strings.ContainsAny(pattern, "*?[]{}\\") {
		return nil // the name itself would be read as a pattern
	}
	rules := []approval.DenyRule{{Pattern: pattern}}
	words := firstWords(s)
	for n := range words {
		rules = append([]approval.DenyRule{{Pattern: pattern, Args: slices.Clone(words[:n+1])}}, rules...)
	}
	return rules
}
