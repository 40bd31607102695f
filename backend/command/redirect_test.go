package command_test

import (
	"slices"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// TestRedirectsToProtected: what a redirection reads or writes is protected as
// what a word names is, whoever runs the text and however home is written.
func TestRedirectsToProtected(t *testing.T) {
	for text, want := range map[string]approval.Reason{
		"cat < .env": approval.ReasonProtectedState, "cat < ~/.ssh/id_rsa": approval.ReasonProtectedState, "cat < $HOME/.ssh/id_rsa": approval.ReasonProtectedState,
		"cat < innocent": approval.ReasonProtectedState, "cat < /state/operator.key": approval.ReasonProtectedState,
		"echo x >> ~/.bashrc": approval.ReasonProtectedState, "echo x >\"$HOME\"/.zshrc": approval.ReasonProtectedState, "ls > .git/hooks/pre-commit": approval.ReasonProtectedState,
		"ls &> /state/exec-approvals.json": approval.ReasonProtectedState, "echo x > .env": approval.ReasonProtectedState,
		"cat 3< .env": approval.ReasonProtectedState, "exec 3< ~/.ssh/id_rsa": approval.ReasonProtectedState,
		"ls > list": approval.ReasonWritesFile, "ls > sub/run.sh": approval.ReasonWritesFile,
	} {
		for _, who := range []approval.Who{approval.Ours, approval.Theirs} {
			req := bash(text)
			req.Who = who
			seg := invented().Analyze(t.Context(), req, approvaltest.Named(req.Cwd)).Segments[0]
			if !slices.ContainsFunc(seg.Findings, func(f approval.Finding) bool { return f.Reason == want }) {
				t.Errorf("%s, %s: %+v, want %s", text, who, seg.Findings, want)
			}
			if ours := text == "ls &> /state/exec-approvals.json"; seg.Ours != ours && want == approval.ReasonProtectedState && text[0] != 'c' {
				t.Errorf("%s, %s: names files of ours: %t", text, who, seg.Ours)
			}
		}
	}
}

// TestGroupRedirects: the same around groups, loops and nothing, for the whole text.
func TestGroupRedirects(t *testing.T) {
	for _, text := range []string{"{ cat; } < ~/.ssh/id_rsa", "while read l; do echo $l; done < .env", "echo $(< .env)", "(ls) > /state/x", "if ls; then ls; fi >> ~/.zshrc", "> .env"} {
		for _, who := range []approval.Who{approval.Ours, approval.Theirs} {
			req := bash(text)
			req.Who = who
			plan := invented().Analyze(t.Context(), req, approvaltest.Named(req.Cwd))
			if !slices.ContainsFunc(plan.Findings, func(f approval.Finding) bool { return f.Reason == approval.ReasonProtectedState }) {
				t.Errorf("%s, %s: %s", text, who, show(plan))
			}
		}
	}
}
