package config

import (
	"reflect"
	"strings"
	"testing"
)

func TestSlash(t *testing.T) {
	for _, row := range []struct {
		text string
		want Slash
	}{
		{"/exec", Slash{Exec: true}},
		{"/exec host=node", Slash{Exec: true, Set: Override{Host: "node"}}},
		{"/exec: host:gateway security=full ask:off node=mini", Slash{Exec: true, Set: Override{"gateway", "full", "off", "mini"}}},
		{"/exec host=node host=sandbox", Slash{Exec: true, Set: Override{Host: "sandbox"}}},
		{"/exec host=auto", Slash{Exec: true, Auto: true}},
		{"/exec host=auto host=node", Slash{Exec: true, Set: Override{Host: "node"}}},
		{"/exec host=node host=auto save", Slash{Exec: true, Auto: true, Save: true}},
		{"please /exec HOST=node run it ask=off", Slash{Exec: true, Set: Override{Host: "node"}, Rest: "please run it ask=off"}},
		{"/exec ask=never host=moon node= then", Slash{Exec: true, Bad: []string{"ask=never", "host=moon", "node="}, Rest: "then"}},
		{"/exec color=red", Slash{Exec: true, Rest: "color=red"}},
		{"/exec\nhost=node\nls", Slash{Exec: true, Set: Override{Host: "node"}, Rest: "ls"}},
		{"/elevated on", Slash{Elevated: "on"}},
		{"go /elev Approve now", Slash{Elevated: "ask", Rest: "go now"}},
		{"/elevated:full", Slash{Elevated: "full"}},
		{"/elevated 0", Slash{Elevated: "off"}},
		{"/elevated", Slash{}},
		{"/elevated maybe", Slash{Bad: []string{"maybe"}, Rest: "maybe"}},
	} {
		if got, ok := ParseSlash(row.text); !ok || !reflect.DeepEqual(got, row.want) {
			t.Errorf("%q\n got %+v %v\nwant %+v", row.text, got, ok, row.want)
		}
	}
	for _, text := range []string{"", "exec host=node", "run /executive", "a/exec host=node", "/execs", "//exec", "/elevatedon", "/bin/exec"} {
		if got, ok := ParseSlash(text); ok || got.Rest != text {
			t.Errorf("%q is a command: %+v", text, got)
		}
	}
}

func FuzzSlash(f *testing.F) {
	f.Add("please /exec host=node ask:off then")
	f.Fuzz(func(t *testing.T, text string) {
		s, ok := ParseSlash(text)
		if again, still := ParseSlash(s.Rest); ok && still && again.Exec == s.Exec && len(s.Rest) >= len(text) {
			t.Errorf("%q leaves %q", text, s.Rest)
		} else if !ok && s.Rest != text {
			t.Errorf("%q becomes %q", text, s.Rest)
		}
		if strings.ContainsAny(s.Set.Node, " \t\r\n") {
			t.Errorf("%q names the node %q", text, s.Set.Node)
		}
	})
}

func TestOver(t *testing.T) {
	if got := (Override{Host: "node", Ask: "off"}).Over(Override{Host: "gateway", Security: "full", Node: "mini"}); got != (Override{"node", "full", "off", "mini"}) {
		t.Errorf("%+v", got)
	}
}
