package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// Ways in which others write the policy file. None of them takes a lock.
var outsideWriters = map[string]func(t *testing.T, dir, text string){
	"in place":  write,
	"by rename": writeByRename,
}

func writeByRename(t *testing.T, dir, text string) {
	t.Helper()
	temp := filepath.Join(dir, "editor~")
	if err := errors.Join(os.WriteFile(temp, []byte(text), 0o600), os.Rename(temp, file(dir))); err != nil {
		t.Fatal(err)
	}
}

// around runs something once before and once after the first exchange; either
// may be nil.
func (s *Store) around(before, after func()) {
	done := false
	s.exchange = func(a, b string) error {
		if done {
			return exchange(a, b)
		}
		done = true
		if before != nil {
			before()
		}
		err := exchange(a, b)
		if after != nil {
			after()
		}
		return err
	}
}

const entryX = `{"id": "i", "pattern": "/x", "usesLeft": 9}`

// outsideEdits are edits of list(entryX), and what they must come to.
var outsideEdits = []struct {
	name, text string
	is         func(Snapshot) bool
}{
	{"tighter", doc(`"defaults": {"denylist": ["rm"]}, "agents": {"a": {"allowlist": [` + entryX + `]}}`), func(s Snapshot) bool {
		return s.Broken == nil && s.Held == nil && len(s.Policy("a").Denylist) == 1
	}},
	{"looser", list(`{"id": "i", "pattern": "/*"}`), func(s Snapshot) bool { return s.Held != nil }},
	{"broken", `{"version": 1,`, func(s Snapshot) bool { return s.Broken != nil }},
}

func noteUse(d *Document) error {
	d.use(map[useKey]use{{"a", "i"}: {1, "x", "/x"}})
	return nil
}

func askAlways(d *Document) error { return d.Set("a", "ask", "always") }

// An edit from outside in any moment of a write of our own stays on the disk
// and is judged.
func TestOutsideEditWhileSaving(t *testing.T) {
	for _, what := range []saving{savedUsage, savedLease, savedEdit} {
		for _, when := range []string{"while editing", "before the exchange", "after the exchange"} {
			for how, outside := range outsideWriters {
				for _, row := range outsideEdits {
					t.Run(fmt.Sprint(what, " ", when, " ", how, " ", row.name), func(t *testing.T) {
						s := openWith(t, list(entryX))
						dir, done := s.opt.State.Dir, false
						now := func() { done = true; outside(t, dir, row.text) }
						switch when {
						case "before the exchange":
							s.around(now, nil)
						case "after the exchange":
							s.around(nil, now)
						}
						_, err := s.mutate("", what, func(d *Document) error {
							if when == "while editing" && !done {
								now()
							}
							if what == savedUsage {
								return noteUse(d)
							}
							return askAlways(d)
						})
						// What comes after the exchange comes after the write.
						late := when == "after the exchange"
						again := what != savedUsage && row.name == "tighter"
						is := row.is
						if late && again { // it takes our own edit away, which loosens
							is = outsideEdits[1].is
						}
						if ok := late || again; (err == nil) != ok {
							t.Errorf("error %v", err)
						}
						if !late && !is(s.Snapshot()) {
							t.Errorf("not yet judged: %+v", s.Snapshot())
						}
						eventually(t, "judged", func() bool { return is(s.Snapshot()) })
						switch text := read(t, file(dir)); {
						case again && !late:
							if d := parse(t, text); len(d.Defaults.Denylist) != 1 || d.Agents["a"].Ask != approval.AskAlways {
								t.Errorf("one of two edits is lost:\n%s", text)
							}
						case text != row.text:
							t.Errorf("an edit from outside is lost:\n%s", text)
						}
						if left := names(dir, "", tempSuffix); len(left) > 0 {
							t.Errorf("left behind: %q", left)
						}
					})
				}
			}
		}
	}
}

// leases skips a test where nobody tells who has a file open to write.
func leases(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	read, err := os.Open(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if !openToWrite(read) {
		t.Skip("here nobody tells who has a file open to write")
	}
}

// An editor may open the file, and write and close it only when our own write
// is over.
func TestOutsideEditorThatIsSlow(t *testing.T) {
	leases(t)
	for _, when := range []string{"while editing", "before the exchange"} {
		for _, row := range outsideEdits {
			t.Run(when+" "+row.name, func(t *testing.T) {
				s := openWith(t, list(entryX))
				dir := s.opt.State.Dir
				var editor *os.File
				opens := func() {
					var err error
					if editor, err = os.OpenFile(file(dir), os.O_RDWR, 0); err != nil {
						t.Fatal(err)
					}
				}
				if when == "before the exchange" {
					s.around(opens, nil)
				}
				_, err := s.mutate("", savedUsage, func(d *Document) error {
					if when == "while editing" {
						opens()
					}
					return noteUse(d)
				})
				if !errors.Is(err, errOutside) {
					t.Errorf("error %v", err)
				}
				if text := read(t, file(dir)); text != list(entryX) {
					t.Errorf("written under an editor:\n%s", text)
				}
				_, err = editor.WriteAt([]byte(row.text), 0)
				if err := errors.Join(err, editor.Truncate(int64(len(row.text))), editor.Close()); err != nil {
					t.Fatal(err)
				}
				eventually(t, "judged", func() bool { return row.is(s.Snapshot()) })
				if text := read(t, file(dir)); text != row.text {
					t.Errorf("an edit from outside is lost:\n%s", text)
				}
			})
		}
	}
}

// Of several edits that come in the middle of one write the last one stays.
func TestOutsideEditsWhilePuttingBack(t *testing.T) {
	one, two := outsideEdits[0].text, outsideEdits[2].text
	for how, outside := range outsideWriters {
		t.Run(how, func(t *testing.T) {
			s := openWith(t, list(entryX))
			dir := s.opt.State.Dir
			s.around(func() { outside(t, dir, one) }, func() { outside(t, dir, two) })
			if _, err := s.mutate("", savedUsage, noteUse); !errors.Is(err, errOutside) {
				t.Errorf("error %v", err)
			}
			if text := read(t, file(dir)); text != two || s.Snapshot().Broken == nil {
				t.Errorf("not the last one: %v\n%s", s.Snapshot().Broken, text)
			}
			if left := names(dir, "", tempSuffix); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
	t.Run("deleted", func(t *testing.T) {
		s := openWith(t, list(entryX))
		dir := s.opt.State.Dir
		s.around(func() { write(t, dir, one) }, func() { os.Remove(file(dir)) })
		if _, err := s.mutate("", savedUsage, noteUse); !errors.Is(err, errOutside) {
			t.Errorf("error %v", err)
		}
		if text := read(t, file(dir)); text != one {
			t.Errorf("an edit from outside is lost:\n%s", text)
		}
	})
	t.Run("one after the other, for as long as we try", func(t *testing.T) {
		s := openWith(t, list(entryX))
		dir, n := s.opt.State.Dir, 0
		s.exchange = func(a, b string) error {
			n++
			writeByRename(t, dir, fmt.Sprint("{", n))
			return exchange(a, b)
		}
		err := func() error { s.mu.Lock(); defer s.mu.Unlock(); return s.write([]byte("ours"), s.accepted.hash) }()
		if !errors.Is(err, errOutside) || n != swapRounds+1 || !strings.HasPrefix(read(t, file(dir)), "{") {
			t.Errorf("%v after %d exchanges: %s", err, n, read(t, file(dir)))
		}
	})
}

// What is not a plain file comes back too, as it was.
func TestOutsideLinkWhileSaving(t *testing.T) {
	s := openWith(t, list(entryX))
	dir := s.opt.State.Dir
	s.around(func() {
		if err := errors.Join(os.Remove(file(dir)), os.Symlink("elsewhere", file(dir))); err != nil {
			t.Error(err)
		}
	}, nil)
	if _, err := s.Update("", askAlways); err == nil {
		t.Error("a link was replaced")
	}
	if to, err := os.Readlink(file(dir)); to != "elsewhere" {
		t.Errorf("%q, %v", to, err)
	}
	checkBroken(t, s, "")
}

func TestDeletedWhileSaving(t *testing.T) {
	s := openWith(t, list(entryX))
	s.around(func() { os.Remove(file(s.opt.State.Dir)) }, nil)
	if _, err := s.Update("", askAlways); err == nil {
		t.Error("saved")
	}
	checkBroken(t, s, "is gone")
	if left := names(s.opt.State.Dir, "", tempSuffix); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// A person who rejects one version has not seen the next.
func TestRejectOfAnotherVersion(t *testing.T) {
	s := openWith(t, list(entryX))
	dir, next := s.opt.State.Dir, list(`{"id": "i", "pattern": "/**"}`)
	write(t, dir, list(`{"id": "i", "pattern": "/*"}`))
	eventually(t, "held", func() bool { return s.Snapshot().Held != nil })
	s.around(func() { writeByRename(t, dir, next) }, nil)
	if err := s.Reject(""); err != ErrChanged {
		t.Errorf("reject: %v", err)
	}
	if held := s.Snapshot().Held; held == nil || held.Hash != change(s.Snapshot().Hash, hashOf([]byte(next))) || read(t, file(dir)) != next {
		t.Errorf("%+v", s.Snapshot())
	}
	if err := s.Reject(""); err != nil || s.Snapshot().Held != nil {
		t.Errorf("reject again: %v", err)
	}
}

func TestFirstFileIsNotReplaced(t *testing.T) {
	s := openWith(t, list(entryX))
	if err := s.write([]byte(doc()), ""); err != errOutside {
		t.Errorf("error %v", err)
	}
	if read(t, file(s.opt.State.Dir)) != list(entryX) {
		t.Error("replaced")
	}
}

// Where two files cannot change places, the file is looked at before a rename.
func TestWithoutExchange(t *testing.T) {
	for how, outside := range outsideWriters {
		s := openWith(t, list(entryX))
		dir := s.opt.State.Dir
		s.exchange = func(string, string) error { return errors.ErrUnsupported }
		if _, err := s.Update("", askAlways); err != nil || parse(t, read(t, file(dir))).Agents["a"].Ask != approval.AskAlways {
			t.Errorf("%s: update: %v", how, err)
		}
		_, err := s.mutate("", savedUsage, func(d *Document) error {
			outside(t, dir, "{")
			return noteUse(d)
		})
		if !errors.Is(err, errOutside) || s.Snapshot().Broken == nil || read(t, file(dir)) != "{" {
			t.Errorf("%s: %v\n%s", how, err, read(t, file(dir)))
		}
		if left := names(dir, "", tempSuffix); len(left) > 0 {
			t.Errorf("%s: left behind: %q", how, left)
		}
	}
}

// Somebody who goes on editing is not waited for without an end.
func TestOutsideWriterThatGoesOn(t *testing.T) {
	s := openWith(t, list(entryX))
	tries := 0
	_, err := s.Update("", func(d *Document) error {
		tries++
		write(t, s.opt.State.Dir, list(entryX)+strings.Repeat("\n", tries))
		return askAlways(d)
	})
	if !errors.Is(err, errOutside) || tries != saveTries {
		t.Errorf("%d tries: %v", tries, err)
	}
}

// Nothing that somebody writes is lost while we write as fast as we can: a
// rule that they add stays, and a broken file stays as it is.
func TestOutsideWriterAgainstOurs(t *testing.T) {
	for how, outside := range outsideWriters {
		t.Run(how, func(t *testing.T) {
			if how == "in place" {
				leases(t)
			}
			dir := stateDir(t)
			write(t, dir, list(entryX))
			s := open(t, options(dir))
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
					}
					s.Used("a", "i", fmt.Sprint("x ", i), "/x")
					s.flushUsage()
					s.Update("", func(d *Document) error { // fails while the file is broken
						return d.Set("a", "ask", []string{"always", "on-miss"}[i%2])
					})
				}
			}()
			var rules []string
			for i := range 150 {
				rule := fmt.Sprint("rule", i)
				list := `"` + strings.Join(append(rules, rule), `", "`) + `"`
				text := doc(`"defaults": {"denylist": [`+list+`]}`, `"agents": {"a": {"ask": "always", "allowlist": [`+entryX+`]}}`)
				if i%3 == 2 {
					text = "{" + rule
				}
				outside(t, dir, text)
				time.Sleep(time.Duration(i%7) * time.Millisecond)
				eventually(t, rule+" on the disk and judged", func() bool {
					snap := s.Snapshot()
					if i%3 == 2 {
						return snap.Broken != nil && read(t, file(dir)) == text
					}
					now := snap.Policy("a").Denylist
					return len(now) == len(rules)+1 && now[len(rules)].Pattern == rule && strings.Contains(read(t, file(dir)), `"`+rule+`"`)
				})
				if i%3 != 2 {
					rules = append(rules, rule)
				}
			}
			close(stop)
			<-stopped
			if left := names(dir, "", tempSuffix); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// Whoever reads that the file is broken also reads how to get out of that.
func TestWayOut(t *testing.T) {
	dir := stateDir(t)
	write(t, dir, "{")
	s := open(t, options(dir))
	if err := s.Snapshot().Broken; err == nil || strings.Contains(err.Error(), "copy") {
		t.Errorf("without a backup: %v", err)
	}
	s.Close()
	write(t, dir, list(entryX))
	s = open(t, options(dir))
	if s.Snapshot().Held != nil { // what was broken at first is compared with nothing
		if err := s.Accept(s.Snapshot().Held.Hash); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "{")
	eventually(t, "broken", func() bool { return s.Snapshot().Broken != nil })
	want := "; mend it, or copy the newest file of " + s.backups.dir + " over it"
	_, err := s.Update("", askAlways)
	for _, got := range []string{s.Snapshot().Broken.Error(), s.Snapshot().Policy("a").Broken, err.Error()} {
		if !strings.HasSuffix(got, want) {
			t.Errorf("no way out: %s", got)
		}
	}
	var where *FieldError
	if !errors.As(s.Snapshot().Broken, &where) || where.Line == 0 {
		t.Errorf("no place: %v", s.Snapshot().Broken)
	}
	// It works, also for a file that is gone.
	os.Remove(file(dir))
	eventually(t, "gone", func() bool { return strings.HasSuffix(s.Snapshot().Policy("a").Broken, s.backups.dir+" to its place") })
	backup, _ := s.backups.newest()
	write(t, dir, string(backup))
	eventually(t, "mended", func() bool { return s.Snapshot().Broken == nil && s.Snapshot().Held == nil })
}
