//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"testing"

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
	if len(list) != 1 || list[0].Saved != 3 || list[0].Agent.ID != "main" || !list[0].Entry.ArgsExact || list[0].Exact.Pattern != at {
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
