package history

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folder returns what is in the folder of a history.
func folder(t *testing.T, at string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(filepath.Dir(at))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, item := range list {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(at), item.Name()))
		if err != nil {
			t.Fatal(err)
		}
		info, err := item.Info()
		if err != nil {
			t.Fatal(err)
		}
		all[item.Name()] = info.Mode().String() + " " + string(text)
	}
	return all
}

// killed makes a history of two rows as a host leaves it that is killed: all of it
// is in the log.
func killed(t *testing.T, at string) {
	t.Helper()
	from := path(t)
	d := open(t, Options{Path: from})
	put(t, d, done("a"), Row{ID: "b", State: Running})
	if err := d.Sync(within(t)); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		text, err := os.ReadFile(from + suffix)
		if err != nil {
			t.Fatal(err)
		}
		write(t, at+suffix, string(text))
	}
}

// TestReadingChangesNothing: what only reads says what is there, or why that
// cannot be read, and leaves all files as they are.
func TestReadingChangesNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, at string)
		rows int
		why  error // nil for none, errForeign also for what SQLite refuses
	}{
		{"whole", func(t *testing.T, at string) { cut(t, at, -1) }, 50, nil},
		{"of a host that was killed", killed, 2, nil},
		{"with an empty log", func(t *testing.T, at string) { cut(t, at, -1); write(t, at+"-wal", "") }, 50, nil},
		{"that others may read", func(t *testing.T, at string) {
			cut(t, at, -1)
			if err := os.Chmod(at, 0o644); err != nil {
				t.Fatal(err)
			}
		}, 50, nil},
		{"none", func(*testing.T, string) {}, 0, fs.ErrNotExist},
		{"nothing in it", func(t *testing.T, at string) { write(t, at, "") }, 0, errEmpty},
		{"garbage", func(t *testing.T, at string) { write(t, at, strings.Repeat("not a database\n", 500)) }, 0, errForeign},
		{"a little garbage", func(t *testing.T, at string) { write(t, at, "garbage") }, 0, errForeign},
		{"cut short", func(t *testing.T, at string) { cut(t, at, 5000) }, 0, errForeign},
		{"of another program", func(t *testing.T, at string) { other(t, at, "CREATE TABLE theirs (x)") }, 0, errForeign},
		{"a view for the table", func(t *testing.T, at string) {
			cut(t, at, -1)
			other(t, at, "ALTER TABLE runs RENAME TO rows; CREATE VIEW runs AS SELECT * FROM rows WHERE id <> '7'")
		}, 0, errForeign},
		{"a trigger", func(t *testing.T, at string) {
			cut(t, at, -1)
			other(t, at, "CREATE TRIGGER forget AFTER INSERT ON runs BEGIN DELETE FROM runs; END")
		}, 0, errForeign},
		{"of a newer version", func(t *testing.T, at string) { cut(t, at, -1); other(t, at, "PRAGMA user_version = 99") }, 0, errNewer},
		{"of an older version", func(t *testing.T, at string) { write(t, at, version4(t)) }, 0, errOlder},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := path(t)
			c.make(t, at)
			before := folder(t, at)
			d, err := OpenReading(at)
			switch {
			case c.why != nil && (err == nil || !errors.Is(err, c.why) && (c.why != errForeign || !broken(err))):
				t.Errorf("%v, want %v", err, c.why)
			case c.why == nil && err != nil:
				t.Error(err)
			case err == nil:
				if rows := list(t, d, Query{Limit: 1000}); len(rows) != c.rows {
					t.Errorf("%d rows, want %d", len(rows), c.rows)
				}
				if r := verified(t, d, ""); r.Broken != nil || int(r.Links+r.Open) != c.rows {
					t.Errorf("%+v %+v", r, r.Broken)
				}
				if err := d.Put(done("z")); !errors.Is(err, ErrClosed) {
					t.Error("a row was taken", err)
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
			if after := folder(t, at); !maps.Equal(before, after) {
				t.Errorf("the folder has %q, and had %q", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
			}
		})
	}
}

// TestReadingWithoutIndex: the log of a host is read, too, where its index did not
// come along.
func TestReadingWithoutIndex(t *testing.T) {
	at := path(t)
	killed(t, at)
	if err := os.Remove(at + "-shm"); err != nil {
		t.Fatal(err)
	}
	before := folder(t, at)
	d, err := OpenReading(at)
	if err != nil {
		t.Fatal(err)
	}
	if rows := list(t, d, Query{}); len(rows) != 2 {
		t.Errorf("%d rows", len(rows))
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	after := folder(t, at)
	delete(after, "history.db-shm")
	if !maps.Equal(before, after) {
		t.Errorf("%q", slices.Sorted(maps.Keys(after)))
	}
}

// TestHeader flips each byte of the header: the history is what it was, or cannot
// be read, and stays where it is.
func TestHeader(t *testing.T) {
	at := path(t)
	cut(t, at, -1)
	whole, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := range 100 {
		text := bytes.Clone(whole)
		text[i] ^= 0xff
		write(t, at, string(text))
		before := folder(t, at)
		d, err := OpenReading(at)
		if err == nil {
			r, err := d.Verify(within(t), "")
			if err == nil && r.Broken == nil && r.Links != 50 {
				t.Errorf("byte %d: %+v", i, r)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		} else {
			refused++
		}
		if after := folder(t, at); !maps.Equal(before, after) {
			t.Errorf("byte %d: the folder has %q", i, slices.Sorted(maps.Keys(after)))
		}
	}
	if refused < 16 {
		t.Errorf("%d were refused", refused)
	}
}

// TestVerifySchema: what shows other rows than are there, or changes what is
// written, is told while a host writes, too.
func TestVerifySchema(t *testing.T) {
	for _, stmt := range []string{
		"CREATE TRIGGER forget AFTER INSERT ON runs BEGIN DELETE FROM runs WHERE agent_id = 'z'; END",
		"CREATE VIEW more AS SELECT * FROM runs",
		"CREATE TABLE more (x)",
		"ALTER TABLE runs RENAME TO rows; CREATE VIEW runs AS SELECT * FROM rows",
		"DROP INDEX runs_agent",
	} {
		d := open(t, Options{Path: path(t)})
		put(t, d, done("a"))
		if r := verified(t, d, ""); r.Broken != nil {
			t.Fatal(r.Broken)
		}
		if _, err := d.file.writer.Exec(stmt); err != nil {
			t.Fatal(err)
		}
		if r := verified(t, d, ""); r.Broken == nil || !strings.Contains(r.Broken.Why, "not ours") && !strings.Contains(r.Broken.Why, "missing") {
			t.Errorf("%s: %+v", stmt, r.Broken)
		}
	}
}

// TestVerifyAside: a history that was set aside is told until it is moved away.
func TestVerifyAside(t *testing.T) {
	at := path(t)
	write(t, at, "garbage")
	d := open(t, Options{Path: at})
	put(t, d, done("a"))
	r := verified(t, d, "")
	if r.Broken != nil || len(r.Aside) != 1 || !strings.HasPrefix(r.Aside[0], at+brokenMark) {
		t.Fatalf("%+v", r)
	}
	if err := os.Rename(r.Aside[0], filepath.Join(t.TempDir(), "looked at")); err != nil {
		t.Fatal(err)
	}
	if r := verified(t, d, ""); r.Aside != nil {
		t.Error(r.Aside)
	}
}

// version4 is a history as the fourth version of it was.
func version4(t *testing.T) string {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", "version4.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	text, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}
