//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/starts"
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

// Tests and builds of a project that the person named are allowed together, from the
// panel and in the settings; what is no test or build is not offered, nor what lies
// elsewhere. One undo takes all of it back.
func TestProjectCommands(t *testing.T) {
	a := newTestApp(t, askMe)
	if found, err := a.host.Find(t.Context(), "make"); err != nil || found == nil {
		t.Skip("make is not here")
	}
	if err := os.WriteFile(filepath.Join(a.project, "Makefile"), []byte("test deploy:\n\t@:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rules := func() int { return len(a.host.Policy().Policy("main").Allowlist) }
	before := rules()

	answers := a.agent(t.Context(), "main", "make", "deploy")
	q := a.question()
	a.look(q.ID)
	if offer := a.approvals.StartFor(q.ID); offer.Start != "" {
		t.Errorf("%+v", offer)
	}
	for _, start := range starts.Names {
		if got := a.approvals.TakeStartFor(q.ID, q.Seen, string(start)); got.OK || rules() != before {
			t.Errorf("%s: %+v, %d rules", start, got, rules())
		}
	}
	a.approvals.Decide(q.ID, q.Seen, "deny", "")
	a.answer(answers)

	answers = a.agent(t.Context(), "main", "make", "test")
	q = a.question()
	offer := a.approvals.StartFor(q.ID)
	if offer.Start != string(starts.ProjectCommands) || offer.Times != 0 || offer.Folder != "~/project" || offer.Name != "project" || offer.Rules == 0 {
		t.Fatalf("%+v", offer)
	}
	if got := a.approvals.TakeStartFor(q.ID, q.Seen, "project-commands"); got.OK {
		t.Error("allowed before anybody looked")
	}
	a.look(q.ID)
	if got := a.approvals.TakeStartFor(q.ID, q.Seen, "project-commands"); !got.OK || rules() != before+offer.Rules {
		t.Errorf("%+v, %d rules", got, rules())
	}
	if got := a.answer(answers); !got.Success {
		t.Errorf("%+v", got)
	}
	for _, p := range a.settings.Lists("main").Projects {
		if !p.Commands {
			t.Errorf("%+v", p)
		}
	}
	if got := a.approvals.Undo(q.ID); !got.OK || rules() != before {
		t.Errorf("%+v, %d rules", got, rules())
	}

	if got := a.settings.AllowProject("main", a.settings.Policy("main").Rev, a.project); got.OK {
		t.Error("allowed by a page that nobody sees")
	}
	a.settingsInSight()
	for _, folder := range []string{"", a.person.Home, filepath.Join(a.project, "inner"), "project"} {
		if got := a.settings.AllowProject("main", a.settings.Policy("main").Rev, folder); got.OK {
			t.Errorf("allowed in %q", folder)
		}
	}
	mustSave(t, a.settings.AllowProject("main", a.settings.Policy("main").Rev, a.project))
	if got := rules(); got != before+offer.Rules {
		t.Errorf("%d rules", got)
	}
	mustSave(t, a.settings.Undo())
	if got := rules(); got != before {
		t.Errorf("%d rules", got)
	}
}

// After three commands that only read, what only reads in the project is suggested. It
// counts there alone, and one undo takes it back.
func TestReadingCommands(t *testing.T) {
	a := newTestApp(t, askMe)
	rules := func() int { return len(a.host.Policy().Policy("main").Allowlist) }
	ask := func(argv ...string) (q shown.Question, answers <-chan ipc.ExecAnswer) {
		answers = a.agent(t.Context(), "main", argv...)
		q = a.question()
		a.look(q.ID)
		return q, answers
	}
	for i, file := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(a.project, file), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		q, answers := ask("cat", file)
		if offer := a.approvals.StartFor(q.ID); offer.Start != string(starts.DeveloperTools) || offer.Times != 0 || offer.Folder != "~/project" {
			t.Errorf("after %d: %+v", i, offer)
		}
		a.approvals.Decide(q.ID, q.Seen, "allow-once", "")
		a.answer(answers)
	}
	q, answers := ask("wc", "a")
	offer := a.approvals.StartFor(q.ID)
	if offer.Start != string(starts.DeveloperTools) || offer.Times != 3 || offer.Rules < 10 {
		t.Fatalf("%+v", offer)
	}
	before, mode := rules(), a.host.Policy().Policy("main")
	if got := a.approvals.TakeStartFor(q.ID, q.Seen, string(offer.Start)); !got.OK || rules() != before+offer.Rules {
		t.Errorf("%+v, %d rules", got, rules())
	}
	if got := a.answer(answers); !got.Success {
		t.Errorf("%+v", got)
	}
	held := a.host.Policy().Policy("main")
	if held.Ask != mode.Ask || held.Security != mode.Security {
		t.Errorf("the mode is another one: %s %s", held.Security, held.Ask)
	}
	for _, e := range held.Allowlist {
		if e.Cwd != a.project || e.AddedFor != q.ID {
			t.Fatalf("%+v", e)
		}
	}
	if got := a.answer(a.agent(t.Context(), "main", "head", "-2", "b")); !got.Success {
		t.Errorf("it does not pass: %+v", got)
	}
	if got := a.approvals.Undo(q.ID); !got.OK || rules() != before {
		t.Errorf("%+v, %d rules", got, rules())
	}

	// What was denied once among these is not suggested.
	q, answers = ask("wc", "b")
	a.approvals.Decide(q.ID, q.Seen, "deny", "")
	a.answer(answers)
	q, answers = ask("wc", "c")
	if offer := a.approvals.StartFor(q.ID); offer.Start != string(starts.DeveloperTools) || offer.Times != 0 {
		t.Errorf("after a no: %+v", offer)
	}
	a.approvals.Decide(q.ID, q.Seen, "deny", "")
	a.answer(answers)
}
