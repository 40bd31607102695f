//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/ipc"
)

// allowFor answers the one question with the narrowest permission for a while.
func (a *testApp) allowFor(answers <-chan ipc.ExecAnswer, keep string) ipc.ExecAnswer {
	a.t.Helper()
	q := a.question()
	a.look(q.ID)
	if got := a.approvals.Remember(q.ID, q.Seen, "exact", false, keep); !got.OK {
		a.t.Fatalf("%+v", got)
	}
	return a.answer(answers)
}

// latest is the record of the latest request.
func (a *testApp) latest() shown.Record {
	a.t.Helper()
	page := a.activity.List(shown.ActivityFilter{}, 0)
	if len(page.Rows) == 0 {
		a.t.Fatalf("%+v", page)
	}
	return a.activity.Record(page.Rows[0].ID)
}

// What was allowed for an hour is found in the history, becomes an entry as wide
// as is chosen, in the place of the lease, and is taken back.
func TestKeepOffered(t *testing.T) {
	a := newTestApp(t, askMe)
	command := append(tool(a), "build", "x")
	if got := a.allowFor(a.agent(t.Context(), "main", command...), "1h"); !got.Success {
		t.Fatalf("%+v", got)
	}
	rec := a.latest()
	if rec.Outcome != shown.AllowedAWhile || rec.Answer != "1h" || !rec.Keepable {
		t.Errorf("%+v", rec)
	}
	offered := a.activity.Offered(rec.ID)
	if offered.Problem != "" || len(offered.Widths) != 3 || offered.Replaces != 1 || len(offered.Replay) == 0 || offered.Replay[0].Looked != 1 {
		t.Fatalf("%+v", offered)
	}
	if saved := a.settings.KeepOffered(rec.ID, "program", false, "good"); saved.OK {
		t.Error("it was saved though the settings are not in sight")
	}
	a.settingsInSight()
	a.eventually("the settings are in sight", a.edits)
	for _, bad := range [][3]string{{"x", "program", "good"}, {rec.ID, "any", "good"}, {rec.ID, "", "good"}, {rec.ID, "program", "session"}, {rec.ID, "program", "x"}} {
		if saved := a.settings.KeepOffered(bad[0], bad[1], false, bad[2]); saved.OK {
			t.Errorf("%q was saved", bad)
		}
	}
	lease := a.file().Agents["main"].Allowlist
	if saved := a.settings.KeepOffered(rec.ID, "program", false, "good"); !saved.OK || !saved.CanUndo {
		t.Fatalf("%+v", saved)
	}
	list := a.file().Agents["main"].Allowlist
	if len(list) != 1 || list[0].Leased() || list[0].ArgsExact || list[0].AddedBy != "activity" || len(list[0].Identity) != 1 || list[0].Identity[0].SHA256 == "" {
		t.Fatalf("written: %+v", list)
	}
	if got := a.answer(a.agent(t.Context(), "main", command[0], "push")); !got.Success {
		t.Errorf("it does not hold: %+v", got)
	}
	if again := a.activity.Offered(rec.ID); !strings.Contains(again.Problem, "passes already") {
		t.Errorf("%+v", again)
	}
	if saved := a.settings.KeepOffered(rec.ID, "exact", false, "good"); saved.OK || !saved.Conflict {
		t.Errorf("it was saved twice: %+v", saved)
	}
	if undone := a.settings.Undo(); !undone.OK {
		t.Fatalf("%+v", undone)
	}
	if list := a.file().Agents["main"].Allowlist; len(list) != 1 || list[0].ExpiresAt != lease[0].ExpiresAt {
		t.Errorf("after undo: %+v", list)
	}
}

// What cannot become an entry says why.
func TestNothingIsOffered(t *testing.T) {
	a := newTestApp(t, askMe)
	at := tool(a)[0]
	once := func(command ...string) string {
		t.Helper()
		answers := a.agent(t.Context(), "main", command...)
		q := a.question()
		a.look(q.ID)
		a.approvals.Decide(q.ID, q.Seen, "allow-once", "")
		a.answer(answers)
		return a.latest().ID
	}
	refused := func(id, why string) {
		t.Helper()
		if got := a.activity.Offered(id); !strings.Contains(got.Problem, why) || len(got.Widths) > 0 {
			t.Errorf("want %q: %+v", why, got)
		}
	}
	refused("", "not in the history")
	refused("x", "not in the history")
	refused(once("sh", "-c", "eval x"), "cannot be made an entry")
	refused(once(at, "--password", "hunter2"), "secrets were taken out")
	denied := a.agent(t.Context(), "main", at)
	q := a.question()
	a.approvals.Decide(q.ID, q.Seen, "deny", "")
	a.answer(denied)
	refused(a.latest().ID, "did not run")
	if rec := a.latest(); rec.Keepable {
		t.Errorf("%+v", rec)
	}
	id := once(at, "x")
	if got := a.activity.Offered(id); got.Problem != "" || got.Replaces != 0 {
		t.Errorf("%+v", got)
	}
	if err := os.WriteFile(at, []byte("#!/bin/sh\n# another\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	refused(id, "changed since it ran")
	at = filepath.Join(filepath.Dir(at), "second")
	if err := os.WriteFile(at, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	id = once(at, "x")
	a.settingsInSight()
	a.eventually("the settings are in sight", a.edits)
	if saved := a.settings.AddDeny("main", a.settings.Policy("main").Rev, shown.DenyEdit{Pattern: "second"}); !saved.OK {
		t.Fatalf("%+v", saved)
	}
	refused(id, "would be denied now")
}
