//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/agents/setup"
)

// TestHookLost: the menu tells that a hook went while the app runs, leads to its
// page, and tells it no more when a person says so there.
func TestHookLost(t *testing.T) {
	a := newTestApp(t, askMe)
	a.testHooks()
	e, err := a.hooks.env()
	if err != nil {
		t.Fatal(err)
	}
	a.work.Go(func() { a.followHooks(t.Context(), e) }) // the app itself found no command line
	a.settingsInSight()
	if saved := a.settings.ApplyHook(a.settings.PlanHook("claude-code", false).ID); !saved.OK {
		t.Fatal(saved.Message)
	}
	file := filepath.Join(a.person.Home, ".claude", "settings.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	const row = "hooks Claude Code no longer asks Countersign…"
	a.eventually("the menu tells it", func() bool { return strings.Contains(a.titles(), row) })
	a.keepOpen()
	a.press("hooks")
	s := a.approvals.Screen("")
	if !s.Settings || s.Page != hooksPage || s.Agent != "" || s.Turn == 0 {
		t.Errorf("%+v", s)
	}
	a.openAgent("main")
	if s := a.approvals.Screen(""); s.Page != "" || s.Agent != "main" {
		t.Errorf("%+v", s)
	}
	a.review(hooksNotice)
	if next := a.approvals.Screen(""); next.Page != hooksPage || next.Turn <= s.Turn {
		t.Errorf("the notification leads to %+v", next)
	}
	a.settings.Ready()
	c := a.settings.PlanHook("claude-code", true)
	if !c.Forgets || c.ID == "" || len(c.Diff) > 0 {
		t.Fatalf("%+v", c)
	}
	if saved := a.settings.ApplyHook(c.ID); !saved.OK {
		t.Fatal(saved.Message)
	}
	a.eventually("the menu tells it no more", func() bool { return !strings.Contains(a.titles(), row) })
	if text, err := os.ReadFile(file); err != nil || string(text) != "{}" {
		t.Errorf("%s %v", text, err)
	}
	a.keepOpen()
	if s := a.approvals.Screen(""); s.Page != "" {
		t.Errorf("closed, it is on %q", s.Page)
	}
}

// TestLostRows: each thing has a row of its own and is told once.
func TestLostRows(t *testing.T) {
	of := func(title string, c setup.Condition, missing bool) setup.State {
		return setup.State{Title: title, Condition: c, Missing: missing}
	}
	gone, changed := of("A", setup.Vanished, false), of("A", setup.Changed, false)
	for _, c := range []struct {
		before, now lost
		rows        []string
		told        string
	}{
		{lost{}, lost{}, nil, ""},
		{lost{}, lost{list: []setup.State{gone}}, []string{"A no longer asks Countersign"}, "A no longer asks Countersign"},
		{lost{list: []setup.State{gone}}, lost{list: []setup.State{gone, gone}}, []string{"A no longer asks Countersign"}, ""},
		{lost{list: []setup.State{gone}}, lost{list: []setup.State{gone, changed}}, []string{"A no longer asks Countersign", "The hook of A was changed"}, "The hook of A was changed"},
		{lost{list: []setup.State{gone, changed}}, lost{list: []setup.State{gone}}, []string{"A no longer asks Countersign"}, ""},
		{
			lost{}, lost{list: []setup.State{of("B", setup.OtherProgram, true), of("B", setup.OtherProgram, false), of("B", setup.Unreadable, false)}},
			[]string{"What B asks is gone", "The hook of B was changed", "The settings of B cannot be read"}, "What B asks is gone",
		},
		{lost{}, lost{unknown: true}, []string{"The record of hooks cannot be read"}, "The record of hooks cannot be read"},
	} {
		if rows := c.now.rows(); !slices.Equal(rows, c.rows) {
			t.Errorf("the rows are %q, want %q", rows, c.rows)
		}
		if told := c.now.since(c.before); told != c.told {
			t.Errorf("after %+v it tells %q, want %q", c.before, told, c.told)
		}
	}
}
