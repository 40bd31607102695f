package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-app/countersign/backend/approval"
)

// patience bounds every wait of a test; none of them measures time.
const patience = 2 * time.Minute

func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func path(t testing.TB) string { return filepath.Join(t.TempDir(), "history.db") }

func open(t testing.TB, opt Options) *DB {
	t.Helper()
	d, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func put(t testing.TB, d *DB, rows ...Row) {
	t.Helper()
	for _, row := range rows {
		if err := d.Put(row); err != nil {
			t.Fatalf("Put(%s): %v", row.ID, err)
		}
	}
}

func list(t testing.TB, d *DB, q Query) []Row {
	t.Helper()
	rows, err := d.List(within(t), q)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func ids(rows []Row) string {
	var names []string
	for _, row := range rows {
		names = append(names, row.ID)
	}
	return strings.Join(names, " ")
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came true that %s", what)
		}
	}
}

func done(id string) Row { return Row{ID: id, State: Done, Command: "ls"} }

func full() Row {
	code, at := 3, time.UnixMilli(1_700_000_000_123)
	return Row{
		ID: "r1", Parent: "r0", Seq: 7, State: Running,
		AgentID: "main", SessionKey: "s", PeerPID: 41, PeerExe: "/usr/bin/node", Who: approval.Theirs,
		Command: "printf 'a\x00b' \"\xff\" | ls; DROP TABLE runs --'", Argv: []string{"printf", "", "a b", "?1"},
		Cwd: "/tmp/ä", EnvNames: []string{"A", "B"}, Program: "/usr/bin/printf",
		Judged: approval.VerdictAsk, JudgedReason: approval.ReasonWritesFile, JudgedSentence: "It writes.",
		Choice: "words here 1h", Risk: approval.RiskMedium, Choices: []approval.Decision{approval.AllowOnce, approval.DecisionDeny},
		Verdict: approval.VerdictAsk, Reason: approval.ReasonAllowlistMiss, Sentence: "No entry.",
		Security: approval.SecurityList, Ask: approval.AskOnMiss, Entry: "e1",
		Decision: approval.AllowOnce, AnsweredBy: "panel", Note: "once",
		PGID: 99, PStarted: 1<<63 + 5,
		Arrived: at, Asked: at.Add(1e6), Answered: at.Add(2e6), Started: at.Add(3e6), Ended: at.Add(4e6),
		ExitCode: &code, Signal: "KILL", TimedOut: true,
		OutputSize: 1 << 40, OutputHash: "sha256:00", Error: "cannot",
	}
}

func TestRowsComeBackAsTheyWere(t *testing.T) {
	rows := map[string]Row{
		"every field": full(),
		"least":       {ID: "r1", State: Waiting},
		"zero status": {ID: "r1", State: Done, ExitCode: new(int)},
	}
	for name, want := range rows {
		t.Run(name, func(t *testing.T) {
			at := path(t)
			d := open(t, Options{Path: at})
			put(t, d, want)
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			got := list(t, open(t, Options{Path: at}), Query{})
			want.N = 1
			if diff := cmp.Diff([]Row{want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEveryFieldHasAColumn(t *testing.T) {
	row := full()
	for field, value := range reflect.ValueOf(row).Fields() {
		if field.Name != "N" && field.Name != "Family" && value.IsZero() {
			t.Errorf("full() leaves %s empty, so nobody knows whether it is kept", field.Name)
		}
	}
}

func TestLaterPutReplacesAndKeepsItsPlace(t *testing.T) {
	for _, between := range []string{"nothing", "sync"} {
		t.Run(between, func(t *testing.T) {
			d := open(t, Options{Path: path(t)})
			first, last := Row{ID: "a", State: Waiting, Note: "x"}, Row{ID: "a", State: Done}
			put(t, d, first, done("b"))
			if between == "sync" {
				if err := d.Sync(within(t)); err != nil {
					t.Fatal(err)
				}
			}
			put(t, d, last)
			last.N = 1
			rows := list(t, d, Query{})
			if ids(rows) != "b a" {
				t.Fatalf("order %q", ids(rows))
			}
			if diff := cmp.Diff(last, rows[1]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPutKeepsNothingOfTheCaller(t *testing.T) {
	d := newDB(Options{Path: path(t)}) // not running: nothing is written yet
	row := full()
	put(t, d, row)
	row.Argv[0], row.EnvNames[0], *row.ExitCode, row.Choices[0] = "changed", "changed", 4, approval.AllowAlways
	go d.run()
	t.Cleanup(func() { d.Close() })
	want := full()
	want.N = 1
	if diff := cmp.Diff([]Row{want}, list(t, d, Query{})); diff != "" {
		t.Error(diff)
	}
}

func TestPutRefuses(t *testing.T) {
	cases := map[string]Row{
		"no id":             {State: Done},
		"its own parent":    {ID: "a", Parent: "a", State: Done},
		"no state":          {ID: "a"},
		"unknown state":     {ID: "a", State: "paused"},
		"unknown who":       {ID: "a", State: Done, Who: "mine"},
		"unknown verdict":   {ID: "a", State: Done, Verdict: "maybe"},
		"unknown security":  {ID: "a", State: Done, Security: "none"},
		"unknown ask":       {ID: "a", State: Done, Ask: "never"},
		"unknown decision":  {ID: "a", State: Done, Decision: "yes"},
		"too long":          {ID: "a", State: Done, Command: strings.Repeat("x", maxRow)},
		"too long together": {ID: "a", State: Done, Argv: slicesOf(strings.Repeat("x", 1000), 1100)},
		"too many words":    {ID: "a", State: Done, Argv: make([]string, maxRow/8)},
	}
	d := open(t, Options{Path: path(t)})
	for name, row := range cases {
		if err := d.Put(row); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if rows := list(t, d, Query{}); len(rows) != 0 {
		t.Errorf("kept %s", ids(rows))
	}
}

func slicesOf(s string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = s
	}
	return list
}

func TestList(t *testing.T) {
	d := open(t, Options{Path: path(t)})
	put(t, d,
		Row{ID: "a", State: Done, AgentID: "main"},
		Row{ID: "a1", State: Done, AgentID: "main", Parent: "a", Seq: 1},
		Row{ID: "b", State: Denied, AgentID: "other"},
		Row{ID: "a2", State: Running, AgentID: "main", Parent: "a", Seq: 2},
		Row{ID: "c", State: Waiting, AgentID: "main"},
	)
	a, none := "a", ""
	cases := []struct {
		name string
		q    Query
		want string
	}{
		{"all", Query{}, "c a2 b a1 a"},
		{"limit", Query{Limit: 2}, "c a2"},
		{"next page", Query{Limit: 2, Before: 4}, "b a1"},
		{"last page", Query{Limit: 2, Before: 2}, "a"},
		{"beyond", Query{Before: 1}, ""},
		{"agent", Query{AgentID: "main"}, "c a2 a1 a"},
		{"nobody", Query{AgentID: "' OR 1=1"}, ""},
		{"requests", Query{Parent: &none}, "c b a"},
		{"programs of one", Query{Parent: &a}, "a2 a1"},
		{"state", Query{State: Denied}, "b"},
		{"together", Query{State: Done, AgentID: "main", Parent: &none, Before: 5}, "a"},
	}
	for _, c := range cases {
		if got := ids(list(t, d, c.q)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	left, err := d.Unfinished(within(t))
	if err != nil || ids(left) != "a2 c" {
		t.Errorf("unfinished %q, %v", ids(left), err)
	}
}

func TestConcurrentPuts(t *testing.T) {
	d := open(t, Options{Path: path(t)})
	const callers, each = 8, 50
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range each {
				id := fmt.Sprintf("%d-%d", c, i)
				for _, state := range []State{Waiting, Running, Done} {
					if err := d.Put(Row{ID: id, State: state}); err != nil {
						t.Error(err)
					}
				}
				if i%10 == 0 {
					if _, err := d.List(within(t), Query{Limit: 3}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if rows := list(t, d, Query{Limit: maxLimit, State: Done}); len(rows) != callers*each {
		t.Errorf("%d rows, want %d", len(rows), callers*each)
	}
}

func TestQueueFull(t *testing.T) {
	big := strings.Repeat("x", maxRow/2)
	cases := map[string]func(i int) Row{
		"rows":  func(i int) Row { return done(fmt.Sprint(i)) },
		"bytes": func(i int) Row { return Row{ID: fmt.Sprint(i), State: Done, Command: big} },
	}
	for name, make := range cases {
		t.Run(name, func(t *testing.T) {
			d := newDB(Options{Path: path(t)}) // not running: nothing leaves the queue
			taken := 0
			for ; taken <= maxQueued; taken++ {
				if err := d.Put(make(taken)); errors.Is(err, ErrFull) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			if taken > maxQueued {
				t.Fatal("never full")
			}
			put(t, d, done("0")) // one that is queued already can still be closed
			go d.run()
			t.Cleanup(func() { d.Close() })
			if err := d.Sync(within(t)); err != nil {
				t.Fatal(err)
			}
			put(t, d, make(taken))
			rows := list(t, d, Query{Limit: 1})
			if rows[0].N != int64(taken)+1 {
				t.Errorf("%d rows, want %d", rows[0].N, taken+1)
			}
		})
	}
}

func TestClosed(t *testing.T) {
	d := open(t, Options{Path: path(t)})
	put(t, d, done("a"))
	for range 2 {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Put(done("b")); !errors.Is(err, ErrClosed) {
		t.Errorf("Put: %v", err)
	}
	if _, err := d.List(within(t), Query{}); !errors.Is(err, ErrClosed) {
		t.Errorf("List: %v", err)
	}
	if err := d.Sync(within(t)); err != nil {
		t.Errorf("Sync of what was written: %v", err)
	}
}

func TestSyncEndsWithItsContext(t *testing.T) {
	d := newDB(Options{Path: path(t)}) // not running
	put(t, d, done("a"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := d.Sync(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// logged is a log that a test can read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func TestFailsClosedAndRecovers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	var log logged
	d := open(t, Options{Path: filepath.Join(dir, "history.db"), Log: log.logger()})
	if err := d.Sync(within(t)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("Sync: %v", err)
	}
	if err := d.Put(Row{ID: "new", State: Waiting}); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("Put: %v", err)
	}
	if err := d.Put(done("ended")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("Put of an ending: %v", err)
	}
	if _, err := d.List(within(t), Query{}); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("List: %v", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	eventually(t, "writing works again", func() bool { return d.Err() == nil })
	put(t, d, done("after"))
	if got := ids(list(t, d, Query{})); got != "after ended" {
		t.Errorf("kept %q", got)
	}
	for _, said := range []string{"nothing runs", "can be written again"} {
		if strings.Count(log.String(), said) != 1 {
			t.Errorf("the log must say %q once:\n%s", said, log.String())
		}
	}
}

func TestCloseSaysWhatIsLost(t *testing.T) {
	d := newDB(Options{Path: filepath.Join(t.TempDir(), "nowhere", "history.db")})
	put(t, d, done("a"), done("b"))
	go d.run()
	if err := d.Close(); err == nil || !strings.Contains(err.Error(), "2 rows") {
		t.Errorf("%v", err)
	}
}

func TestDiskFull(t *testing.T) {
	d := open(t, Options{Path: path(t)})
	put(t, d, done("before"))
	if err := d.Sync(within(t)); err != nil {
		t.Fatal(err)
	}
	limit(t, d, 1) // SQLite takes the present size
	text := strings.Repeat("x", 100_000)
	put(t, d, Row{ID: "large", State: Running, Command: text})
	if err := d.Sync(within(t)); err == nil || !strings.Contains(err.Error(), "full") {
		t.Fatalf("Sync: %v", err)
	}
	if err := d.Put(Row{ID: "new", State: Waiting}); err == nil {
		t.Fatal("taken while the disk is full")
	}
	limit(t, d, 1<<30)
	eventually(t, "writing works again", func() bool { return d.Err() == nil })
	put(t, d, done("after"))
	if got := ids(list(t, d, Query{})); got != "after large before" {
		t.Errorf("kept %q", got)
	}
}

// limit sets the number of pages that the database may have.
func limit(t *testing.T, d *DB, pages int) {
	t.Helper()
	d.mu.Lock()
	f := d.file
	d.mu.Unlock()
	if _, err := f.writer.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
		t.Fatal(err)
	}
}

func TestLockedByAnother(t *testing.T) {
	at := path(t)
	d := open(t, Options{Path: at})
	if err := d.Sync(within(t)); err != nil {
		t.Fatal(err)
	}
	other, err := connect(at, "_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	put(t, d, Row{ID: "a", State: Running})
	if err := d.Sync(within(t)); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("Sync: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "writing works again", func() bool { return d.Err() == nil })
	if got := ids(list(t, d, Query{})); got != "a" {
		t.Errorf("kept %q", got)
	}
	if found, _ := d.Broken(); found != nil {
		t.Errorf("a locked file was taken for a broken one: %s", found)
	}
}

func TestConnectionsAreFew(t *testing.T) {
	d := open(t, Options{Path: path(t)})
	put(t, d, done("a"))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { d.List(within(t), Query{}) })
	}
	wg.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.file.writer.Stats().OpenConnections; n > 1 {
		t.Errorf("%d connections to write", n)
	}
	if n := d.file.reader.Stats().OpenConnections; n > 2 {
		t.Errorf("%d connections to read", n)
	}
}

// The goal is what Put costs the reply path; "durable" is what a row costs
// the machine when they come in numbers.
func BenchmarkPut(b *testing.B) {
	row := Row{
		State: Done, AgentID: "main", SessionKey: "agent:main:main", Command: "git status --short",
		Argv: []string{"git", "status", "--short"}, Cwd: "/home/me/project", Verdict: approval.VerdictAllow,
		Arrived: time.Now(), Started: time.Now(), Ended: time.Now(), ExitCode: new(int),
	}
	b.Run("queue", func(b *testing.B) {
		d := open(b, Options{Path: path(b)})
		row.ID = "same"
		for b.Loop() {
			put(b, d, row)
		}
	})
	b.Run("durable", func(b *testing.B) {
		d := open(b, Options{Path: path(b)})
		for i := 0; b.Loop(); i++ {
			row.ID = fmt.Sprint(i)
			for errors.Is(d.Put(row), ErrFull) {
				if err := d.Sync(within(b)); err != nil {
					b.Fatal(err)
				}
			}
		}
		if err := d.Sync(within(b)); err != nil {
			b.Fatal(err)
		}
	})
}
