//go:build linux || darwin

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

func TestWarnings(t *testing.T) {
	a := newTestApp(t, askMe)
	a.settingsInSight()
	for dir, mode := range map[string]os.FileMode{"many": 0o755, "open": 0o777, "none": 0o755} {
		at := filepath.Join(a.person.Home, dir)
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range map[string]int{"many": 51, "open": 2}[dir] {
			if err := os.WriteFile(filepath.Join(at, fmt.Sprint("tool", i)), []byte("#!/usr/bin/true\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(at, mode); err != nil {
			t.Fatal(err)
		}
	}
	old, young := time.Now().Add(-91*24*time.Hour).UnixMilli(), time.Now().Add(-89*24*time.Hour).UnixMilli()
	tests := []struct {
		entry approval.Entry
		want  shown.Warning
	}{
		{approval.Entry{Pattern: "/usr/bin/id"}, ""},
		{approval.Entry{Pattern: "id"}, ""},
		{approval.Entry{Pattern: "~/many/*"}, shown.WarnBroad},
		{approval.Entry{Pattern: "~/many/*", Disabled: true}, ""},
		{approval.Entry{Pattern: "**/id"}, shown.WarnBroad},
		{approval.Entry{Pattern: "/bin/sh"}, shown.WarnCode},
		{approval.Entry{Pattern: "sh"}, shown.WarnCode},
		{approval.Entry{Pattern: "/bin/s?"}, shown.WarnCode},
		{approval.Entry{Pattern: "~/open/*"}, shown.WarnWritable},
		{approval.Entry{Pattern: "~/open/tool1"}, ""},
		{approval.Entry{Pattern: "~/none/tool1"}, shown.WarnNothing},
		{approval.Entry{Pattern: "no-such-program-here"}, shown.WarnNothing},
		{approval.Entry{Pattern: "~/open"}, shown.WarnNothing},
		{approval.Entry{Pattern: "/usr/bin/id", LastUsedAt: old}, shown.WarnUnused},
		{approval.Entry{Pattern: "/usr/bin/id", AddedAt: old}, shown.WarnUnused},
		{approval.Entry{Pattern: "/usr/bin/id", AddedAt: old, LastUsedAt: young}, ""},
		{approval.Entry{Pattern: "/bin/sh", LastUsedAt: old}, shown.WarnCode},
	}
	if _, err := a.host.Update(func(d *store.Document) error {
		for i, test := range tests {
			test.entry.ID, test.entry.Note = fmt.Sprint("e", i), fmt.Sprint(i)
			d.Agent("main").Allowlist = append(d.Agent("main").Allowlist, store.Entry{Entry: test.entry})
		}
		d.Add(shown.Every, approval.Entry{ID: "all", Pattern: "/bin/bash"})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	look := func(agent string) shown.Warnings { // for as long as it takes
		return a.warnings(a.newSurvey(t.Context(), patience), a.settings.Policy(agent).Allowlist)
	}
	found := look("main")
	got := map[string]shown.EntryWarning{}
	for _, w := range found.List {
		got[w.ID] = w
	}
	for i, test := range tests {
		if w := got[fmt.Sprint("e", i)]; w.Kind != test.want {
			t.Errorf("%+v: %+v, want %q", test.entry, w, test.want)
		}
	}
	if w := got["e2"]; w.Count != 51 || w.From != shown.FromHere || found.Partial {
		t.Errorf("%+v", w)
	}
	if w := got["e8"]; w.Folder != "~/open" || w.Count != 2 {
		t.Errorf("%+v", w)
	}
	if w := got["e13"]; w.Days != 91 {
		t.Errorf("%+v", w)
	}
	if ids := a.settings.Policy(shown.Every).Allowlist; len(ids) != 1 || got[ids[0].ID].From != shown.FromEvery {
		t.Errorf("%+v", got)
	}
	if none := look("nobody"); none.List == nil || len(none.List) != 1 {
		t.Errorf("%+v", none)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	late := a.warnings(a.newSurvey(ctx, patience), a.settings.Policy("main").Allowlist)
	for _, w := range late.List {
		if w.Kind != shown.WarnUnused {
			t.Errorf("without time: %+v", w)
		}
	}
	if !late.Partial {
		t.Error("it does not say that it had no time")
	}
	if n := len(a.settings.Warnings(shown.Every).List); n > 1 {
		t.Errorf("%d warnings", n)
	}
}
