//go:build linux || darwin

package runner

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/machine"
)

// analyzer reads texts on this machine, with a home of its own.
func analyzer(home string) *command.Analyzer {
	a := &command.Analyzer{World: machine.Disk{}, Home: home, UID: os.Getuid()}
	a.SetPath(strings.Split(testPATH, ":"))
	return a
}

// unclearNow is said of words that mean different things to shells, once they
// are known.
const unclearNow = "it is not clear any more what this is"

// scriptJob is a job for a text as it is really read. It is nil for a text
// that asks.
func scriptJob(t testing.TB, shell, dir, text string) *Job {
	a := analyzer(dir)
	plan := a.Analyze(t.Context(), &approval.Request{Command: []string{shell, "-c", text}, Cwd: dir, Who: approval.Ours}, approvaltest.Named(dir))
	if !Able(&plan) || len(plan.Findings) > 0 {
		return nil
	}
	for _, s := range plan.Segments {
		if s.Floor != "" || s.Via == 0 && !s.Named && unclear(s) {
			return nil
		}
	}
	return &Job{
		ID: t.Name(), Plan: &plan, Mode: ModePlan, Env: testEnv(t.Name(), dir), Check: allow, Find: a.Find,
		Final: func(seg int, argv []string, dir string) (*approval.Plan, error) {
			now := a.Final(t.Context(), &plan, &plan.Segments[seg], argv, dir)
			if now.Root == nil && now.Segments[0].Program == nil {
				return nil, errors.New(unclearNow)
			}
			return &now, nil
		},
		Output: func(r approval.Redirect) (approval.Redirect, error) {
			now, why := a.Output(t.Context(), &plan, r, nil)
			if why.Reason != approval.ReasonNone {
				return now, errors.New(why.Sentence)
			}
			return now, nil
		},
	}
}

// unclear reports what no policy lets pass without a question. What an entry
// for the program covers is not asked here.
func unclear(s approval.Segment) bool {
	return slices.ContainsFunc(s.Findings, func(f approval.Finding) bool {
		switch f.Reason {
		case approval.ReasonRuntimeValue, approval.ReasonEvaluates, approval.ReasonUnreadable, approval.ReasonNotFound, approval.ReasonApprovalRequired,
			approval.ReasonWritesFile:
			return f.Allowed == ""
		}
		return false
	})
}

// texts reads a file of scripts: one in each line, or with %% between them.
func texts(t testing.TB, name string) []string {
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	by := "\n"
	if bytes.Contains(data, []byte("\n%%\n")) {
		by = "\n%%\n"
	}
	var list []string
	for text := range strings.SplitSeq(string(data), by) {
		if text = strings.ReplaceAll(strings.TrimSpace(text), "⏎", "\n"); text != "" {
			list = append(list, text)
		}
	}
	return list
}

// scriptFolder is what the scripts find: the files that they name.
func scriptFolder(t testing.TB) string {
	dir := filepath.Join(scratch(t), "home") // each with the same name
	for name, text := range map[string]string{
		"a.txt": "one\ntwo\nthree\n", "b.txt": "bee\n", "my file.txt": "spaced\n", "sub/c.txt": "sea\n", "pw.txt": "root:x:0:0\nann:x:500:500\n",
		"data.csv": "a,b\n1,2\n", "-dash": "dash\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// differs are the scripts whose error output is not that of a shell, and why.
var differs = map[string]string{
	`printf '%d\n' abc; echo rc=$?`: "printf is the system's program, which says its own words about a wrong number",
}

// endless loops may be denied: whether their reader ends them before they
// reach the limit of steps is for the kernel to say.
var endless = map[string]bool{`while true; do echo y; done | head -2`: true}

var (
	linePrefix  = regexp.MustCompile(`(?m)^(bash: line|dash:) \d+: `)
	programPath = regexp.MustCompile(`(?m)^(?:/usr)?/bin/([a-z]+): `)
)

// TestScriptsAsShells runs ordinary scripts in our runner and in bash and dash:
// they print the same and end the same, or they ask.
func TestScriptsAsShells(t *testing.T) {
	t.Parallel()
	needs(t, "bash", "dash")
	for _, file := range []string{"ordinary.txt", "agent.txt"} {
		t.Run(file, func(t *testing.T) {
			if !approvaltest.Apart(t) {
				return
			}
			r, list := newRunner(t), texts(t, file)
			var table strings.Builder
			ran := map[string]int{}
			for _, text := range list {
				for _, shell := range []string{"bash", "dash"} {
					how := likeShell(t, r, shell, text)
					if how != "asks" {
						ran[shell]++
					}
					fmt.Fprintf(&table, "%-9s", how)
				}
				fmt.Fprintf(&table, "%s\n", strings.ReplaceAll(text, "\n", "⏎"))
			}
			t.Logf("of %d, %d run without a shell as in bash and %d as in dash, the others ask\n%-9s%-9s\n%s",
				len(list), ran["bash"], ran["dash"], "bash", "dash", table.String())
			if ran["bash"]*100 < 30*len(list) {
				t.Errorf("only %d of %d run without a shell", ran["bash"], len(list))
			}
			mustBeGone(t, "none")
		})
	}
}

// likeShell runs a script both ways, and says in a word what came of it.
func likeShell(t *testing.T, r *Runner, shell, text string) string {
	dir := scriptFolder(t)
	job := scriptJob(t, shell, dir, text)
	if job == nil {
		return "asks"
	}
	got := run1(t, r, *job)
	if got.Denied != nil && endless[text] {
		return "limit"
	}
	other := scriptFolder(t)
	cmd := exec.Command(shell, "-c", text)
	cmd.Dir, cmd.Env = other, testEnv(t.Name(), other)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	wantOut := strings.ReplaceAll(stdout.String(), filepath.Dir(other), filepath.Dir(dir))
	wantErr := strings.ReplaceAll(linePrefix.ReplaceAllString(stderr.String(), ""), other, dir)
	gotErr := programPath.ReplaceAllString(string(got.Stderr), "$1: ")
	word := "same"
	if differs[text] != "" {
		word, gotErr = "but words", wantErr
	}
	if spoken(string(got.Stdout)) != spoken(wantOut) || gotErr != wantErr || code(got) != cmd.ProcessState.ExitCode() || got.Denied != nil {
		t.Errorf("%s: %s\n  got  %q, %q, %d, %+v %s\n  want %q, %q, %d", shell, text,
			got.Stdout, gotErr, code(got), got.Denied, got.Error, wantOut, wantErr, cmd.ProcessState.ExitCode())
		word = "differs"
	}
	if ours, theirs := filesIn(t, dir), strings.ReplaceAll(filesIn(t, other), other, dir); ours != theirs {
		t.Errorf("%s: %s\n  left %s\n  want %s", shell, text, ours, theirs)
		word = "differs"
	}
	return word
}
