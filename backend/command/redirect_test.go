package command_test

import (
	"slices"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
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

// TestOpenInputs: a command that only prints may read a file of which the text holds all
// names, where each may be read.
func TestOpenInputs(t *testing.T) {
	for text, passes := range map[string]bool{
		`for f in a b.txt; do wc -l < "$f"; done`:                       true,
		`for f in a b.txt; do wc -l < $f; done`:                         true,
		`f=a; head -3 < "$f"`:                                           true,
		`d=sub; cat < "$d/c"`:                                           true,
		`for f in *.txt; do wc -l < "$f"; done`:                         true,
		`for f in a b.txt; do n=$(wc -l < "$f"); echo "$f $n"; done`:    true,
		`for f in a .env; do wc -l < "$f"; done`:                        false,
		`for f in a innocent; do wc -l < "$f"; done`:                    false,
		`for f in a ~/.ssh/id_rsa; do wc -l < "$f"; done`:               false,
		`for f in a /etc/hosts; do wc -l < "$f"; done`:                  false,
		`for f in a ../x; do wc -l < "$f"; done`:                        false,
		`for f in a none; do wc -l < "$f"; done`:                        false,
		`for f in a sub; do wc -l < "$f"; done`:                         false,
		`for f in *.none; do wc -l < "$f"; done`:                        false,
		`read -r f; wc -l < "$f"`:                                       false,
		`f=a; read -r f; wc -l < "$f"`:                                  false,
		`f=$(cat a); wc -l < "$f"`:                                      false,
		`wc -l < "$HOMEDIR"`:                                            false,
		`set -- a b; wc -l < "$@"`:                                      false,
		`f="a b"; wc -l < $f`:                                           false,
		`for f in a b.txt; do xargs wc -l < "$f"; done`:                 false,
		`for f in a b.txt; do sh < "$f"; done`:                          false,
		`for f in a b.txt; do python3 < "$f"; done`:                     false,
		`for f in a b.txt; do git apply < "$f"; done`:                   false,
		`for f in a b.txt; do read -r x < "$f"; done`:                   false,
		`for f in a b.txt; do while read -r x; do :; done < "$f"; done`: false,
		`for f in a b.txt; do wc -l 3< "$f"; done`:                      false,
		`for f in a b.txt; do wc -l 1< "$f"; done`:                      false,
		`cd sub && for f in c; do wc -l < "$f"; done`:                   true,
		`cd sub && for f in a; do wc -l < "$f"; done`:                   false,
	} {
		world := approvaltest.NewWorld("/usr/bin/wc /usr/bin/head /bin/cat /usr/bin/git /usr/bin/python3 /bin/sh /usr/bin/xargs /home/ann/p/a /home/ann/p/b.txt /home/ann/p/.env /home/ann/p/sub/c /home/ann/x /etc/hosts /home/ann/.ssh/id_rsa\n/home/ann/p/innocent -> /home/ann/.ssh/id_rsa")
		a := &command.Analyzer{World: world, Home: "/home/ann", UID: 1000}
		a.SetPath([]string{"/usr/bin", "/bin"})
		plan := a.Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p"))
		asks := plan.Root == nil || len(plan.Findings) > 0
		for _, seg := range plan.Segments {
			asks = asks || len(seg.Findings) > 0
		}
		if asks == passes {
			t.Errorf("%s: asks %t: %s", text, asks, show(plan))
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
