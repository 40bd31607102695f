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

// TestFirstRunOffersHooks: once it is chosen how agents start, those that are
// here are offered; nothing is written by itself, and any way out is one.
func TestFirstRunOffersHooks(t *testing.T) {
	for _, c := range []struct {
		name, start  string
		folders      []string
		offers, warn bool
		out          func(a *testApp)
	}{
		{"nobody is here", "ask-me", nil, false, false, nil},
		{"only one without a settings file", "ask-me", []string{".opencode"}, false, false, nil},
		{"skipped", "ask-me", []string{".claude", ".gemini"}, true, false, func(a *testApp) { a.settings.LeaveFirstRun() }},
		{"all is denied", "deny-all", []string{".claude"}, true, true, func(a *testApp) { a.settings.LeaveFirstRun() }},
		{"closed", "developer-tools", []string{".claude"}, true, false, func(a *testApp) { a.keepOpen(); a.settingsInSight() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newTestApp(t, "")
			a.testHooks()
			for _, name := range c.folders {
				if err := os.Mkdir(filepath.Join(a.person.Home, name), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			a.settings.Ready()
			if a.approvals.Screen("").OffersHooks {
				t.Error("hooks are offered before the choice")
			}
			mustSave(t, a.settings.Choose(c.start))
			s := a.approvals.Screen("")
			if _, size, _ := a.window.is(); s.FirstRun || !s.Settings || s.OffersHooks != c.offers || (size == firstRunSize) != c.offers {
				t.Fatalf("%+v in %v", s, size)
			}
			if !c.offers {
				return
			}
			file := filepath.Join(a.person.Home, ".claude", "settings.json")
			change := a.settings.PlanHook("claude-code", false)
			if _, err := os.Stat(file); err == nil || change.ID == "" || (change.Warning != "") != c.warn {
				t.Errorf("%v %+v", err, change)
			}
			if saved := a.settings.ApplyHook(change.ID); !saved.OK {
				t.Error(saved.Message)
			}
			if _, err := os.Stat(file); err != nil {
				t.Error(err)
			}
			if !a.approvals.Screen("").OffersHooks {
				t.Error("one hook ends the offer")
			}
			c.out(a)
			s = a.approvals.Screen("")
			if _, size, _ := a.window.is(); !s.Settings || s.OffersHooks || size != settingsSize {
				t.Errorf("left, it shows %+v in %v", s, size)
			}
		})
	}
}

// TestFirstRunIsLeftInSight: a page that nobody sees ends nothing.
func TestFirstRunIsLeftInSight(t *testing.T) {
	a := newTestApp(t, askMe)
	a.offerHooks(true)
	if a.settings.LeaveFirstRun(); !a.approvals.Screen("").OffersHooks {
		t.Error("it is over")
	}
	a.settings.Ready()
	if a.settings.LeaveFirstRun(); a.approvals.Screen("").OffersHooks {
		t.Error("it goes on")
	}
}
