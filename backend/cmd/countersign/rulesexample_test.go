//go:build linux || darwin

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRulesExample: the example of rules and skills that people are shown does
// what is said of it, and README shows this one if it shows any.
func TestRulesExample(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile("testdata/rules.json")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(readme), `"skillBins": [`) && !strings.Contains(string(readme), string(example)) {
		t.Error("README.md shows another example than testdata/rules.json")
	}
	w := testWorld(t)
	w.policy(t, string(example))
	skill := filepath.Join(w.home, "skills", "talk")
	if err := os.Mkdir(filepath.Dir(skill), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(skill, []byte("#!/bin/sh\necho hello\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := w.startHost(nil, "host", "run", "--ask=nobody", "--operate=anyone"); err != nil {
		t.Fatal(err)
	}
	judged := func(agent, server, tool string, args any) string {
		t.Helper()
		input, _ := json.Marshal(map[string]any{"version": 1, "agent": agent, "server": server, "tool": tool, "args": args, "cwd": w.home})
		var said struct{ Decision, Reason string }
		if got := finish(t, inTerminal(w.command("hook", "generic")), string(input)); json.Unmarshal([]byte(got.stdout), &said) != nil {
			t.Fatalf("%+v", got)
		}
		return strings.TrimSpace(said.Decision + " " + said.Reason)
	}
	type object = map[string]any
	for _, c := range []struct {
		agent, server, tool string
		args                object
		want                string
	}{
		{"main", "github", "create_issue", object{"repo": "me/app", "issue": object{"title": "Broken"}}, "allow"},
		{"main", "github", "create_issue", object{"repo": "me/app"}, "allow"},
		{"main", "github", "create_issue", object{"issue": object{"title": "Broken"}}, "deny denylisted"},
		{"main", "github", "create_issue", object{"repo": "you/app"}, "deny denylisted"},
		{"main", "github", "create_issue", object{"repo": "me/app", "issue": object{"title": "broken"}}, "deny denylisted"},
		{"main", "github", "create_issue", object{"repo": "me/app", "labels": []string{"x"}}, "deny denylisted"},
		{"printer", "", "bash_execute", object{"command": "printf hi"}, "allow"},
		{"printer", "", "bash_execute", object{"command": "printf hi; uname"}, "deny denylisted"},
		{"main", "", "bash_execute", object{"command": skill}, "allow"},
	} {
		if got := judged(c.agent, c.server, c.tool, c.args); got != c.want {
			t.Errorf("%s %s/%s %v: %s, want %s", c.agent, c.server, c.tool, c.args, got, c.want)
		}
	}
	for _, c := range []struct {
		agent string
		words []string
		want  string
	}{
		{"printer", []string{"printf", "hi"}, "hi"}, {"printer", []string{"uname"}, ""}, {"main", []string{skill}, "hello\n"},
	} {
		out, _ := w.asks(append([]string{"--agent", c.agent, "--"}, c.words...)...).Output()
		if string(out) != c.want {
			t.Errorf("%s runs %q: %q, want %q", c.agent, c.words, out, c.want)
		}
	}
}
