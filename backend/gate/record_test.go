package gate_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/history"
)

// programs returns the rows of the single programs, oldest first.
func (b *bench) programs() (rows []history.Row) {
	b.t.Helper()
	all, err := b.history.List(context.Background(), history.Query{Limit: 1000})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, row := range all {
		if row.Parent != "" {
			rows = append([]history.Row{row}, rows...)
		}
	}
	return rows
}

// A program has its row however long its words are, and the row never repeats
// half of one.
func TestLongWordsHaveARow(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "wide"}, approval.Entry{Pattern: "count"})
	b.script("wide", `head -c 60000 /dev/zero | tr '\0' x`)
	b.script("count", `echo $#`)
	b.nobody()
	b.want([]string{"bash", "-c", `x=$(wide); count first` + strings.Repeat(" $x", 20)}, `code 0 "21\n"`)
	rows := b.programs()
	if len(rows) != 2 || rows[1].State != history.Done || rows[1].ExitCode == nil {
		t.Fatalf("got %+v", rows)
	}
	if got := rows[1].Command; got != "count first … (20 more words)" {
		t.Errorf("got %.100q", got)
	}
}

// When a program could not be recorded, nothing starts after it.
func TestNothingStartsUnrecorded(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "hello"})
	b.script("hello", `echo "hello $1"`)
	starts := 0
	b.afterCheck = func() {
		if starts++; starts == 2 {
			b.history.Close()
		}
	}
	result := b.Run(context.Background(), b.request("bash", "-c", "for i in a b c d; do hello $i; done"))
	if result.Denied == nil || result.Denied.Reason != approval.ReasonCompanion || string(result.Stdout) != "hello a\nhello b\n" {
		t.Errorf("got %s %q", outcome(result), result.Stdout)
	}
}

// Requests that are the first to start a program, all at once, record the same
// file and run.
func TestFirstTogether(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "hello"})
	b.script("hello", `echo hello`)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { b.want([]string{"hello"}, `code 0 "hello\n"`) })
	}
	all.Wait()
}

// The program of a request is the one that stops it, and else its first.
func TestProgramOfARequest(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "one"}, approval.Entry{Pattern: "two"})
	for _, name := range []string{"one", "two", "three", "four"} {
		b.script(name, "")
	}
	b.person(once, nil)
	for text, want := range map[string]string{"one | two": "one", "one | three": "three", "two; four; three": "four", "cd . && three": "three"} {
		b.Run(context.Background(), b.request("bash", "-c", text))
		top := ""
		rows, err := b.history.List(context.Background(), history.Query{Parent: &top, Limit: 1})
		if err != nil || len(rows) != 1 || rows[0].Program != b.path("bin/"+want) {
			t.Errorf("%s: %v %v", text, rows, err)
		}
	}
}
