package policy_test

import (
	"fmt"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/policy"
)

// A person may deny what asks first, by its first words or whatever they are.
func TestDenials(t *testing.T) {
	file := func(path string) *approval.Resolution {
		return &approval.Resolution{Path: path, File: approval.File{Path: path}}
	}
	other, starter := approval.KindOther, approval.KindStarter
	tests := []struct {
		name, agent string
		segments    []approval.Segment
		verdicts    []approval.Verdict
		want        string
	}{
		{"words of a command", "main", []approval.Segment{{Argv: []string{"git", "push", "origin", "main"}, Kind: starter, Program: file("/usr/bin/git")}}, nil,
			"[/usr/bin/git push] [/usr/bin/git]"},
		{"a command of a command", "main", []approval.Segment{{Argv: []string{"git", "stash", "drop"}, Kind: starter, Program: file("/usr/bin/git")}}, nil,
			"[/usr/bin/git stash drop] [/usr/bin/git stash] [/usr/bin/git]"},
		{"an option first", "main", []approval.Segment{{Argv: []string{"git", "-C", "x", "push"}, Kind: starter, Program: file("/usr/bin/git")}}, nil, "[/usr/bin/git]"},
		{"no word of a command", "main", []approval.Segment{{Argv: []string{"deploy", "./x", "now"}, Kind: other, Program: file("/opt/deploy")}}, nil, "[/opt/deploy]"},
		{"what it works on", "main", []approval.Segment{{Argv: []string{"rm", "file"}, Kind: approval.KindChanger, Program: file("/usr/bin/rm")}}, nil, "[/usr/bin/rm]"},
		{"alone", "main", []approval.Segment{{Argv: []string{"deploy"}, Program: file("/opt/deploy")}}, nil, "[/opt/deploy]"},
		{"a word that only the run can tell", "main", []approval.Segment{{Argv: []string{"git", "stash", "drop"}, Kind: starter, Program: file("/usr/bin/git"), Open: []approval.Open{{At: 2}}}}, nil,
			"[/usr/bin/git stash] [/usr/bin/git]"},
		{"the second one asks", "main", []approval.Segment{{Argv: []string{"ls"}, Program: file("/usr/bin/ls")}, {Argv: []string{"make", "it"}, Kind: starter, Program: file("/usr/bin/make")}},
			[]approval.Verdict{approval.VerdictAllow, approval.VerdictAsk}, "[/usr/bin/make it] [/usr/bin/make]"},
		{"one program of many names", "main", []approval.Segment{{Argv: []string{"cargo"}, Program: &approval.Resolution{Path: "/home/x/bin/cargo", Link: "/data/x/bin/cargo", File: approval.File{Path: "/opt/rustup"}}}}, nil,
			"[/data/x/bin/cargo]"},
		{"a link of that name", "main", []approval.Segment{{Argv: []string{"tool"}, Program: &approval.Resolution{Path: "/bin/tool", Link: "/bin/tool", File: approval.File{Path: "/opt/v2/tool"}}}}, nil, "[/opt/v2/tool]"},
		{"a wrapper", "main", []approval.Segment{{Argv: []string{"env", "x"}, Kind: approval.KindWrapper, Program: file("/usr/bin/env")}}, nil, ""},
		{"a name that is a pattern", "main", []approval.Segment{{Argv: []string{"x"}, Program: file("/opt/*")}}, nil, ""},
		{"no file", "main", []approval.Segment{{Argv: []string{"x"}}}, nil, ""},
		{"an agent without a name", "", []approval.Segment{{Argv: []string{"x"}, Program: file("/opt/x")}}, nil, ""},
		{"nothing asks", "main", []approval.Segment{{Argv: []string{"x"}, Program: file("/opt/x")}}, []approval.Verdict{approval.VerdictAllow}, ""},
		{"nothing", "main", nil, nil, ""},
	}
	for _, test := range tests {
		j := approval.Judgement{}
		for i := range test.segments {
			v := approval.VerdictAsk
			if test.verdicts != nil {
				v = test.verdicts[i]
			}
			j.Segments = append(j.Segments, approval.SegmentJudgement{Verdict: v})
		}
		got := ""
		for _, rule := range policy.Denials(test.agent, &approval.Plan{Segments: test.segments}, j) {
			got += " " + fmt.Sprint(append([]string{rule.Pattern}, rule.Args...))
		}
		if got != "" {
			got = got[1:]
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
