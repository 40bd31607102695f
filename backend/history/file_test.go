package history

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRefusedPaths(t *testing.T) {
	dir := t.TempDir()
	elsewhere := filepath.Join(dir, "elsewhere")
	cases := []struct {
		name string
		make func(at string) error
	}{
		{"link to a file", func(at string) error { return link(elsewhere, at) }},
		{"link to nothing", func(at string) error { return os.Symlink(filepath.Join(dir, "nothing"), at) }},
		{"link to itself", func(at string) error { return os.Symlink(at, at) }},
		{"folder", func(at string) error { return os.Mkdir(at, 0o700) }},
		{"link as log", func(at string) error { return link(elsewhere, at+"-wal") }},
		{"link as shared memory", func(at string) error { return link(elsewhere, at+"-shm") }},
	}
	for i, c := range cases {
		at := filepath.Join(dir, fmt.Sprint(i))
		if err := c.make(at); err != nil {
			t.Logf("%s: not tried: %v", c.name, err)
			continue
		}
		if d, err := Open(Options{Path: at}); err == nil {
			d.Close()
			t.Errorf("%s: taken", c.name)
		}
	}
	if b, err := os.ReadFile(elsewhere); err != nil || string(b) != "mine" {
		t.Errorf("the file that a link led to was touched: %q, %v", b, err)
	}
	if _, err := Open(Options{Path: "history.db"}); err == nil {
		t.Error("a relative path was taken")
	}
}

func link(to, at string) error {
	if err := os.WriteFile(to, []byte("mine"), 0o600); err != nil {
		return err
	}
	return os.Symlink(to, at)
}

func TestOddNames(t *testing.T) {
	for _, name := range []string{"a b", "100%", "%41", "a?mode=memory", "a#b", "a&b=c", "ä", "file:x", "[x]*"} {
		at := filepath.Join(t.TempDir(), name)
		d, err := Open(Options{Path: at})
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(d.Put(done("a")), d.Sync(within(t)), d.Close())
		if info, statErr := os.Stat(at); err != nil || statErr != nil || info.Size() == 0 {
			t.Errorf("%q: %v, %v", name, err, statErr)
		}
	}
}

func TestBrokenIsSetAside(t *testing.T) {
	cases := map[string]func(t *testing.T, at string){
		"text":      func(t *testing.T, at string) { write(t, at, strings.Repeat("not a database\n", 500)) },
		"cut short": func(t *testing.T, at string) { cut(t, at, 5000) },
		"header lost": func(t *testing.T, at string) {
			cut(t, at, -1)
			patch(t, at, 0, strings.Repeat("\x00", 100))
		},
		"first page lost": func(t *testing.T, at string) {
			cut(t, at, -1)
			patch(t, at, 100, strings.Repeat("\xff", 3900))
		},
		"tables lost": func(t *testing.T, at string) {
			cut(t, at, -1)
			patch(t, at, 4096, strings.Repeat("\xff", 20_000))
		},
		"of another program": func(t *testing.T, at string) { other(t, at, "CREATE TABLE theirs (x)") },
		"marked by another":  func(t *testing.T, at string) { other(t, at, "PRAGMA application_id = 7") },
		"ours without the table": func(t *testing.T, at string) {
			other(t, at, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = 1", application))
		},
		"ours with another table": func(t *testing.T, at string) {
			other(t, at, fmt.Sprintf("CREATE TABLE runs (n); PRAGMA application_id = %d; PRAGMA user_version = 1", application))
		},
		"ours with a view for a table": func(t *testing.T, at string) {
			cut(t, at, -1)
			other(t, at, "ALTER TABLE runs RENAME TO rows; CREATE VIEW runs AS SELECT * FROM rows WHERE id <> '7'")
		},
		"ours with a trigger": func(t *testing.T, at string) {
			cut(t, at, -1)
			other(t, at, "CREATE TRIGGER forget AFTER INSERT ON runs BEGIN DELETE FROM runs; END")
		},
		"ours with a table more":    func(t *testing.T, at string) { cut(t, at, -1); other(t, at, "CREATE TABLE more (x)") },
		"ours with an index less":   func(t *testing.T, at string) { cut(t, at, -1); other(t, at, "DROP INDEX runs_agent") },
		"ours with a column more":   func(t *testing.T, at string) { cut(t, at, -1); other(t, at, "ALTER TABLE ends ADD COLUMN x TEXT") },
		"ours with another version": func(t *testing.T, at string) { cut(t, at, -1); other(t, at, "PRAGMA user_version = 3") },
	}
	for name, breakIt := range cases {
		t.Run(name, func(t *testing.T) {
			at := path(t)
			breakIt(t, at)
			before, err := os.ReadFile(at)
			if err != nil {
				t.Fatal(err)
			}
			var log logged
			now := time.Unix(1_700_000_000, 0)
			d := open(t, Options{Path: at, Log: log.logger(), Now: func() time.Time { return now }})
			put(t, d, done("a"))
			if got := ids(list(t, d, Query{})); got != "a" {
				t.Errorf("kept %q", got)
			}
			aside := at + ".broken-1700000000"
			if found, err := d.Broken(); err != nil || len(found) != 1 || found[0] != aside {
				t.Fatalf("set aside %q, %v", found, err)
			}
			after, err := os.ReadFile(aside)
			// One with our mark may be written to, all others never are.
			if err != nil || !strings.HasPrefix(name, "ours") && string(after) != string(before) {
				t.Errorf("it is not what it was: %v", err)
			}
			if !strings.Contains(log.String(), aside) {
				t.Errorf("the log does not say it:\n%s", log.String())
			}
		})
	}
}

func write(t *testing.T, at, text string) {
	t.Helper()
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// cut makes a history with rows and cuts it to a length, -1 for all of it.
func cut(t *testing.T, at string, length int64) {
	t.Helper()
	d := open(t, Options{Path: at})
	for i := range 50 {
		put(t, d, Row{ID: fmt.Sprint(i), State: Done, Command: strings.Repeat("x", 1000)})
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if length < 0 {
		return
	}
	if err := os.Truncate(at, length); err != nil {
		t.Fatal(err)
	}
}

func patch(t *testing.T, at string, offset int64, text string) {
	t.Helper()
	f, err := os.OpenFile(at, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(text), offset); err != nil {
		t.Fatal(err)
	}
}

func other(t *testing.T, at, stmt string) {
	t.Helper()
	db, err := sql.Open("sqlite", at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(stmt); err != nil {
		t.Fatal(err)
	}
}

func TestAsideNeverReplacesAnother(t *testing.T) {
	at, now := path(t), time.Unix(5, 0)
	for i, want := range []string{at + ".broken-5", at + ".broken-6", at + ".broken-7"} {
		write(t, at, fmt.Sprint(i))
		write(t, at+"-wal", fmt.Sprint(i))
		to, err := setAside(at, now)
		if err != nil || to != want {
			t.Fatalf("%s, %v", to, err)
		}
		for _, name := range []string{to, to + "-wal"} {
			if b, err := os.ReadFile(name); err != nil || string(b) != fmt.Sprint(i) {
				t.Errorf("%s: %q, %v", name, b, err)
			}
		}
	}
	if found, err := Broken(at); err != nil || len(found) != 3 {
		t.Errorf("%q, %v", found, err)
	}
}

func TestNewerIsLeftAlone(t *testing.T) {
	at := path(t)
	other(t, at, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = 99", application))
	d := open(t, Options{Path: at})
	if err := d.Sync(within(t)); !errors.Is(err, errNewer) {
		t.Errorf("Sync: %v", err)
	}
	if err := d.Put(Row{ID: "a", State: Running}); !errors.Is(err, errNewer) {
		t.Errorf("Put: %v", err)
	}
	if found, _ := d.Broken(); found != nil {
		t.Errorf("set aside: %s", found)
	}
}

func TestRemovedWhileInUse(t *testing.T) {
	at := path(t)
	d := open(t, Options{Path: at})
	put(t, d, done("before"))
	if err := d.Sync(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(at); err != nil {
		t.Skipf("this platform does not remove open files: %v", err)
	}
	put(t, d, done("after"))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if got := ids(list(t, open(t, Options{Path: at}), Query{})); got != "after" {
		t.Errorf("after the next start there is %q", got)
	}
}

func TestUnknownWordInTheFile(t *testing.T) {
	at := path(t)
	d := open(t, Options{Path: at})
	put(t, d, done("a"))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	other(t, at, "UPDATE runs SET verdict = 'sure'")
	if rows, err := open(t, Options{Path: at}).List(within(t), Query{}); err == nil || !strings.Contains(err.Error(), "row 1") {
		t.Errorf("%v, %v", rows, err)
	}
}
