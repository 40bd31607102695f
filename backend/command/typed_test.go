package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// Texts that an agent's own shell runs, and whether they mean the same to every
// shell, also to one that they are typed into.
var typed = []struct {
	text string
	same bool
}{
	{`echo hi # ; echo ran`, false},
	{`echo hi;# echo ran`, false},
	{`# echo; echo ran`, false},
	{"echo a\n# plain words\necho b", false},
	{"# plain words, and more\necho b", true},
	{"# one\n# two-three/four\necho b", true},
	{"#\necho b", true},
	{"# it's\necho 'b", false},
	{"# a `echo ran`\necho b", false},
	{"#!/bin/sh\necho b", false},
	{"#x\necho b", false},
	{"echo a &&\n# plain\necho b", false},
	{"echo a#b", false},
	{"echo '# no comment'", true},
	{`echo "# no comment"`, true},
	{"echo one\necho !!", false},
	{"echo one\necho !$", false},
	{"echo one\necho \"x!!\"", false},
	{`echo "hi!"`, false},
	{`echo 'hi!'`, true},
	{`echo 'a !b' !`, true},
	{`echo "a" '!b'`, false}, // more than it must
	{"echo 'a\n!!'", false},
	{"echo 'a\nb' '!x '", false},
	{"echo 'a\n' !x '\n'", false},
	{"echo one\n^one^two", false},
	{"echo 'a\n^one^two'", false},
	{`[ a != b ]`, true},
	{`echo a ! b`, true},
	{`echo a!b`, false},
	{`echo a\!b`, false},
	{"echo a\tb", false},
	{`=echo ran`, false},
	{`echo =ls`, false},
	{`echo x==ls`, true},
	{`echo ~+`, false},
	{`echo x=~/y`, false},
	{`ls **`, false},
	{`ls a(e:id:)`, false},
	{`echo $x[1]`, false},
	{`echo ${(e)x}`, false},
	{`echo {a,b}`, false},
	{`echo <1-3>`, false},
	{`echo a^b`, false},
	{`setopt nullglob; echo a`, false},
	{`noglob echo a`, false},
	{`- echo ran`, false},
	{`repeat 2 echo ran`, false},
	{`chdir sub; echo a`, false},
	{`r echo`, false},
	{`fc -s`, false},
	{`log`, false},
	{`cd +1; echo a`, false},
	{`%echo`, false},
	{`echo %1`, true},
	{`echo a &! echo ran`, false},
	{`echo a |& cat`, false},
	{`echo 1..3 @x ,y +z`, true},
	{`echo 'it''s'`, true},
	{`coproc echo a`, false},
	{`time echo a`, false},
	{`if true; then echo a; fi`, false},
	{`foreach x (a b); echo a; end`, false},
	{`echo a; echo b && echo c | cat`, true},
	{`printf '%s' a`, true},
}

func TestTypedTexts(t *testing.T) {
	for _, test := range typed {
		plan := invented().Analyze(t.Context(), &approval.Request{Text: test.text, Cwd: "/home/ann/p", Who: approval.Theirs}, approvaltest.Named("/home/ann/p"))
		if passes := plan.Root != nil && len(plan.Findings) == 0 && !found(plan); passes != test.same {
			t.Errorf("%q: %s", test.text, show(plan))
		}
	}
	// What a comment hides from us may run there, and the floor sees it.
	hidden := invented().Analyze(t.Context(), &approval.Request{Text: "ls # ; rm -rf /", Cwd: "/home/ann/p", Who: approval.Theirs}, approvaltest.Named("/home/ann/p"))
	if !floored(hidden) {
		t.Errorf("nothing was seen in a comment: %s", show(hidden))
	}
	// A text that we run ourselves, or a shell that was started with it, has comments.
	for _, req := range []*approval.Request{
		{Text: "ls # ; rm x", Cwd: "/home/ann/p", Who: approval.Ours},
		{Command: []string{"bash", "-c", "ls # ; rm x"}, Cwd: "/home/ann/p", Who: approval.Theirs},
	} {
		if plan := invented().Analyze(t.Context(), req, approvaltest.Named("/home/ann/p")); plan.Root == nil || len(plan.Segments) != 1 {
			t.Errorf("%v%s: %s", req.Command, req.Text, show(plan))
		}
	}
}

func found(plan approval.Plan) bool {
	return slices.ContainsFunc(plan.Segments, func(s approval.Segment) bool { return len(s.Findings) > 0 })
}

// The shells that are here print the same, whether a text that passes is typed
// into them or handed over.
func TestShellsAgreeOnTypedTexts(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	print := func(text, shell string, args ...string) (string, bool) {
		file, err := exec.LookPath(shell)
		if err != nil {
			return "", false
		}
		run := exec.Command(file, args...)
		run.Dir, run.Env = home, []string{"HOME=" + home, "PATH=/usr/bin:/bin", "PS1=", "PS2=", "PROMPT_SP="}
		if args[len(args)-1] == "-c" {
			run.Args = append(run.Args, text)
		} else {
			run.Stdin = strings.NewReader(text + "\n")
		}
		out, _ := run.Output() // some texts end with a status
		return string(out), true
	}
	for _, test := range typed {
		if !test.same {
			continue
		}
		want, _ := print(test.text, "sh", "-c")
		for _, shell := range [][]string{{"bash", "-c"}, {"bash", "--norc", "-i"}, {"zsh", "-f", "-c"}, {"zsh", "-f", "-i"}, {"dash", "-c"}} {
			if got, there := print(test.text, shell[0], shell[1:]...); there && strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Errorf("%q: %v prints %q, and sh %q", test.text, shell, got, want)
			}
		}
	}
}
