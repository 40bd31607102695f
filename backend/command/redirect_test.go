package command_test

import (
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestRedirectsToProtected: what a redirection reads or writes is protected as
// what a word names is, whoever runs the text and however home is written.
func TestRedirectsToProtected(t *testing.T) {
	for text, want := range map[string]approval.Reason{
		"cat < .env": approval.ReasonProtectedState, "cat < ~/.ssh/id_rsa": approval.ReasonProtectedState, "cat < $HOME/.ssh/id_rsa": approval.ReasonProtectedState,
		"cat < innocent": approval.ReasonProtectedState, "cat < /state/operator.key": approval.ReasonProtectedState,
		"echo x >> ~/.bashrc": approval.ReasonProtectedState, "echo x >\"$HOME\"/.zshrc": approval.ReasonProtectedState, "ls > .git/hooks/pre-commit": approval.ReasonProtectedState,
		"ls &> /state/exec-approvals.json": approval.ReasonProtectedState, "echo x > .env": approval.ReasonProtectedState,
		"ls > list": approval.ReasonWritesFile, "ls > sub/run.sh": approval.ReasonWritesFile,
	} {
		for _, who := range []approval.Who{approval.Ours, approval.Theirs} {
			req := bash(text)
			req.Who = who
			seg := machine().Analyze(req).Segments[0]
			if len(seg.Findings) == 0 || seg.Findings[0].Reason != want {
				t.Errorf("%s, %s: %+v, want %s", text, who, seg.Findings, want)
			}
			if ours := text == "ls &> /state/exec-approvals.json"; seg.Ours != ours && want == approval.ReasonProtectedState && text[0] != 'c' {
				t.Errorf("%s, %s: names files of ours: %t", text, who, seg.Ours)
			}
		}
	}
}
