//go:build linux || darwin

package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestAddVariables: an entry carries variables with exact values, and any value of
// one only with a word more.
func TestAddVariables(t *testing.T) {
	for _, test := range []struct {
		env  string
		any  bool
		deny bool
		want string
	}{
		{"GOOS=linux", false, false, "map[GOOS:[linux]]"},
		{"GOOS=linux|GOOS=darwin|GOOS=linux|X=", false, false, "map[GOOS:[linux darwin] X:[]]"},
		{"X=a=b", false, false, "map[X:[a=b]]"},
		{"PORT=*", false, false, "any value"},
		{"PORT=*", true, false, "map[PORT:[*]]"},
		{"GOOS", false, false, "NAME=VALUE"},
		{"LD_PRELOAD=x", false, false, "NAME=VALUE"},
		{"PATH=*", true, false, "NAME=VALUE"},
		{"GH_TOKEN=x", false, false, "NAME=VALUE"},
		{"A-B=x", false, false, "NAME=VALUE"},
		{"GOOS=linux", false, true, "denylist"},
	} {
		env, err := approvalsAdd{Env: strings.Split(test.env, "|"), Any: test.any, Deny: test.deny}.variables()
		got := fmt.Sprint(env)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %s", test.env, got, test.want)
		}
	}
}

// TestAddedVariables: who adds such an entry is shown what it carries, and the file
// holds it.
func TestAddedVariables(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.policy(t, `{"version": 1}`)
	w.setPassphrase(t)
	if out, err := w.command("approvals", "add", "--env", "PORT=*", "/usr/bin/id").CombinedOutput(); err == nil || !strings.Contains(string(out), "--any-value") {
		t.Errorf("any value without a word more: %v %s", err, out)
	}
	term, p := w.atTerminal(t, "approvals", "add", "--env", "GOOS=linux", "--env", "PORT=*", "--any-value", "/usr/bin/id")
	term.shows(t, "Passphrase to accept ")
	if shown := term.text(); !strings.Contains(shown, "GOOS") || !strings.Contains(shown, "PORT") {
		t.Errorf("it shows %s", shown)
	}
	term.types(t, typedPassphrase+"\n")
	<-p.over
	if shown := w.must(t, "approvals", "list"); !p.ProcessState.Success() || !strings.Contains(shown, "with GOOS=linux and any value of PORT") {
		t.Errorf("%v: the list shows %s", p.ProcessState, shown)
	}
}
