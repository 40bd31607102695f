//go:build linux || darwin

package store

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestWhoeverHoldsTheLock keeps nobody from an edit, or from the edits that come
// after it.
func TestWhoeverHoldsTheLock(t *testing.T) {
	for name, bar := range map[string]func(path string) error{
		"another program": func(path string) error {
			unlock, err := lock(path, time.Now())
			if err == nil {
				t.Cleanup(unlock)
			}
			return err
		},
		"a folder": func(path string) error { return errors.Join(os.Remove(path+".lock"), os.Mkdir(path+".lock", 0o700)) },
		"a link": func(path string) error {
			return errors.Join(os.Remove(path+".lock"), os.Symlink("nowhere", path+".lock"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openWith(t, list(entryX))
			if err := bar(s.path); err != nil {
				t.Fatal(err)
			}
			tighten := func(d *Document) error { return d.Set("", "security", "deny") }
			if snap, err := s.Update(s.Snapshot().Hash, tighten); err != nil || snap.Policy("a").Security != approval.SecurityDeny {
				t.Errorf("tightening: %v", err)
			}
			write(t, s.opt.State.Dir, list(`{"id": "i", "pattern": "/**"}`))
			if err := s.Reject(s.Current().Held.Hash); err != nil {
				t.Errorf("reject: %v", err)
			}
			write(t, s.opt.State.Dir, list(`{"id": "i", "pattern": "/**", "usesLeft": 2}`))
			if err := s.Accept(s.Current().Held.Hash); err != nil {
				t.Errorf("accept: %v", err)
			}
			if err := s.Consume("i"); err != nil {
				t.Errorf("the use of a lease: %v", err)
			}
			if left := *parse(t, read(t, s.path)).Agents["a"].Allowlist[0].UsesLeft; left != 1 {
				t.Errorf("%d uses are left", left)
			}
			// What was accepted is kept, so that the next start compares with it.
			if kept, _ := s.backups.newest(); string(kept) != read(t, s.path) {
				t.Errorf("kept: %s", kept)
			}
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			if s, err := Open(options(s.opt.State.Dir)); (err == nil) != (name == "another program") {
				t.Errorf("start: %v", err)
			} else if err == nil {
				s.Close()
			}
		})
	}
}

// TestWhoHasTheFileOpen to write, and writes nothing, keeps nobody from an edit.
func TestWhoHasTheFileOpen(t *testing.T) {
	s := openWith(t, list(entryX))
	holder := func() {
		f, err := os.OpenFile(s.path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
	}
	holder()
	if snap, err := s.Update("", func(d *Document) error { return d.Set("", "security", "deny") }); err != nil || snap.Policy("a").Security != approval.SecurityDeny {
		t.Errorf("tightening: %v", err)
	}
	write(t, s.opt.State.Dir, list(`{"id": "i", "pattern": "/**"}`))
	holder()
	if err := s.Reject(""); err != nil || s.Current().Held != nil {
		t.Errorf("reject: %v", err)
	}
}

// TestTwoWithoutTheLock lets two stores of one folder edit at once, as two
// programs would, while a third holds the lock: no edit is lost.
func TestTwoWithoutTheLock(t *testing.T) {
	dir := stateDir(t)
	write(t, dir, doc())
	both := []*Store{open(t, options(dir)), open(t, options(dir))}
	unlock, err := lock(file(dir), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	const each = 15
	errs := make(chan error, len(both))
	for i, s := range both {
		go func() {
			var err error
			for n := range each {
				rule := approval.DenyRule{Pattern: string(rune('a'+i)) + string(rune('a'+n))}
				for saved := errOutside; errors.Is(saved, errOutside); {
					_, saved = s.Update("", func(d *Document) error { d.Deny("", rule); return nil })
					if !errors.Is(saved, errOutside) {
						err = errors.Join(err, saved)
					}
				}
			}
			errs <- err
		}()
	}
	if err := errors.Join(<-errs, <-errs); err != nil {
		t.Error(err)
	}
	if got := len(parse(t, read(t, file(dir))).Defaults.Denylist); got != len(both)*each {
		t.Errorf("%d rules of %d are there", got, len(both)*each)
	}
}
