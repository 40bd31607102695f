//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/agents/setup"
)

// testHooks has the app write hooks into the settings of agents.
func (a *testApp) testHooks() (program string) {
	a.t.Helper()
	program = filepath.Join(a.person.Home, "countersign")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		a.t.Fatal(err)
	}
	a.hooks.env = func() (setup.Env, error) {
		return setup.Env{Home: a.person.Home, Program: program, State: a.state, Denies: a.denies, Getenv: func(string) string { return "" }, Now: time.Now}, nil
	}
	return program
}

// TestHooksPage: what is shown is what is written, once, and only while the
// settings are in sight.
func TestHooksPage(t *testing.T) {
	a := newTestApp(t, "")
	program := a.testHooks()
	list := a.settings.Hooks()
	if len(list) != len(setup.Agents()) {
		t.Fatalf("%d agents", len(list))
	}
	for _, h := range list {
		if h.Gone == "" || h.Nobody == "" || h.Can == nil || h.BlindSpots == nil || h.Notes == nil || h.Elsewhere == nil {
			t.Errorf("%+v", h)
		}
	}
	file := filepath.Join(a.person.Home, ".claude", "settings.json")
	c := a.settings.PlanHook("claude-code", false)
	if c.ID == "" || c.File != file || !strings.Contains(strings.Join(c.Diff, "\n"), "+") {
		t.Fatalf("%+v", c)
	}
	if saved := a.settings.ApplyHook(c.ID); saved.OK {
		t.Error("it was written while no settings were in sight")
	}
	a.openSettings()
	a.settings.Ready()
	if saved := a.settings.ApplyHook("other"); saved.OK {
		t.Error("a change that was not shown was made")
	}
	if _, err := os.Stat(file); err == nil {
		t.Fatal("the file is there")
	}
	c = a.settings.PlanHook("claude-code", false)
	if saved := a.settings.ApplyHook(c.ID); !saved.OK {
		t.Fatal(saved.Message)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), program) {
		t.Errorf("%s %v", text, err)
	}
	if saved := a.settings.ApplyHook(c.ID); saved.OK {
		t.Error("it was made twice")
	}
	if again := a.settings.PlanHook("claude-code", false); again.ID != "" {
		t.Errorf("there is something left to do: %+v", again)
	}
	c = a.settings.PlanHook("claude-code", true)
	if saved := a.settings.ApplyHook(c.ID); !saved.OK {
		t.Fatal(saved.Message)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is still there")
	}
	// A policy that is nobody's choice yet denies everything.
	for _, denied := range []bool{true, false} {
		if c := a.settings.PlanHook("codex", false); strings.Contains(c.Warning, "Codex may run nothing") != denied {
			t.Errorf("denied is %v, and it says %q", denied, c.Warning)
		}
		if denied {
			a.settings.SetMode("codex", shown.Rev(a.host.Policy().Document, "codex"), "ask-when-needed")
		}
	}
	if c := a.settings.PlanHook("nobody", false); c.Problem == "" || c.Diff == nil {
		t.Errorf("%+v", c)
	}
	a.hooks.env = func() (setup.Env, error) { return setup.Env{}, errNoCommandLine }
	if c := a.settings.PlanHook("codex", false); c.Problem == "" {
		t.Error("without the command line a hook is offered")
	}
	if trial := a.settings.TryHook("codex"); trial.Problem == "" {
		t.Error("without the command line a hook is tried")
	}
}
