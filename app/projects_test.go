//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

// The settings name folders for an agent or for every one, by their real path, and
// take back what they say themselves.
func TestProjects(t *testing.T) {
	a := newTestApp(t, askMe)
	home := a.person.Home
	for _, dir := range []string{"work", ".config/gcloud"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("work", filepath.Join(home, "way")); err != nil {
		t.Fatal(err)
	}
	add := func(agent, folder string) Saved {
		return a.settings.AddTo(agent, a.settings.Policy(agent).Rev, "projects", folder)
	}
	list := func(agent string) (rows string) {
		for _, p := range a.settings.Lists(agent).Projects {
			rows += fmt.Sprintln(p.Path, p.No, p.From)
		}
		return rows
	}
	if s := add("main", "~/work"); s.OK {
		t.Error("added by a page that nobody sees")
	}
	a.settingsInSight()
	mustSave(t, add("main", "~/way"))
	ours := "~/project false every\n"
	if got := list("main"); got != ours+"~/work false here\n" {
		t.Errorf("main: %s", got)
	}
	if got := list("other"); got != ours {
		t.Errorf("other: %s", got)
	}
	for _, bad := range []string{"", "work", "~", "/", "/etc", "~/.config/gcloud", "~/nothing"} {
		if s := add("main", bad); s.OK || s.Message == "" {
			t.Errorf("added: %q", bad)
		}
	}
	rev := a.settings.Policy("main").Rev
	for _, other := range []string{"~/work", a.project, "/nothing"} { // not as it is written, of every agent, none
		if s := a.settings.RemoveFrom("main", rev, "projects", other); s.OK {
			t.Errorf("removed: %s", other)
		}
	}
	mustSave(t, a.settings.RemoveFrom("main", rev, "projects", filepath.Join(home, "work")))
	mustSave(t, a.settings.Undo())
	if got := list("main"); got != ours+"~/work false here\n" {
		t.Errorf("after it was taken back: %s", got)
	}
	mustSave(t, add(shown.Every, "~/work"))
	if got := list("other"); got != ours+"~/work false every\n" {
		t.Errorf("for every one: %s", got)
	}
	mustSave(t, a.settings.Undo())
	if got := list("other"); got != ours {
		t.Errorf("after that was taken back: %s", got)
	}

	// What a terminal said of folders is taken back with the rest.
	before := a.host.Policy().Document
	after, err := a.host.Update(func(d *store.Document) error {
		d.Name(approval.Project{Path: filepath.Join(home, "way")})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a.settings.accepted(before, after.Document)
	mustSave(t, a.settings.Undo())
	if got := list("other"); got != ours {
		t.Errorf("after a terminal: %s", got)
	}
}
