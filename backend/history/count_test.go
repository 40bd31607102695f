package history

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCount(t *testing.T) {
	var c clock
	d := open(t, Options{Path: path(t), Now: c.now})
	for i, r := range []Row{
		{AgentID: "main"}, {AgentID: "main", Asked: time.UnixMilli(1)}, {AgentID: "", Asked: time.UnixMilli(1)},
		{AgentID: "main", Parent: "0"}, {AgentID: "codex"}, {AgentID: "main", State: Waiting, Asked: time.UnixMilli(1)},
	} {
		r.ID, r.Command = fmt.Sprint(i), "ls"
		if r.State == "" {
			r.State = Done
		}
		c.pass(time.Second)
		put(t, d, r) // at its number and one, in seconds
	}
	for _, test := range []struct {
		times []int64
		want  []Count
	}{
		{nil, nil},
		{[]int64{0}, nil},
		{[]int64{0, 100_000}, []Count{{"", 0, 1, 1}, {"codex", 0, 1, 0}, {"main", 0, 3, 2}}},
		{[]int64{1000, 2000, 3000, 6000}, []Count{{"main", 0, 1, 0}, {"main", 1, 1, 1}, {"", 2, 1, 1}, {"codex", 2, 1, 0}}},
		{[]int64{7000, 8000}, nil},
	} {
		got, err := d.Count(within(t), test.times)
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v: %+v, want %+v, %v", test.times, got, test.want, err)
		}
	}
	if got, err := d.AgentIDs(within(t)); err != nil || !slices.Equal(got, []string{"", "codex", "main"}) {
		t.Errorf("%q %v", got, err)
	}
}

func TestNobodyInTheHistory(t *testing.T) {
	d := open(t, Options{Path: path(t)})
	if got, err := d.AgentIDs(within(t)); err != nil || len(got) != 0 {
		t.Errorf("%q %v", got, err)
	}
	if got := list(t, d, Query{Since: 1}); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestSinceWithAClockSetBack looks for rows by a time that the clock passed
// twice, before and after more rows came.
func TestSinceWithAClockSetBack(t *testing.T) {
	var c clock
	d := open(t, Options{Path: path(t), Now: c.now})
	at := func(id string, seconds int) {
		c.pass(time.Duration(seconds)*time.Second - time.Duration(c.now().UnixMilli())*time.Millisecond)
		put(t, d, done(id))
	}
	at("a", 100)
	at("b", 60)
	at("c", 110)
	for since, want := range map[int64]string{55: "c b a", 61: "c a", 105: "c", 200: ""} {
		for range 2 {
			if got := ids(list(t, d, Query{Since: since * 1000})); got != want {
				t.Errorf("since %d: %q, want %q", since, got, want)
			}
		}
	}
	if got := ids(list(t, d, Query{Since: 200_000})); got != "" {
		t.Errorf("%q", got)
	}
	at("d", 300)
	if got := ids(list(t, d, Query{Since: 200_000})); got != "d" {
		t.Errorf("%q", got)
	}
}

func TestWriteLines(t *testing.T) {
	d := open(t, Options{Path: path(t)})
	for i := range 2*exportPage + 1 {
		put(t, d, Row{ID: fmt.Sprint(i), State: Done, Command: "echo <b>\n\u009b2J\u202e\u200b"})
	}
	var out strings.Builder
	page := func(before int64, limit int) ([]Row, error) {
		return d.List(within(t), Query{Before: before, Limit: limit})
	}
	n, err := WriteLines(&out, page)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if err != nil || n != 2*exportPage+1 || len(lines) != n {
		t.Fatalf("%d rows, %d lines, %v", n, len(lines), err)
	}
	if !strings.Contains(lines[0], fmt.Sprintf(`"id":"%d"`, n-1)) || !strings.Contains(lines[0], `"command":"echo <b>\n\u009b2J\u202e\u200b"`) {
		t.Error(lines[0])
	}
	fails := func(before int64, limit int) ([]Row, error) {
		if before > 0 {
			return nil, ErrClosed
		}
		return page(before, limit)
	}
	if n, err := WriteLines(&strings.Builder{}, fails); n != exportPage || err != ErrClosed {
		t.Errorf("%d %v", n, err)
	}
}

func TestSize(t *testing.T) {
	var c clock
	d := open(t, Options{Path: path(t), Now: c.now, MaxRows: 7})
	size := func() Size {
		t.Helper()
		s, err := d.Size(within(t))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := size(); s.Rows != 0 || !s.Oldest.IsZero() || s.MaxRows != 7 || s.MaxBytes != defaultBytes || s.MaxAge != defaultAge {
		t.Errorf("%+v", s)
	}
	c.pass(time.Hour)
	put(t, d, done("a"), done("b"))
	if s := size(); s.Rows != 2 || s.Oldest.UnixMilli() != time.Hour.Milliseconds() || s.Bytes < 4096 {
		t.Errorf("%+v", s)
	}
}
