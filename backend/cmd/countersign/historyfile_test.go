//go:build linux || darwin

package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/history"
)

// written makes the state folder with a history of 25 rows, and with nothing else.
func (w *world) written(t *testing.T) {
	t.Helper()
	if err := os.Mkdir(w.state.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := history.Open(history.Options{Path: w.state.History()})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 25 {
		if err := db.Put(history.Row{ID: "row" + string(rune('a'+i)), State: history.Done, Command: "row"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// inFolder is what the state folder has, but for the lock that each command takes.
func (w *world) inFolder(t *testing.T) map[string]string {
	t.Helper()
	list, err := os.ReadDir(w.state.Dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, item := range list {
		if at := filepath.Join(w.state.Dir, item.Name()); at != w.state.Lock() {
			all[item.Name()] = fileText(t, at)
		}
	}
	return all
}

func (w *world) alter(t *testing.T, stmt string) {
	t.Helper()
	db, err := sql.Open("sqlite", w.state.History())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(stmt); err != nil {
		t.Fatal(err)
	}
}

// TestHistoryFile reads the history without a host: whole, it needs nothing else
// of the folder; damaged, each command fails and leaves it as it is.
func TestHistoryFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, policy, want string // want is what verify says, "" for all well
		damage             func(t *testing.T, w *world)
	}{
		{"whole", `{"version": 1}`, "", func(*testing.T, *world) {}},
		{"no policy", "", "", func(*testing.T, *world) {}},
		{"broken policy", "{", "", func(*testing.T, *world) {}},
		{"a byte of the header", `{"version": 1}`, "is broken", func(t *testing.T, w *world) {
			text := []byte(fileText(t, w.state.History()))
			text[3] ^= 1
			overwrite(t, w.state.History(), string(text))
		}},
		{"garbage", `{"version": 1}`, "is broken", func(t *testing.T, w *world) { overwrite(t, w.state.History(), "garbage") }},
		{"emptied", `{"version": 1}`, "is broken", func(t *testing.T, w *world) { overwrite(t, w.state.History(), "") }},
		{"a view for the table", `{"version": 1}`, "is broken", func(t *testing.T, w *world) {
			w.alter(t, "ALTER TABLE runs RENAME TO rows; CREATE VIEW runs AS SELECT * FROM rows WHERE id <> 'rowc'")
		}},
		{"a trigger", "", "is broken", func(t *testing.T, w *world) {
			w.alter(t, "CREATE TRIGGER forget AFTER INSERT ON runs BEGIN DELETE FROM runs; END")
		}},
		{"missing", `{"version": 1}`, "there is no history", func(t *testing.T, w *world) { os.Remove(w.state.History()) }},
		{"missing, no policy", "", "there is no history", func(t *testing.T, w *world) { os.Remove(w.state.History()) }},
	} {
		w := testWorld(t)
		w.written(t)
		if c.policy != "" {
			overwrite(t, w.state.Approvals(), c.policy)
		}
		c.damage(t, w)
		before := w.inFolder(t)
		for _, words := range [][]string{{"list"}, {"show", "rowb"}, {"export"}, {"verify"}} {
			out, code := w.tried(t, append([]string{"history"}, words...)...)
			if c.want == "" && (code != 0 || !strings.Contains(out, "row")) || c.want != "" && (code != exitError || !strings.Contains(out, c.want)) {
				t.Errorf("%s: %s: code %d, %s", c.name, words[0], code, out)
			}
		}
		if after := w.inFolder(t); !maps.Equal(before, after) {
			t.Errorf("%s: the folder changed", c.name)
		}
		out, _ := w.tried(t, "--json", "doctor")
		if got := historyChecks(t, out); c.want == "is broken" && !strings.Contains(got, c.want) || c.want != "is broken" && got != "" {
			t.Errorf("%s: doctor: %s", c.name, got)
		}
	}
}

// TestHistoryLeft: what is not over where no host runs is named, whoever wrote it.
func TestHistoryLeft(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.written(t)
	if out, code := w.tried(t, "history", "verify"); code != 0 || strings.Contains(out, "no host runs") {
		t.Errorf("code %d, %s", code, out)
	}
	w.alter(t, "UPDATE runs SET state = 'running', link = NULL, chain = NULL WHERE id = 'rowy'; DELETE FROM words WHERE rowid = 25; UPDATE ends SET link = 24, chain = (SELECT chain FROM runs WHERE link = 24) WHERE which = 'last'")
	if out, code := w.tried(t, "history", "verify"); code != 0 || !strings.Contains(out, "no host runs: row 25 rowy.") {
		t.Errorf("code %d, %s", code, out)
	}
}

// historyChecks is what doctor says of the history that is not right.
func historyChecks(t *testing.T, text string) (said string) {
	t.Helper()
	var list []check
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err, text)
	}
	for _, one := range list {
		if one.What == "history" && !one.OK {
			said += one.Say + "\n"
		}
	}
	return said
}

func overwrite(t *testing.T, at, text string) {
	t.Helper()
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestHistoryAside: a history that a host set aside is told by verify and doctor,
// with a host and without one, until the person moves it away.
func TestHistoryAside(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.written(t)
	overwrite(t, w.state.History(), "garbage")
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	told := func(want bool) {
		t.Helper()
		out, code := w.tried(t, "history", "verify")
		if want != (code == exitError) || want != strings.Contains(out, "history.db.broken-") || !strings.Contains(out, "head ") {
			t.Errorf("verify: code %d, %s", code, out)
		}
		if out, _ = w.tried(t, "--json", "doctor"); want != strings.Contains(historyChecks(t, out), "history.db.broken-") {
			t.Errorf("doctor: %s", out)
		}
	}
	told(true)
	w.end(15)
	told(true)
	found, err := filepath.Glob(w.state.History() + ".broken-*")
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if err := os.Rename(found[0], filepath.Join(w.home, "looked at")); err != nil {
		t.Fatal(err)
	}
	told(false)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	told(false)
}
