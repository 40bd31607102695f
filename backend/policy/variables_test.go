package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/policy"
)

// carrying is a policy with one entry for a program and the variables it carries.
func carrying(pattern string, env map[string][]string) approval.Policy {
	p := onMiss()
	p.Allowlist = []approval.Entry{{Pattern: pattern, Env: env}}
	return p
}

// TestCarriedVariables: an entry covers a program only if it carries each variable
// that reaches it, with this value.
func TestCarriedVariables(t *testing.T) {
	goos := map[string][]string{"GOOS": {"linux", "darwin"}, "PORTS": {"*"}}
	for _, test := range []struct{ line, want string }{
		{"$ tool", "allow"},
		{"$ CI=1 tool", "allow"},
		{"$ GOOS=linux tool", "allow"},
		{"$ GOOS=linux CI=1 PORTS=any tool", "allow"},
		{"$ export GOOS=darwin; tool", "allow"},
		{"$ for GOOS in linux darwin; do export GOOS; tool; done", "allow"},
		{"$ GOOS=plan9 tool", "ask env-asks"},
		{"$ GOOS=Linux tool", "ask env-asks"},
		{"$ goos=linux tool", "ask env-asks"},
		{"$ GOOS= tool", "ask env-asks"},
		{"$ GOOS=linux GOARCH=arm tool", "ask env-asks"},
		{"$ GOOS=linux LD_PRELOAD=x tool", "deny env-refused"},
		{"$ GOOS=linux PATH=/x tool", "ask env-asks"},
		{"$ export GOOS=linux GOOS=plan9; tool", "ask env-asks"},
		{"$ GOOS=$(cat x) tool", "ask runtime-value"},
		{"$ PORTS=$(cat x) tool", "ask runtime-value"},
		{"$ PORTS='a\nb' tool", "ask env-asks"},
		{"$ GOOS=linux cat x", "ask allowlist-miss"},
		{"$ GOOS=linux tool; cat x", "ask allowlist-miss"},
	} {
		check(t, test.line, judge(carrying("/usr/bin/tool", goos), test.line, nil), test.want)
	}
	for _, test := range []struct {
		about string
		env   []approval.Variable
		want  string
	}{
		{"carried", []approval.Variable{{Name: "GOOS", Value: "linux"}}, "allow"},
		{"another value", []approval.Variable{{Name: "GOOS", Value: "x"}}, "ask env-asks"},
		{"any value", []approval.Variable{{Name: "PORTS", Value: "x"}}, "allow"},
		{"one of two", []approval.Variable{{Name: "GOOS", Value: "linux"}, {Name: "X", Value: "x"}}, "ask env-asks"},
		{"not known", []approval.Variable{{Name: "GOOS", Unknown: true}}, "ask env-asks"},
	} {
		got := judge(carrying("/usr/bin/tool", goos), "tool", func(in *policy.Input) { in.Env = test.env })
		check(t, "requested, "+test.about, got, test.want)
	}
}

// TestNobodyCarries: what a file with an entry cannot hold does not count either if
// it is there, and safe bins, skills and commands of ours carry nothing.
func TestNobodyCarries(t *testing.T) {
	all := map[string][]string{"LD_PRELOAD": {"*"}, "PATH": {"*"}, "GH_TOKEN": {"*"}, "BASH_ENV": {"*"}, "SECONDS": {"*"}}
	for line, want := range map[string]string{
		"$ LD_PRELOAD=x tool": "deny env-refused", "$ PATH=/x tool": "ask env-asks", "$ GH_TOKEN=x tool": "ask env-asks",
		"$ BASH_ENV=x tool": "deny env-refused", "$ SECONDS=1 tool": "ask env-asks",
	} {
		check(t, line, judge(carrying("/usr/bin/tool", all), line, nil), want)
	}
	check(t, "a safe bin", judge(onMiss(), "wc", nil), "allow")
	check(t, "a safe bin with a variable", judge(onMiss(), "wc", func(in *policy.Input) { in.Env = []approval.Variable{{Name: "FOO"}} }), "ask allowlist-miss")
	skill := onMiss()
	skill.AutoAllowSkills, skill.Skills = true, []approval.Skill{{Name: "tool", Path: "/opt/a/tool", SHA256: "aa"}}
	accepted := func(in *policy.Input) { in.Hash = func(approval.File) (string, error) { return "aa", nil } }
	check(t, "a skill", judge(skill, "/opt/a/tool", accepted), "allow")
	check(t, "a skill with a variable", judge(skill, "/opt/a/tool", func(in *policy.Input) {
		accepted(in)
		in.Env = []approval.Variable{{Name: "FOO"}}
	}), "ask allowlist-miss")
	refused := onMiss("/usr/bin/tool")
	refused.Security = approval.SecurityFull
	check(t, "a loader under full", judge(refused, "$ env LD_PRELOAD=x tool", nil), "deny env-refused")
	check(t, "an export of one under full", judge(refused, "$ export LD_PRELOAD=x; tool", nil), "deny env-refused")
}

// TestOffersCarry: allow-always is offered where the environment was the reason to
// ask, with the exact values, and never for a secret, a value that is not known, or
// one that would stand for others.
func TestOffersCarry(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"$ GOOS=linux tool build", "/usr/bin/tool map[GOOS:[linux]]"},
		{"$ export GOOS=linux X=1; tool build", "/usr/bin/tool map[GOOS:[linux] X:[1]]"},
		{"$ for GOOS in linux darwin; do export GOOS; tool; done", "/usr/bin/tool map[GOOS:[darwin linux]]"},
		{"$ A=1 tool; B=2 wc x", "/usr/bin/tool map[A:[1]] | /usr/bin/wc map[B:[2]]"},
		{"$ env A=1 tool", "/usr/bin/tool map[A:[1]]"},
		{"$ CI=1 tool", ""},
		{"$ GIT_SSH=./x git status", "/usr/bin/git map[GIT_SSH:[./x]]"},
		{"$ A='*' tool", "none"},
		{"$ GH_TOKEN=x tool", "none"},
		{"$ MY_PASSWORD=x tool", "none"},
		{"$ A=ghp_0123456789abcdefghijABCDEFGHIJ012345 tool", "none"},
		{"$ PATH=/x tool", "none"},
		{"$ A=$(cat x) tool", "none"},
		{"$ LD_PRELOAD=x tool", "none"},
		{"$ A=" + strings.Repeat("x", 5000) + " tool", "none"},
	} {
		j := judge(onMiss("/usr/bin/tool", "/usr/bin/git", "/usr/bin/env", "/usr/bin/wc"), test.line, nil)
		var got []string
		for _, e := range j.Writes {
			got = append(got, fmt.Sprint(e.Pattern, " ", e.Env))
		}
		want := test.want
		if want == "none" {
			want = ""
		}
		if strings.Join(got, " | ") != want {
			t.Errorf("%s: %s offers %q, want %q", test.line, j.Verdict, got, test.want)
		}
		if (test.want == "") != (j.Verdict == approval.VerdictAllow) {
			t.Errorf("%s: %s %s", test.line, j.Verdict, j.Sentence)
		}
		for _, o := range j.Offers { // each lets this very command pass, and no other value
			p := onMiss("/usr/bin/env")
			p.Allowlist = append(p.Allowlist, o.Writes...)
			check(t, test.line+" with the offer "+string(o.Width), judge(p, test.line, nil), "allow")
			if other := strings.NewReplacer("linux", "x", "=1", "=2", "./x", "./y").Replace(test.line); judge(p, other, nil).Verdict == approval.VerdictAllow {
				t.Errorf("%s: the offer %s lets %s pass", test.line, o.Width, other)
			}
		}
		if len(j.Writes) > 0 != (len(j.Offers) > 0) {
			t.Errorf("%s: %d entries and %d offers", test.line, len(j.Writes), len(j.Offers))
		}
	}
}

// TestSentencesNameVariables: a question names each variable, and what it steers.
func TestSentencesNameVariables(t *testing.T) {
	for line, want := range map[string]string{
		"$ HTTPS_PROXY=x FOO=1 tool": "it sets HTTPS_PROXY (endpoint), FOO",
		"$ PERL5LIB=x tool":          "it sets PERL5LIB (code or options of an interpreter)",
		"$ PATH=/x tool":             "it sets PATH (where programs and files are found)",
		"$ FOO=1 FOO=2 wc x":         "no entry covers /usr/bin/wc, and it sets FOO",
		"$ LD_PRELOAD=x tool":        "it sets LD_PRELOAD, which no text may: it loads code into programs",
	} {
		if got := judge(onMiss("/usr/bin/tool"), line, nil); got.Sentence != want {
			t.Errorf("%s: %q, want %q", line, got.Sentence, want)
		}
	}
}
