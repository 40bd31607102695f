//go:build linux || darwin

package runner

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// likeBash are texts that must do exactly what bash does.
var likeBash = []string{
	`true`, `false`, `:`, `! true`, `! false`, `! true; echo next`,
	`echo a; echo b`, "echo a\necho b", `true && echo yes || echo no`, `false && echo yes || echo no`,
	`false || false || echo third`, `true || echo no && echo and`, `false; echo after`,
	`echo a b  c`, `echo -n a; echo b`, `echo -e 'a\tb\nc'`, `echo -E 'a\tb'`, `echo 'a\tb'`, `echo -ne 'x\n'`,
	`echo -x a`, `echo -- a`, `echo -`, `echo -nx`, `echo -e 'a\cb' c; echo d`, `echo -e '\0101\x41\u00e4\U0001F600'`,
	`echo -e '\x4g\08\0\e[0m' | od -c`, `echo -e 'end\'`, `echo -e '\q\x\u'`, `echo -eE 'a\tb'`, `echo -e '\101'`, `echo`,
	`echo hi | cat`, `echo hi | cat | cat | wc -c`, `printf 'a\nb\n' | grep b`, `printf 'a\nb\n' | grep c`,
	`false | true`, `true | false`, `! false | true`, `echo a | false || echo failed`, `seq 3 | tail -1`,
	`yes | head -1`, `yes | head -c 100000 | wc -c`, `seq 100000 | head -1`, `echo x | true`, `seq 30000 | true; echo done`,
	`cat /nonexistent`, `cat /nonexistent 2>/dev/null; echo gone`, `cat /nonexistent 2>&1 | wc -l`,
	`echo out; echo err >&2`, `echo err >&2 2>/dev/null`, `echo nothing 2>/dev/null >&2`, `echo nothing >/dev/null`,
	`sh -c 'echo o; echo e >&2' 2>&1 >/dev/null | cat`, `cat </dev/null; echo empty`, `sh -c 'echo o; echo e >&2' &>/dev/null; echo quiet`,
	`echo a >&2 | cat`, `echo a 2>&1 >&2 | cat`,
	`cd sub; pwd`, `cd sub && pwd && cd .. && pwd`, `cd nope; pwd`, `cd nope || echo no`, `cd file`, `cd -- sub; pwd`, `cd; pwd`,
	`cd sub deep; pwd`, `cd ''; pwd`, `cd sub; printenv PWD OLDPWD`, `cd sub | cat; pwd`, `cd sub; cd deep; printenv OLDPWD`, `cd sub/deep/../..; pwd`,
	`pwd | cat`, `cd sub; sh -c 'pwd'`, `cd sub/deep; ls`, `cd closed`,
	`exit 3`, `exit`, `false; exit`, `exit 300`, `exit -1`, `exit x`, `exit 3; echo never`, `exit 3 | true; echo alive`, `true && exit 4 || echo never`,
	`{ echo a; echo b; } | cat`, `{ cd sub; pwd; } | cat; pwd`, `{ exit 3; echo never; } | cat; echo alive`, `echo a | { cat; cat; echo b; }`,
	`{ echo a | cat; echo b; } | { cat; echo c; } | cat`, `{ false || echo x; } | cat`, `echo in | { sh -c 'read a; echo $a'; pwd; }`,
	`sh -c 'exit 7'`, `sh -c 'exit 7' || echo seven`, `sh -c 'kill -9 $$' || echo killed`, `! sh -c 'kill -9 $$'; echo next`,
	`sh -c 'kill -TERM $$'; echo next`, `sh -c 'echo $0' zero`, `./own arg`, `./nested a b`, `./env-sh one`, `own2`,
	`true | true | true | true | true | true | true | true`, `sh -c 'cat >/dev/null; echo read' | cat`,
}

var (
	// shellPrefix is what bash puts before its own messages.
	shellPrefix = regexp.MustCompile(`(?m)^bash: line \d+: `)
	// obituary is what bash says when a signal ended a program.
	obituary = regexp.MustCompile(`(?m)^ *(\d+ )?(Killed|Terminated)\b.*\n`)
)

// likeOurs takes the differences out of what bash wrote that are meant:
// argv[0] of our programs is the path that their word led to.
func likeOurs(text, dir string) string {
	text = obituary.ReplaceAllString(shellPrefix.ReplaceAllString(text, ""), "")
	for _, own := range []string{"own", "nested"} {
		text = strings.ReplaceAll(text, "./"+own, dir+"/"+own)
	}
	return text
}

func likeBashFolder(t testing.TB) string {
	dir := scratch(t)
	for _, sub := range []string{"sub/deep", "closed"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	script(t, filepath.Join(dir, "own"), "#!/bin/sh\necho \"$0 $# $1\"; pwd\n")
	script(t, filepath.Join(dir, "interp"), "#!/bin/sh\necho \"interp $*\"\n")
	script(t, filepath.Join(dir, "nested"), "#!"+dir+"/interp -o\n")
	script(t, filepath.Join(dir, "env-sh"), "#!/usr/bin/env sh\necho env $1\n")
	return dir
}

func TestPlanIsLikeBash(t *testing.T) {
	needs(t, "bash", "seq", "od", "printenv")
	r, dir := newRunner(t), likeBashFolder(t)
	for _, text := range likeBash {
		t.Run(text, func(t *testing.T) {
			job := textJob(t, dir, text)
			got := run1(t, r, job)
			bash := exec.Command("bash", "-c", text)
			bash.Dir, bash.Env = dir, job.Env
			var stdout, stderr bytes.Buffer
			bash.Stdout, bash.Stderr = &stdout, &stderr
			_ = bash.Run()
			wantOut, wantErr := likeOurs(stdout.String(), dir), likeOurs(stderr.String(), dir)
			gotErr := programPath.ReplaceAllString(string(got.Stderr), "$1: ")
			if string(got.Stdout) != wantOut || gotErr != wantErr {
				t.Errorf("got  %q, %q\nwant %q, %q", got.Stdout, gotErr, wantOut, wantErr)
			}
			if code(got) != bash.ProcessState.ExitCode() || got.Denied != nil || got.Error != "" {
				t.Errorf("got status %d, %+v, %q, want %d", code(got), got.Denied, got.Error, bash.ProcessState.ExitCode())
			}
			if len(got.Left) > 0 {
				t.Errorf("something was left: %v", got.Left)
			}
		})
	}
	mustBeGone(t, "none")
}

func TestDenialEndsEverything(t *testing.T) {
	t.Parallel()
	r, dir := newRunner(t), scratch(t)
	never := errors.New("the judge says no")
	for _, text := range []string{
		`cat deny`, `true; cat deny; echo never`, `cat deny || echo never`, `sleep 100 | cat deny`, `cat deny | sleep 100`,
		`{ sleep 0.05; cat deny; } | sleep 100; echo never`, `! cat deny; echo never`, `yes | cat deny | cat`,
		`sh -c 'trap "" TERM; sleep 100; sleep 100' | cat deny`,
	} {
		t.Run(text, func(t *testing.T) {
			if !approvaltest.Apart(t) {
				return
			}
			job := textJob(t, dir, text)
			job.Check = func(_ int, s *approval.Segment) error {
				if s.Argv[len(s.Argv)-1] == "deny" {
					return never
				}
				return nil
			}
			got := run1(t, r, job)
			if got.Denied == nil || got.Denied.Sentence != never.Error() || got.Denied.Segment != "cat deny" || got.ExitCode != nil {
				t.Errorf("got %+v", got)
			}
			if strings.Contains(string(got.Stdout), "never") {
				t.Errorf("something ran after the denial: %q", got.Stdout)
			}
			mustBeGone(t, job.ID)
		})
	}
}

func TestDenialSaysWhy(t *testing.T) {
	r, dir := newRunner(t), scratch(t)
	job := textJob(t, dir, `true`)
	job.Plan = parse(t, dir, `cat x`)
	want := approval.Denial{Finding: approval.Finding{Reason: approval.ReasonDenylisted, Sentence: "no cats"}, Code: "UNAVAILABLE", Segment: "the cat"}
	job.Check = func(int, *approval.Segment) error { return &Denied{want} }
	if got := run1(t, r, job); got.Denied == nil || *got.Denied != want {
		t.Errorf("got %+v", got.Denied)
	}
}

func TestFolderMustBeTheJudgedOne(t *testing.T) {
	r, dir := newRunner(t), likeBashFolder(t)
	if err := os.Symlink("sub", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text, dir string
		drifts    bool
	}{
		{`cd sub; ls`, dir + "/sub", false},
		{`cd sub; ls`, dir + "/sub/../sub", false},
		{`cd nope; ls`, dir + "/nope", true},
		{`cd nope; ls`, dir + "/sub", true},
		{`cd sub; ls`, dir, true},
		{`cd sub; ls`, dir + "/link", true}, // it led elsewhere when that was judged
	} {
		job := textJob(t, dir, test.text)
		job.Plan.Segments[1].Dir = test.dir
		got := run1(t, r, job)
		if drifted := got.Denied != nil && got.Denied.Reason == approval.ReasonDrifted; drifted != test.drifts {
			t.Errorf("%s in %s: got %+v", test.text, test.dir, got)
		}
	}
}

func deep(n int) approval.Node {
	node := approval.Node{Op: approval.OpRun}
	for range n {
		node = approval.Node{Op: approval.OpSeq, Kids: []approval.Node{node}}
	}
	return node
}

func wide(op approval.Op, n int) approval.Node {
	return approval.Node{Op: op, Kids: make([]approval.Node, n)}
}

func TestLimits(t *testing.T) {
	r, dir := newRunner(t), scratch(t)
	fill := func(n approval.Node) approval.Node {
		for i := range n.Kids {
			n.Kids[i].Op = approval.OpRun
		}
		return n
	}
	pipes := fill(wide(approval.OpPipe, 16))
	for name, test := range map[string]struct {
		root approval.Node
		want approval.Reason
	}{
		"nested as deep as may be": {deep(maxNesting - 1), ""},
		"nested too deep":          {deep(maxNesting), approval.ReasonTooComplex},
		"as many as may be":        {fill(wide(approval.OpPipe, maxAtOnce)), ""},
		"too many at once":         {fill(wide(approval.OpPipe, maxAtOnce+1)), approval.ReasonTooComplex},
		"too many in two pipes":    {approval.Node{Op: approval.OpPipe, Kids: []approval.Node{pipes, pipes, {Op: approval.OpRun}}}, approval.ReasonTooComplex},
		"too many steps":           {fill(wide(approval.OpSeq, maxSteps)), approval.ReasonTooComplex},
	} {
		t.Run(name, func(t *testing.T) {
			job := textJob(t, dir, `cat`)
			job.Plan.Root = &test.root
			started := 0
			job.Check = func(int, *approval.Segment) error { started++; return nil }
			got := run1(t, r, job)
			reason := approval.ReasonNone
			if got.Denied != nil {
				reason = got.Denied.Reason
			}
			if reason != test.want || test.want != "" && started > 0 {
				t.Errorf("got %+v after %d starts, want %q", got.Denied, started, test.want)
			}
		})
	}
}

func TestPlansThatMeanNothing(t *testing.T) {
	r, dir := newRunner(t), scratch(t)
	for name, spoil := range map[string]func(*Job){
		"no id":           func(j *Job) { j.ID = "" },
		"no plan":         func(j *Job) { j.Plan = nil },
		"no root":         func(j *Job) { j.Plan.Root = nil },
		"no judge":        func(j *Job) { j.Check = nil },
		"no mark":         func(j *Job) { j.Env = []string{"PATH=/bin"} },
		"unknown step":    func(j *Job) { j.Plan.Root = &approval.Node{Op: "loop"} },
		"no such segment": func(j *Job) { j.Plan.Root = &approval.Node{Op: approval.OpRun, Seg: 7} },
		"minus segment":   func(j *Job) { j.Plan.Root = &approval.Node{Op: approval.OpRun, Seg: -1} },
		"empty list":      func(j *Job) { j.Plan.Root = &approval.Node{Op: approval.OpSeq} },
		"no words":        func(j *Job) { j.Plan.Segments[0].Argv = nil },
		"other descriptor": func(j *Job) {
			j.Plan.Segments[0].Redirects = []approval.Redirect{{FD: 3, To: approval.ToNull}}
		},
		"from stdin":      func(j *Job) { j.Plan.Segments[0].Redirects = []approval.Redirect{{FD: 1, To: 0}} },
		"unknown builtin": func(j *Job) { j.Plan.Segments[0].Builtin, j.Plan.Segments[0].Program = "eval", nil },
	} {
		t.Run(name, func(t *testing.T) {
			job := textJob(t, dir, `cat /etc/passwd`)
			spoil(&job)
			if got := run1(t, r, job); got.Success() || got.ExitCode != nil || len(got.Stdout) > 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestNotFound(t *testing.T) {
	r, dir := newRunner(t), scratch(t)
	got := run1(t, r, textJob(t, dir, `no-such-program || echo so`))
	if string(got.Stdout) != "so\n" || !strings.HasSuffix(string(got.Stderr), "command not found\n") || code(got) != 0 {
		t.Errorf("got %q, %q, %d", got.Stdout, got.Stderr, code(got))
	}
	if got := run1(t, r, argvJob(t, dir, "no-such-program")); code(got) != 127 || got.Error == "" {
		t.Errorf("got %+v", got)
	}
}
