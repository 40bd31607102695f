package history

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// number reads one number from the file.
func number(t testing.TB, d *DB, query string) (n int64) {
	t.Helper()
	f, err := d.synced(within(t))
	if err == nil {
		err = f.reader.QueryRow(query).Scan(&n)
	}
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// long is a text that is kept apart, with these words at its end.
func long(words string) string { return strings.Repeat("filler ", inRow/7+1) + words }

// TestTextsComeBack puts rows with texts of many lengths, some of them the same, in
// random orders, trims and opens anew: each row is what was put last, and no text is
// there that none needs.
func TestTextsComeBack(t *testing.T) {
	approvaltest.Long(t)
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 2))
			text := func() string {
				lengths := []int{0, 1, inRow - 1, inRow, inRow + 1, inRow + 2, 3 * inRow, 20 * inRow}
				return strings.Repeat([]string{"x", "y \x00", "ä\xff"}[random.IntN(3)], lengths[random.IntN(len(lengths))])
			}
			opt := Options{Path: path(t), MaxRows: 30}
			d := open(t, opt)
			last := map[string]Row{}
			for i := range 250 {
				row := full()
				row.ID, row.Parent = fmt.Sprint(i-random.IntN(10)), []string{"", "x"}[random.IntN(2)]
				row.State, row.Command, row.Note = states[random.IntN(len(states))], text(), text()
				if row.Argv = nil; random.IntN(2) == 0 {
					row.Argv = []string{"sh", "-c", strings.ToValidUTF8(text(), "")}
				}
				for _, row := range []Row{row, done(fmt.Sprint(i - 11))} { // nothing stays open for long
					if !last[row.ID].State.over() {
						put(t, d, row)
						last[row.ID] = row
					}
				}
				if random.IntN(5) > 0 {
					continue // some rows meet in one write
				}
				for _, row := range list(t, d, Query{Limit: maxLimit}) {
					want := last[row.ID]
					if want.N = row.N; !cmp.Equal(want, row) {
						t.Fatalf("row %s: %s", row.ID, cmp.Diff(want, row))
					}
				}
				if r := verified(t, d, ""); r.Broken != nil {
					t.Fatalf("after %d: %+v", i, r.Broken)
				}
				if random.IntN(10) == 0 {
					if err := d.Close(); err != nil {
						t.Fatal(err)
					}
					d = open(t, opt)
				}
			}
			if texts := number(t, d, "SELECT count(*) FROM texts"); texts == 0 {
				t.Error("no text was kept apart")
			}
			for i := range 300 {
				if id := fmt.Sprint(i - 20); !last[id].State.over() {
					put(t, d, done(id))
				}
			}
			for i := range opt.MaxRows {
				put(t, d, done(fmt.Sprint("last ", i)))
			}
			eventually(t, "texts go with the rows that need them", func() bool {
				return number(t, d, "SELECT (SELECT count(*) FROM texts) + (SELECT count(*) FROM needs) + (SELECT count(*) FROM textwords)") == 0
			})
		})
	}
}

// TestVerifyReadsTexts changes what is kept apart by hand.
func TestVerifyReadsTexts(t *testing.T) {
	const ofB = "(SELECT id FROM texts WHERE hash = (SELECT texts ->> 'command' FROM runs WHERE id = 'b'))"
	const ofC = "(SELECT id FROM texts WHERE hash = (SELECT texts ->> 'command' FROM runs WHERE id = 'c'))"
	for _, c := range []struct{ name, stmt, id, why string }{
		{"nothing", "SELECT 1", "", ""},
		{"a text changed", "UPDATE texts SET text = text || 'x' WHERE id = " + ofB, "b", "not what was written"},
		{"a text removed", "DELETE FROM texts WHERE id = " + ofC, "c", "missing"},
		{"all removed", "DELETE FROM texts", "b", "missing"},
		{"two in each other's place", "UPDATE texts SET text = CASE id WHEN " + ofB + " THEN (SELECT text FROM texts WHERE id = " + ofC + ") ELSE (SELECT text FROM texts WHERE id = " + ofB + ") END", "b", "not what was written"},
		{"another text under its hash", "UPDATE runs SET texts = (SELECT texts FROM runs WHERE id = 'c') WHERE id = 'b'", "b", "changed"},
		{"in another column", "UPDATE runs SET texts = replace(texts, 'command', 'note') WHERE id = 'b'", "b", "changed"},
		{"a text of none", "UPDATE runs SET texts = NULL WHERE id = 'b'", "b", "changed"},
		{"a text and its hash", "UPDATE runs SET texts = '{\"command\":\"" + hashOf("x") + "\"}' WHERE id = 'c'; UPDATE texts SET text = 'x', hash = '" + hashOf("x") + "' WHERE id = " + ofC, "c", "changed"},
		{"one that an open row needs", "DELETE FROM texts WHERE hash = (SELECT texts ->> 'command' FROM runs WHERE id = 'open')", "open", "missing"},
		{"one that nobody needs", "INSERT INTO texts (hash, text) VALUES ('" + hashOf("x") + "', 'x')", "", "put in"},
		{"one that nobody needs, without its hash", "INSERT INTO texts (hash, text) VALUES ('', 'x')", "", "put in"},
		{"that a row needs it", "DELETE FROM needs WHERE text = " + ofB, "b", "go before"},
		{"taken out of the search", "DELETE FROM textwords WHERE rowid = " + ofB, "b", "search"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := open(t, Options{Path: path(t)})
			put(t, d, done("a"), Row{ID: "b", State: Denied, Command: long("b"), Verdict: approval.VerdictDeny},
				Row{ID: "c", State: Done, Command: long("c")}, Row{ID: "open", State: Running, Command: long("open")})
			if r := verified(t, d, ""); r.Broken != nil {
				t.Fatalf("%+v", r.Broken)
			}
			if _, err := d.file.writer.Exec(c.stmt); err != nil {
				t.Fatal(err)
			}
			r := verified(t, d, "")
			if (r.Broken == nil) != (c.why == "") || r.Broken != nil && (r.Broken.ID != c.id || !strings.Contains(r.Broken.Why, c.why)) {
				t.Errorf("broken: %+v, want %s, %s", r.Broken, c.id, c.why)
			}
			rows := list(t, d, Query{ID: "c"})
			if len(rows) != 1 || strings.Contains(c.stmt, "FROM texts") && rows[0].Command == long("b") {
				t.Error("a row is hidden, or shows the text of another one")
			}
		})
	}
}

// TestOneTextOfManyDenials puts 1,500 denied requests of one text, as the gate
// does, and as many of a short one: the file differs by about one text.
func TestOneTextOfManyDenials(t *testing.T) {
	const requests, size = 1500, 230 << 10
	bytes := func(text string) int64 {
		d := open(t, Options{Path: path(t)})
		for i := range requests {
			row := Row{ID: fmt.Sprint(i), State: Waiting, AgentID: fmt.Sprint("agent ", i/10), Command: text}
			put(t, d, row)
			row.State, row.Verdict = Denied, approval.VerdictDeny
			put(t, d, row)
			if i%50 == 0 {
				if err := d.Sync(within(t)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if r := verified(t, d, ""); r.Broken != nil || r.Links != requests {
			t.Errorf("%+v %+v", r, r.Broken)
		}
		return number(t, d, "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size")
	}
	short, much := bytes("x"), bytes(strings.Repeat("x", size))
	if more := much - short; more > 4*size {
		t.Errorf("%d bytes more than of a short text, of %d", more, size)
	}
}

// TestQuotaCountsATextOnce keeps what has one text in common by the number of rows,
// and others by their bytes.
func TestQuotaCountsATextOnce(t *testing.T) {
	text := strings.Repeat("x", 230<<10)
	for name, c := range map[string]struct {
		command func(i int) string
		kept    int
	}{
		"one text":   {func(int) string { return text }, agentRows},
		"many texts": {func(i int) string { return fmt.Sprint(i, text) }, agentBytes/len(text) + 1},
	} {
		var q quota
		kept := 0
		for i := range agentRows + 5 {
			if beyond, _ := q.take(&Row{ID: fmt.Sprint(i), State: Denied, AgentID: "a", Command: c.command(i)}, 0); !beyond {
				kept++
			}
		}
		if kept < c.kept-1 || kept > c.kept {
			t.Errorf("%s: %d are kept, want %d", name, kept, c.kept)
		}
	}
}

// TestTextsGoWithTheirRows makes one half of a write fail: nothing of it is there.
func TestTextsGoWithTheirRows(t *testing.T) {
	const refuse = "CREATE TEMP TRIGGER refuse BEFORE %s BEGIN SELECT RAISE(ABORT, 'no'); END"
	d := open(t, Options{Path: path(t), MaxRows: 2})
	if err := d.Sync(within(t)); err != nil {
		t.Fatal(err)
	}
	exec := func(stmt string) {
		t.Helper()
		if _, err := d.file.writer.Exec(stmt); err != nil {
			t.Fatal(err)
		}
	}
	exec(fmt.Sprintf(refuse, "INSERT ON needs"))
	put(t, d, Row{ID: "a", State: Done, Command: long("a")})
	if err := d.Sync(within(t)); err == nil {
		t.Fatal("it was written")
	}
	var there int
	if err := d.file.reader.QueryRow("SELECT (SELECT count(*) FROM texts) + (SELECT count(*) FROM runs)").Scan(&there); err != nil || there != 0 {
		t.Errorf("%d halves are there, %v", there, err)
	}
	exec("DROP TRIGGER refuse")
	eventually(t, "it is written", func() bool { return d.Sync(within(t)) == nil })
	exec(fmt.Sprintf(refuse, "DELETE ON texts"))
	put(t, d, done("b"), done("c"))
	if err := d.Sync(within(t)); err != nil {
		t.Fatal(err)
	}
	if r := verified(t, d, ""); r.Broken != nil || r.Removed != 0 {
		t.Errorf("half a row was trimmed: %+v %+v", r, r.Broken)
	}
	exec("DROP TRIGGER refuse")
	put(t, d, done("d"))
	settled(t, d, "d c")
	if r := verified(t, d, ""); r.Broken != nil || number(t, d, "SELECT count(*) FROM texts") != 0 {
		t.Errorf("%+v", r.Broken)
	}
}

func TestSearchInTexts(t *testing.T) {
	var c clock
	d := open(t, Options{Path: path(t), Now: c.now})
	for _, row := range []Row{
		{ID: "1", State: Done, AgentID: "main", Command: "git push", Cwd: "/work"},
		{ID: "2", State: Done, AgentID: "main", Command: long("git deep"), Cwd: "/work"},
		{ID: "3", State: Denied, AgentID: "codex", Command: long("git deep"), Cwd: "/home", Verdict: approval.VerdictDeny},
		{ID: "4", State: Done, AgentID: "main", Command: "deep", Note: long("noted"), Argv: []string{long("argument")}},
		{ID: "2/1", Parent: "2", State: Done, Command: long("git deep")},
		{ID: "5", State: Running, Command: long("git deep")},
	} {
		put(t, d, row)
	}
	for _, q := range []struct {
		name string
		q    Query
		want string
	}{
		{"a word of both", Query{Text: "git"}, "3 2 1"},
		{"deep in a text", Query{Text: "deep"}, "4 3 2"},
		{"its beginning", Query{Text: "git dee"}, "3 2"},
		{"in a text and in the row", Query{Text: "deep work"}, "2"},
		{"in two texts", Query{Text: "noted deep"}, "4"},
		{"nowhere", Query{Text: "deep push"}, ""},
		{"an argument, as before", Query{Text: "argument"}, ""},
		{"an agent", Query{Text: "deep", AgentID: "codex"}, "3"},
		{"an outcome", Query{Text: "git", Verdict: approval.VerdictDeny}, "3"},
		{"a page", Query{Text: "git", Limit: 2}, "3 2"},
		{"the next page", Query{Text: "git", Limit: 2, Before: 2}, "1"},
		{"an id", Query{Text: "git", ID: "2"}, "2"},
	} {
		if got := ids(list(t, d, q.q)); got != q.want {
			t.Errorf("%s: found %q, want %q", q.name, got, q.want)
		}
	}
}

// TestTheVersionBeforeTexts opens a file that the version before wrote: what is
// there stays in its rows, and the chain goes on behind it.
func TestTheVersionBeforeTexts(t *testing.T) {
	const head = "cd41bf8295ac2e17c22a6ae68c1cb46644977f75cdfd41431c177d7f7d580b0f"
	old := strings.Repeat("lorem ", 5000) + "deepold"
	at := path(t)
	write(t, at, version4(t))
	opt := Options{Path: at, Now: func() time.Time { return time.UnixMilli(1_700_000_000_000) }}
	d := open(t, opt)
	if r := verified(t, d, head); r.Broken != nil || !r.Held || r.Links != 3 || r.Open != 1 {
		t.Errorf("%+v %+v", r, r.Broken)
	}
	want := []Row{
		{N: 4, ID: "b1", Parent: "b", State: Done, Command: "ls", Note: old},
		{N: 3, ID: "c", State: Running, Command: old},
		{N: 2, ID: "b", State: Denied, Verdict: approval.VerdictDeny, AgentID: "main", Command: old, Argv: []string{"sh", "-c", old}},
		{N: 1, ID: "a", State: Done, Command: "git push"},
	}
	if diff := cmp.Diff(want, list(t, d, Query{})); diff != "" {
		t.Error(diff)
	}
	put(t, d, Row{ID: "c", State: Done, Command: old}, Row{ID: "d", State: Done, Command: old})
	if r := verified(t, d, head); r.Broken != nil || !r.Held || r.Links != 5 {
		t.Errorf("%+v %+v", r, r.Broken)
	}
	if texts := number(t, d, "SELECT count(*) FROM texts"); texts != 1 {
		t.Errorf("%d texts", texts)
	}
	if got := ids(list(t, d, Query{Text: "deepold"})); got != "d c b" {
		t.Errorf("found %q", got)
	}
	if _, err := d.file.writer.Exec("UPDATE runs SET command = command || 'x' WHERE id = 'b'"); err != nil {
		t.Fatal(err)
	}
	if r := verified(t, d, ""); r.Broken == nil || r.Broken.ID != "b" {
		t.Errorf("%+v", r.Broken)
	}
}
