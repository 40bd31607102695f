package command_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// Words that could each be a command must not be looked at once for every
// other: past a bound the request asks, and nothing more is looked at.
func TestManyNestedWords(t *testing.T) {
	for _, before := range []string{"/opt/tool/bin/tool ls", "/opt/tool/bin/tool rm -r", "/opt/tool/bin/tool"} {
		argv := strings.Fields(before + strings.Repeat(" rm", 20_000))
		plan := machine().Analyze(&approval.Request{Command: argv, Cwd: "/home/ann/p", Who: approval.Ours})
		if plan.Root != nil || !slices.Contains(reasons(plan.Findings), approval.ReasonTooComplex) {
			t.Errorf("%s and many words: %v", before, reasons(plan.Findings))
		}
		words := 0
		for _, s := range plan.Segments[1:] {
			words += len(s.Argv)
		}
		if words > 40_000 {
			t.Errorf("%s and many words: %d words were looked at in %d segments", before, words, len(plan.Segments))
		}
	}
}
