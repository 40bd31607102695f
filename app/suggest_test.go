//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
)

// What a person allowed again and again is suggested, is saved as it was shown,
// passes then, and is taken back with one undo.
func TestSuggestions(t *testing.T) {
	a := newTestApp(t, askMe)
	at := filepath.Join(a.person.Home, "tool")
	if err := os.WriteFile(at, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		answers := a.agent(t.Context(), "main", at, "build", "x")
		a.question()
		p := a.host.Waiting()[0]
		if err := a.host.Answer(p.ID, pending.Shown{Digest: p.Digest(), Count: 1}, approval.Answer{Decision: approval.AllowOnce, By: "panel"}); err != nil {
			t.Fatal(err)
		}
		a.answer(answers)
	}
	list := a.activity.Suggestions()
	if len(list) != 1 || list[0].Saved != 3 || list[0].Agent.ID != "main" || !list[0].Entries[0].ArgsExact || list[0].Exact.Pattern != at {
		t.Fatalf("suggested: %+v", list)
	}
	if saved := a.settings.AddSuggested(list[0].ID); saved.OK {
		t.Error("it was saved though the settings are not in sight")
	}
	a.openSettings()
	a.settings.Ready()
	a.eventually("the settings are in sight", a.edits)
	for _, id := range []string{"", "x", list[0].ID + "x"} {
		if saved := a.settings.AddSuggested(id); saved.OK {
			t.Errorf("%q was saved", id)
		}
	}
	if saved := a.settings.AddSuggested(list[0].ID); !saved.OK || !saved.CanUndo {
		t.Fatalf("%+v", saved)
	}
	entries := a.file().Agents["main"].Allowlist
	if len(entries) != 1 || len(entries[0].Identity) != 1 || entries[0].Identity[0].SHA256 == "" || entries[0].AddedBy != "suggestion" {
		t.Errorf("written: %+v", entries)
	}
	if got := a.answer(a.agent(t.Context(), "main", at, "build", "x")); !got.Success {
		t.Errorf("it does not hold: %+v", got)
	}
	if again := a.activity.Suggestions(); len(again) != 0 {
		t.Errorf("it is suggested though it is there: %+v", again)
	}
	undone := a.settings.Undo()
	if agent := a.file().Agents["main"]; !undone.OK || agent != nil && len(agent.Allowlist) != 0 {
		t.Errorf("%+v", undone)
	}
}

// allow answers a request of main with a yes for one run, so many times.
func (a *testApp) allow(times int, command ...string) {
	a.t.Helper()
	for range times {
		answers := a.agent(a.t.Context(), "main", command...)
		a.question()
		p := a.host.Waiting()[0]
		if err := a.host.Answer(p.ID, pending.Shown{Digest: p.Digest(), Count: 1}, approval.Answer{Decision: approval.AllowOnce, By: "panel"}); err != nil {
			a.t.Fatal(err)
		}
		a.answer(answers)
	}
}

// tools makes programs in the person's home.
func (a *testApp) tools(names ...string) (paths []string) {
	a.t.Helper()
	for _, name := range names {
		at := filepath.Join(a.person.Home, name)
		if err := os.WriteFile(at, []byte("#!/bin/sh\n"), 0o755); err != nil {
			a.t.Fatal(err)
		}
		paths = append(paths, at)
	}
	return paths
}

// TestSuggestionsOfSeveral: two entries are added with one click, and taken back
// with one undo.
func TestSuggestionsOfSeveral(t *testing.T) {
	a := newTestApp(t, askMe)
	at := a.tools("one", "two")
	text := []string{"sh", "-c", at[0] + " a; " + at[1] + " b"}
	a.allow(3, text...)
	list := a.activity.Suggestions()
	if len(list) != 1 || len(list[0].Entries) != 2 || list[0].Exact != nil || list[0].Saved != 3 {
		t.Fatalf("suggested: %+v", list)
	}
	a.openSettings()
	a.settings.Ready()
	a.eventually("the settings are in sight", a.edits)
	if saved := a.settings.AddSuggested(list[0].ID); !saved.OK || !saved.CanUndo {
		t.Fatalf("%+v", saved)
	}
	for _, e := range a.file().Agents["main"].Allowlist {
		if len(e.Identity) != 1 || e.Identity[0].SHA256 == "" || e.AddedBy != "suggestion" || !e.ArgsExact || e.Cwd == "" {
			t.Errorf("written: %+v", e)
		}
	}
	if got := a.answer(a.agent(t.Context(), "main", text...)); !got.Success {
		t.Errorf("they do not hold: %+v", got)
	}
	undone := a.settings.Undo()
	if agent := a.file().Agents["main"]; !undone.OK || agent != nil && len(agent.Allowlist) != 0 {
		t.Errorf("%+v %+v", undone, agent)
	}
	a.allow(1, text...) // it asks again
}

// TestTurnDownASuggestion: it is gone for good, on the panel too, nothing is written
// into the policy, and another one comes.
func TestTurnDownASuggestion(t *testing.T) {
	a := newTestApp(t, askMe)
	at := a.tools("one", "two")
	a.allow(3, at[0], "a")
	list := a.activity.Suggestions()
	if len(list) != 1 {
		t.Fatalf("suggested: %+v", list)
	}
	id, before := list[0].ID, a.host.Policy().Hash
	if saved := a.settings.TurnDown(id); saved.OK || len(a.activity.Suggestions()) != 1 {
		t.Error("it was turned down though the settings are not in sight")
	}
	a.openSettings()
	a.settings.Ready()
	a.eventually("the settings are in sight", a.edits)
	for _, other := range []string{"", "x", id + "x"} {
		if saved := a.settings.TurnDown(other); saved.OK {
			t.Errorf("%q was turned down", other)
		}
	}
	if saved := a.settings.TurnDown(id); !saved.OK || saved.CanUndo {
		t.Fatalf("%+v", saved)
	}
	if list := a.activity.Suggestions(); len(list) != 0 || a.host.Policy().Hash != before {
		t.Errorf("after that: %+v", list)
	}
	if saved := a.settings.AddSuggested(id); saved.OK {
		t.Error("what was turned down was added")
	}
	answers := a.agent(t.Context(), "main", at[0], "a")
	a.question()
	p := a.host.Waiting()[0]
	told := a.approvals.Replay(p.ID)
	if i := slices.IndexFunc(told, func(r shown.Replayed) bool { return r.Width == approval.WidthExact }); i < 0 || !told[i].TurnedDown || told[i].Yes != 3 {
		t.Errorf("the panel is told %+v", told)
	}
	if err := a.host.Answer(p.ID, pending.Shown{Digest: p.Digest(), Count: 1}, approval.Answer{Decision: approval.DecisionDeny, By: "panel"}); err != nil {
		t.Fatal(err)
	}
	a.answer(answers)
	a.allow(3, at[1], "b")
	if list := a.activity.Suggestions(); len(list) != 1 || list[0].Exact.Pattern != at[1] {
		t.Errorf("another one: %+v", list)
	}
}
