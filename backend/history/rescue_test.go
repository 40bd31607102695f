package history

import (
	"errors"
	"testing"

	"github.com/countersign-app/countersign/backend/rescue"
)

// TestPanics: a write that panics counts as one that failed, so nothing may begin;
// its rows are kept, and the next write has them.
func TestPanics(t *testing.T) {
	d := newDB(Options{Path: path(t)}) // whose writer is the test
	write := func() error {
		_, err := d.attempt()
		return err
	}
	put(t, d, done("before"))
	if err := write(); err != nil {
		t.Fatal(err)
	}
	known := d.file.known
	d.file.known = nil
	put(t, d, done("kept"))
	before := rescue.Caught()
	for range 3 {
		if err := write(); !errors.Is(err, errFailed) {
			t.Errorf("it ended with %v", err)
		}
	}
	if n := rescue.Caught() - before; n != 3 {
		t.Errorf("%d were counted", n)
	}
	if err := d.Put(Row{ID: "begins", State: Running, Command: "ls"}); !errors.Is(err, errFailed) {
		t.Errorf("something may begin: %v", err)
	}
	d.file.known = known
	if err := write(); err != nil {
		t.Fatal(err)
	}
	if got := ids(list(t, d, Query{Limit: 10})); got != "kept before" {
		t.Errorf("then there are %q", got)
	}
	put(t, d, Row{ID: "begins", State: Running, Command: "ls"})
	d.release()
}
