package history

import (
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// verified walks the chain and fails where it cannot.
func verified(t testing.TB, d *DB, head string) Report {
	t.Helper()
	r, err := d.Verify(within(t), head)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestChainHolds puts rows in random orders, again and again, trims and opens
// anew: the chain always holds, and what is over stays as it was.
func TestChainHolds(t *testing.T) {
	approvaltest.Long(t)
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			opt := Options{Path: path(t), MaxRows: 40}
			d := open(t, opt)
			over := map[string]string{}
			heads := []string{}
			for i := range 300 {
				row := full()
				row.ID, row.Parent = fmt.Sprint(i-random.IntN(15)), []string{"", "x"}[random.IntN(2)]
				row.State, row.Command = states[random.IntN(len(states))], fmt.Sprint(i)
				put(t, d, row, done(fmt.Sprint(i-16))) // nothing stays open for long
				if random.IntN(4) > 0 {
					continue // some rows meet in one write
				}
				r := verified(t, d, "")
				if r.Broken != nil {
					t.Fatalf("after %d: %+v %+v", i, r, r.Broken)
				}
				heads = append(heads, r.Head)
				for _, row := range list(t, d, Query{Limit: maxLimit}) {
					if was, known := over[row.ID]; known && row.Command != was {
						t.Fatalf("%s was over with %s and is %s now", row.ID, was, row.Command)
					}
					if row.State.over() {
						over[row.ID] = row.Command
					}
				}
				if random.IntN(10) == 0 {
					if err := d.Close(); err != nil {
						t.Fatal(err)
					}
					d = open(t, opt)
				}
			}
			last := verified(t, d, heads[len(heads)-1])
			if last.Removed == 0 {
				t.Error("nothing was trimmed")
			}
			if !last.Held || verified(t, d, strings.Repeat("ab", 32)).Held {
				t.Error("a head that was there is not found, or one that never was")
			}
		})
	}
}

// TestChainNames changes the file by hand and wants the first broken row named.
func TestChainNames(t *testing.T) {
	for _, c := range []struct{ name, stmt, id, why string }{
		{"nothing", "SELECT 1", "", ""},
		{"a word", "UPDATE runs SET command = 'ls -l' WHERE id = 'c'", "c", "changed"},
		{"a denial into a yes", "UPDATE runs SET state = 'done' WHERE id = 'd'", "d", "changed"},
		{"an empty value", "UPDATE runs SET note = 'x' WHERE id = 'b'", "b", "changed"},
		{"a value moved to another column", "UPDATE runs SET note = cwd, cwd = '' WHERE id = 'c'", "c", "changed"},
		{"a hash", "UPDATE runs SET chain = zeroblob(32) WHERE id = 'c'", "c", "changed"},
		{"a row removed", "DELETE FROM runs WHERE id = 'c'", "d", "missing"},
		{"the first one removed", "DELETE FROM runs WHERE id = 'a'", "b", "missing"},
		{"the last one removed", "DELETE FROM runs WHERE id = 'e'", "", "missing at the end"},
		{"all removed", "DELETE FROM runs WHERE link > 0", "", "missing at the end"},
		{"taken out of the chain", "UPDATE runs SET link = NULL, chain = NULL WHERE id = 'e'; UPDATE ends SET link = 4, chain = (SELECT chain FROM runs WHERE id = 'd') WHERE which = 'last'", "e", "not in the chain"},
		{"two in each other's place", "UPDATE runs SET link = 99 WHERE id = 'b'; UPDATE runs SET link = 2 WHERE id = 'c'; UPDATE runs SET link = 3 WHERE id = 'b'", "c", "changed"},
		{"one put in at the end", "INSERT INTO runs SELECT 77, queued, 'z', parent, seq, state, agent_id, session_key, peer_pid, peer_exe, who, command, argv, cwd, env_names, program, verdict, reason, sentence, security, ask, entry, decision, answered_by, note, pgid, pstarted, arrived, asked, answered, started, ended, exit_code, signal, timed_out, output_size, output_hash, error, judged, judged_reason, judged_sentence, 6, chain, risk, choices, choice, texts FROM runs WHERE id = 'e'", "z", "changed"},
		{"the end moved", "UPDATE ends SET chain = zeroblob(32) WHERE which = 'last'", "", "missing at the end"},
		{"the beginning moved", "UPDATE ends SET chain = randomblob(32) WHERE which = 'removed'", "a", "changed"},
		{"when it came", "UPDATE runs SET queued = 1 WHERE id = 'c'", "c", "changed"},
		{"its place", "UPDATE runs SET n = 500 WHERE id = 'c'", "c", "changed"},
		{"two places exchanged", "UPDATE runs SET n = -1 WHERE id = 'a'; UPDATE runs SET n = 1 WHERE id = 'b'; UPDATE runs SET n = 3 WHERE id = 'a'", "a", "changed"},
		{"taken out of the search", "DELETE FROM words WHERE rowid = (SELECT n FROM runs WHERE id = 'b')", "b", "search"},
		{"the first ones removed as if by age", "UPDATE ends SET link = 2, chain = (SELECT chain FROM runs WHERE link = 2) WHERE which = 'removed'; DELETE FROM runs WHERE link <= 2", "", "missing at the beginning"},
		{"the rule before for all", "UPDATE ends SET link = 5, chain = (SELECT chain FROM runs WHERE link = 5) WHERE which = 'placed'", "a", "changed"},
		{"a trimming put in", "INSERT INTO trims VALUES (6, zeroblob(32), 2, 2, '', 0)", "", "changed"},
		{"an open row", "UPDATE runs SET command = 'x' WHERE id = 'open'", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := path(t)
			d := open(t, Options{Path: at})
			put(t, d, done("a"), Row{ID: "open", State: Running}, done("b"), Row{ID: "c", Parent: "open", State: Done, Command: "ls", Cwd: "/x"},
				Row{ID: "d", State: Denied, Verdict: approval.VerdictDeny}, done("e"))
			before := verified(t, d, "")
			if before.Broken != nil || before.Links != 5 || before.Open != 1 {
				t.Fatalf("%+v", before)
			}
			if _, err := d.file.writer.Exec(c.stmt); err != nil {
				t.Fatal(err)
			}
			r := verified(t, d, before.Head)
			switch {
			case c.why == "" && (r.Broken != nil || !r.Held):
				t.Errorf("broken: %+v %+v", r, r.Broken)
			case c.why != "" && (r.Broken == nil || r.Broken.ID != c.id || !strings.Contains(r.Broken.Why, c.why)):
				t.Errorf("broken: %+v, want %s, %s", r.Broken, c.id, c.why)
			}
		})
	}
}

// TestChainOfTheVersionBefore opens a file without the columns that came last:
// its links hold, and so do those of rows that use them.
func TestChainOfTheVersionBefore(t *testing.T) {
	at := path(t)
	d := open(t, Options{Path: at})
	put(t, d, done("a"), done("b"))
	head := verified(t, d, "").Head
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	head = before4(t, at)
	other(t, at, `ALTER TABLE runs DROP COLUMN risk; ALTER TABLE runs DROP COLUMN choices; ALTER TABLE runs DROP COLUMN choice;
		DROP INDEX runs_session; DROP INDEX runs_time; CREATE INDEX runs_queued ON runs (queued); PRAGMA user_version = 2`)
	d = open(t, Options{Path: at})
	row := done("c")
	row.Risk, row.Choices = approval.RiskHigh, []approval.Decision{approval.AllowOnce, approval.DecisionDeny}
	put(t, d, row)
	if r := verified(t, d, head); r.Broken != nil || r.Links != 3 || !r.Held {
		t.Errorf("%+v %+v", r, r.Broken)
	}
	if got := list(t, d, Query{}); got[0].Risk != approval.RiskHigh || len(got[0].Choices) != 2 || got[2].Risk != "" {
		t.Errorf("%+v", got)
	}
	for _, stmt := range []string{"UPDATE runs SET risk = 'low' WHERE id = 'c'", "UPDATE runs SET risk = 'high', choices = NULL WHERE id = 'c'"} {
		if _, err := d.file.writer.Exec(stmt); err != nil {
			t.Fatal(err)
		}
		if r := verified(t, d, ""); r.Broken == nil || r.Broken.ID != "c" {
			t.Errorf("%s: %+v", stmt, r)
		}
	}
}

// TestChainOfAnOldFile opens a file of the first version.
func TestChainOfAnOldFile(t *testing.T) {
	at := path(t)
	values := func(id, state string) string {
		return fmt.Sprintf("(7, '%s', '', 0, '%s', 'main', '', 0, '', '', 'git push', '/', '', '', '', '', '', '', '', '', '', '', 0, 0, '', 0, 0, '', '')", id, state)
	}
	other(t, at, schema1+fmt.Sprintf(`; PRAGMA application_id = %d; PRAGMA user_version = 1;
		INSERT INTO runs (queued, id, parent, seq, state, agent_id, session_key, peer_pid, peer_exe, who, command, cwd, program, verdict, reason, sentence,
		security, ask, entry, decision, answered_by, note, pgid, pstarted, signal, timed_out, output_size, output_hash, error) VALUES %s, %s, %s`,
		application, values("a", "done"), values("b", "running"), values("c", "denied")))
	var c clock // the rows are of its time
	d := open(t, Options{Path: at, Now: c.now})
	if r := verified(t, d, ""); r.Broken != nil || r.Links != 2 || r.Open != 1 {
		t.Errorf("%+v %+v", r, r.Broken)
	}
	if got := ids(list(t, d, Query{Text: "push"})); got != "c a" {
		t.Errorf("found %q", got)
	}
	put(t, d, done("b"))
	if r := verified(t, d, ""); r.Broken != nil || r.Links != 3 {
		t.Errorf("%+v %+v", r, r.Broken)
	}
}

// before5 makes of a file without long texts one of the fourth version.
const before5 = "DROP TABLE texts; DROP TABLE needs; DROP TABLE textwords; ALTER TABLE runs DROP COLUMN texts; PRAGMA user_version = 4"

// before4 makes of a file one of the third version, and returns its head.
func before4(t *testing.T, at string) string {
	t.Helper()
	db, err := sql.Open("sqlite", at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var last []byte
	_, err = tx.Exec("DELETE FROM words; UPDATE runs SET link = NULL, chain = NULL")
	if err = errors.Join(err, chainAll(tx)); err == nil {
		err = tx.QueryRow("SELECT chain FROM ends WHERE which = 'last'").Scan(&last)
	}
	if err == nil {
		_, err = tx.Exec(before5 + "; DROP TABLE trims; DELETE FROM ends WHERE which = 'placed'; PRAGMA user_version = 3")
	}
	if err = errors.Join(err, tx.Commit()); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(last)
}

// TestChainBeforePlaces opens a file whose hashes do not cover n and queued: its
// links hold as they are, the ones after them by the rule of today, and neither
// rule passes for the other.
func TestChainBeforePlaces(t *testing.T) {
	for name, c := range map[string]struct{ stmt, id string }{
		"nothing":            {"SELECT 1", ""},
		"an old row":         {"UPDATE runs SET command = 'x' WHERE id = 'b'", "b"},
		"a new row's time":   {"UPDATE runs SET queued = 1 WHERE id = 'c'", "c"},
		"the bound later":    {"UPDATE ends SET link = 4 WHERE which = 'placed'; UPDATE runs SET queued = 1 WHERE id = 'c'", "c"},
		"the bound earlier":  {"UPDATE ends SET link = 1 WHERE which = 'placed'", "b"},
		"the bound's own":    {"UPDATE trims SET count = 7", ""},
		"the bound's own go": {"DELETE FROM trims", "c"},
	} {
		t.Run(name, func(t *testing.T) {
			at := path(t)
			d := open(t, Options{Path: at})
			put(t, d, done("a"), done("b"))
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			head := before4(t, at)
			d = open(t, Options{Path: at})
			put(t, d, done("c"))
			if r := verified(t, d, head); r.Broken != nil || !r.Held || r.Links != 3 {
				t.Fatalf("%+v %+v", r, r.Broken)
			}
			if _, err := d.file.writer.Exec(c.stmt); err != nil {
				t.Fatal(err)
			}
			if r := verified(t, d, ""); (r.Broken == nil) != (name == "nothing") || r.Broken != nil && r.Broken.ID != c.id {
				t.Errorf("%+v %+v", r, r.Broken)
			}
		})
	}
}

// TestTrimmingIsALink reports what the bounds removed, and holds it in the chain.
func TestTrimmingIsALink(t *testing.T) {
	for name, stmt := range map[string]string{
		"nothing":        "SELECT 1",
		"how many":       "UPDATE trims SET count = count + 1",
		"up to where":    "UPDATE trims SET last = last + 1",
		"when":           "UPDATE trims SET at = at + 1",
		"all of it":      "DELETE FROM trims",
		"the last of it": "DELETE FROM trims WHERE link = (SELECT max(link) FROM trims)",
		"one row more":   "UPDATE ends SET chain = (SELECT chain FROM runs ORDER BY link LIMIT 1), link = (SELECT min(link) FROM runs) WHERE which = 'removed'; DELETE FROM runs WHERE link = (SELECT min(link) FROM runs)",
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, Options{Path: path(t), MaxRows: 4})
			for i := range 30 {
				put(t, d, done(fmt.Sprint(i)))
				if err := d.Sync(within(t)); err != nil {
					t.Fatal(err)
				}
			}
			settled(t, d, "29 28 27 26")
			r := verified(t, d, "")
			if r.Broken != nil || r.Trimmed == nil || r.Removed != 26 || r.Links != 4 {
				t.Fatalf("%+v %+v", r, r.Broken)
			}
			if _, err := d.file.writer.Exec(stmt); err != nil {
				t.Fatal(err)
			}
			if r := verified(t, d, ""); (r.Broken == nil) != (name == "nothing") {
				t.Errorf("%+v %+v", r, r.Broken)
			}
		})
	}
}
