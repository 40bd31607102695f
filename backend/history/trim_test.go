package history

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// clock is a time that the test moves.
type clock struct{ ms atomic.Int64 }

func (c *clock) now() time.Time         { return time.UnixMilli(c.ms.Load()) }
func (c *clock) pass(age time.Duration) { c.ms.Add(age.Milliseconds()) }

// settled waits until the history holds these rows, newest first.
func settled(t *testing.T, d *DB, want string) {
	t.Helper()
	got := ""
	eventuallyOr(t, func() bool {
		got = ids(list(t, d, Query{Limit: maxLimit}))
		return got == want
	}, func() string { return fmt.Sprintf("there is %q, want %q", got, want) })
}

func eventuallyOr(t *testing.T, holds func() bool, say func() string) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(say())
		}
	}
}

func TestOldestGoFirst(t *testing.T) {
	d := open(t, Options{Path: path(t), MaxRows: 4})
	put(t, d, done("a"), Row{ID: "a1", Parent: "a", State: Done}, done("b"),
		Row{ID: "a2", Parent: "a", State: Done}, Row{ID: "b1", Parent: "b", State: Done}, done("c"))
	settled(t, d, "c b1 a2 b")
	put(t, d, done("d"), done("e"), done("f"))
	settled(t, d, "f e d c")
}

func TestCountHoldsAcrossUpdatesAndRestarts(t *testing.T) {
	at := path(t)
	for start := range 3 {
		d := open(t, Options{Path: at, MaxRows: 5})
		for i := range 4 {
			id := fmt.Sprintf("%d.%d", start, i)
			for _, state := range []State{Waiting, Running, Done} {
				put(t, d, Row{ID: id, State: state})
				if err := d.Sync(within(t)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if start > 0 {
			settled(t, d, fmt.Sprintf("%[1]d.3 %[1]d.2 %[1]d.1 %[1]d.0 %[2]d.3", start, start-1))
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatIsNotOverStays(t *testing.T) {
	d := open(t, Options{Path: path(t), MaxRows: 2})
	put(t, d, Row{ID: "runs", State: Running}, Row{ID: "part", Parent: "runs", State: Done},
		Row{ID: "waits", State: Waiting}, done("a"), done("b"))
	settled(t, d, "waits runs")
	put(t, d, done("runs"), done("waits"), done("c"))
	settled(t, d, "c waits")
}

func TestAge(t *testing.T) {
	var c clock
	c.pass(1000 * 24 * time.Hour)
	at := path(t)
	d := open(t, Options{Path: at, Now: c.now, MaxAge: time.Hour})
	put(t, d, Row{ID: "a", State: Running}, Row{ID: "a1", Parent: "a", State: Done})
	settled(t, d, "a1 a")
	c.pass(50 * time.Minute)
	put(t, d, done("a"), done("b")) // its age is from its beginning
	settled(t, d, "b a1 a")
	c.pass(11 * time.Minute)
	put(t, d, done("c"))
	settled(t, d, "c b")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	c.pass(2 * time.Hour) // while it was not running
	settled(t, open(t, Options{Path: at, Now: c.now, MaxAge: time.Hour}), "")
}

// TestKeep shortens how long rows are kept while the file is open.
func TestKeep(t *testing.T) {
	var c clock
	c.pass(1000 * 24 * time.Hour)
	d := open(t, Options{Path: path(t), Now: c.now})
	put(t, d, done("a"))
	c.pass(50 * time.Minute)
	put(t, d, done("b"))
	settled(t, d, "b a")
	d.Keep(30 * time.Minute)
	put(t, d, done("c"))
	settled(t, d, "c b")
	if s, err := d.Size(t.Context()); err != nil || s.MaxAge != 30*time.Minute {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestBytes(t *testing.T) {
	const most = 2 << 20
	d := open(t, Options{Path: path(t), MaxBytes: most})
	text := strings.Repeat("x", 4000)
	for i := range 2000 {
		put(t, d, Row{ID: fmt.Sprint(i), State: Done, Command: text})
	}
	var size, rows int64
	eventuallyOr(t, func() bool {
		list(t, d, Query{Limit: 1})
		d.mu.Lock()
		f := d.file
		d.mu.Unlock()
		err := f.reader.QueryRow(`SELECT (page_count - freelist_count) * page_size, (SELECT count(*) FROM runs)
			FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&size, &rows)
		if err != nil {
			t.Fatal(err)
		}
		return size <= most
	}, func() string { return fmt.Sprintf("%d bytes", size) })
	if rows == 0 {
		t.Error("everything was trimmed")
	}
	if newest := list(t, d, Query{Limit: 1}); ids(newest) != "1999" {
		t.Errorf("the newest is %q", ids(newest))
	}
}

func TestTrimReadsByLink(t *testing.T) {
	d := open(t, Options{Path: path(t)})
	if err := d.Sync(within(t)); err != nil {
		t.Fatal(err)
	}
	plan, err := d.file.reader.Query("EXPLAIN QUERY PLAN "+first, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	var steps []string
	for plan.Next() {
		var a, b, c int
		var step string
		if err := plan.Scan(&a, &b, &c, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	all := strings.Join(steps, "\n")
	if !strings.Contains(all, "runs_link") || strings.Contains(all, "TEMP B-TREE") {
		t.Errorf("a million rows would be read:\n%s", all)
	}
}
