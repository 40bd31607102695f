package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

func TestUsed(t *testing.T) {
	dir := stateDir(t)
	write(t, dir, doc(`"agents": {"a": {"allowlist": [{"id": "i", "pattern": "/x", "lastUsedCommand": "old"}]},
		"*": {"allowlist": [{"id": "s", "pattern": "/s"}]}, "b": {"allowlist": [{"id": "i", "pattern": "/x"}]}}`))
	o := options(dir)
	o.Now = func() time.Time { return time.UnixMilli(1234) }
	s := open(t, o)
	s.Used("a", "i", "", "/real/x")
	s.Used("a", "s", "s -l", "/s")
	s.Used("a", "gone", "g", "/g")
	s.Close() // writes what is left
	d := parse(t, read(t, file(dir)))
	for _, row := range []struct {
		agent         string
		at            int64
		command, path string
	}{
		{"a", 1234, "old", "/real/x"},
		{"*", 1234, "s -l", "/s"},
		{"b", 0, "", ""},
	} {
		if e := d.Agents[row.agent].Allowlist[0]; e.LastUsedAt != row.at || e.LastUsedCommand != row.command || e.LastResolvedPath != row.path {
			t.Errorf("agent %s: %+v", row.agent, e)
		}
	}
	if snap := open(t, options(dir)).Snapshot(); snap.Held != nil || snap.Broken != nil {
		t.Errorf("usage is an edit: %+v", snap)
	}
}

// Many uses are few writes.
func TestUsageIsCoalesced(t *testing.T) {
	dir := stateDir(t)
	write(t, dir, list(`{"id": "i", "pattern": "/x"}`))
	s := open(t, options(dir))
	versions, last := 0, ""
	for i := range 300 {
		s.Used("a", "i", fmt.Sprint("x ", i), "/x")
		if hash := s.Snapshot().Hash; hash != last {
			versions, last = versions+1, hash
		}
		time.Sleep(time.Millisecond)
	}
	s.Close()
	if versions > 30 {
		t.Errorf("%d versions of the file", versions)
	}
	if e := parse(t, read(t, file(dir))).Agents["a"].Allowlist[0]; e.LastUsedCommand != "x 299" {
		t.Errorf("last: %q", e.LastUsedCommand)
	}
	if n := len(s.backups.numbers()); n != 1 {
		t.Errorf("usage made %d backups", n)
	}
}

// Usage never overwrites an edit that waits, or a file that is broken.
func TestUsageGivesWay(t *testing.T) {
	for name, text := range map[string]string{"held": list(`{"id": "i", "pattern": "/*"}`), "broken": "{"} {
		dir := stateDir(t)
		write(t, dir, list(`{"id": "i", "pattern": "/x"}`))
		s := open(t, options(dir))
		write(t, dir, text)
		s.Used("a", "i", "x", "/x")
		s.Close()
		if read(t, file(dir)) != text {
			t.Errorf("%s: usage was written over it", name)
		}
	}
}

func TestConsume(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	for _, row := range []struct {
		what, entry string
		uses        int // that are granted, of 3
	}{
		{"no lease", `{"id": "i", "pattern": "/x"}`, 3},
		{"two left", `{"id": "i", "pattern": "/x", "usesLeft": 2}`, 2},
		{"none left", `{"id": "i", "pattern": "/x", "usesLeft": 0}`, 0},
		{"gone", `{"id": "j", "pattern": "/x"}`, 0},
		{"not yet over", `{"id": "i", "pattern": "/x", "expiresAt": 1000001}`, 3},
		{"over", `{"id": "i", "pattern": "/x", "expiresAt": 1000000}`, 0},
		{"over with uses left", `{"id": "i", "pattern": "/x", "expiresAt": 999999, "usesLeft": 2}`, 0},
		{"off", `{"id": "i", "pattern": "/x", "usesLeft": 2, "disabled": true}`, 0},
		{"twice with one id", `{"id": "i", "pattern": "/x", "usesLeft": 2}, {"id": "i", "pattern": "/y", "usesLeft": 1}`, 1},
	} {
		dir := stateDir(t)
		write(t, dir, list(row.entry))
		o := options(dir)
		o.Now = func() time.Time { return now }
		s := open(t, o)
		granted := 0
		for range 3 {
			err := s.Consume("i")
			switch {
			case err == nil:
				granted++
			case !errors.Is(err, ErrNoLease):
				t.Errorf("%s: %v", row.what, err)
			}
		}
		if granted != row.uses {
			t.Errorf("%s: %d uses, want %d", row.what, granted, row.uses)
		}
	}
}

// A use is on the disk when Consume returns, in the file and in what the next
// start compares it with.
func TestConsumeIsDurable(t *testing.T) {
	dir := stateDir(t)
	full := list(`{"id": "i", "pattern": "/x", "usesLeft": 5}`)
	write(t, dir, full)
	s := open(t, options(dir))
	if err := s.Consume("i"); err != nil {
		t.Fatal(err)
	}
	backup, _ := s.backups.newest()
	for _, text := range []string{read(t, file(dir)), string(backup)} {
		if left := *parse(t, text).Agents["a"].Allowlist[0].UsesLeft; left != 4 {
			t.Errorf("%d left", left)
		}
	}
	if left := *s.Snapshot().Policy("a").Allowlist[0].UsesLeft; left != 4 {
		t.Errorf("the policy has %d left", left)
	}
	if n := len(s.backups.numbers()); n != 1 {
		t.Errorf("a use made %d backups", n)
	}
	s.Close()
	write(t, dir, full) // somebody gives himself the use back
	s = open(t, options(dir))
	if s.Snapshot().Held == nil {
		t.Error("a used lease came back")
	}
	if err := s.Consume("i"); !errors.Is(err, ErrHeld) {
		t.Errorf("while held: %v", err)
	}
}

func TestConsumeAtOnce(t *testing.T) {
	s := openWith(t, list(`{"id": "i", "pattern": "/x", "usesLeft": 5}`))
	var wg sync.WaitGroup
	granted := make(chan bool, 20)
	for range 20 {
		wg.Go(func() {
			if s.Consume("i") == nil {
				granted <- true
			}
		})
	}
	wg.Wait()
	if len(granted) != 5 {
		t.Errorf("%d uses of 5", len(granted))
	}
}

// A use that cannot be written must not happen.
func TestConsumeWithoutDisk(t *testing.T) {
	dir := stateDir(t)
	write(t, dir, list(`{"id": "i", "pattern": "/x", "usesLeft": 5}`))
	s := open(t, options(dir))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Consume("i"); err == nil {
		t.Error("a lease was used without a trace")
	}
}

func TestWatch(t *testing.T) {
	dir := stateDir(t)
	one, two := doc(`"defaults": {"security": "full"}`), doc(`"defaults": {"security": "allowlist"}`)
	three, four := doc(`"defaults": {"security": "deny"}`), doc(`"defaults": {"security": "deny", "ask": "always"}`)
	write(t, dir, one)
	s := open(t, options(dir))
	for len(s.Changed()) > 0 {
		<-s.Changed()
	}
	sees := func(what, text string) {
		t.Helper()
		eventually(t, what, func() bool { return s.Snapshot().Hash == hashOf([]byte(text)) && s.Snapshot().Broken == nil })
	}
	write(t, dir, two)
	sees("written in place", two)
	select {
	case <-s.Changed():
	case <-time.After(20 * time.Second):
		t.Error("nobody was told")
	}
	if err := os.WriteFile(file(dir)+".new", []byte(three), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file(dir)+".new", file(dir)); err != nil {
		t.Fatal(err)
	}
	sees("replaced", three)
	if err := os.Remove(file(dir)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "deleted", func() bool { return s.Snapshot().Broken != nil })
	write(t, dir, four)
	sees("made again", four)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "folder gone", func() bool { return s.Snapshot().Broken != nil })
	if _, err := os.Lstat(dir); err == nil {
		t.Error("a folder that was taken away came back by itself")
	}
	write(t, dir, three)
	eventually(t, "folder back, and looser", func() bool { return s.Snapshot().Held != nil })
	write(t, dir, four)
	sees("watched again", four)
}

// Somebody who holds our lock keeps us from writing, not from looking.
func TestHeldLock(t *testing.T) {
	dir := stateDir(t)
	write(t, dir, doc(`"defaults": {"security": "full"}`))
	s := open(t, options(dir))
	unlock, err := lock(file(dir), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, doc(`"defaults": {"security": "deny"}`))
	eventually(t, "seen", func() bool { return s.Snapshot().Policy("a").Security == approval.SecurityDeny })
	if _, err := lock(s.path, time.Now()); err == nil || !strings.Contains(err.Error(), "another program holds the lock") {
		t.Errorf("locked twice: %v", err)
	}
	unlock()
	if _, err := s.Update("", func(d *Document) error { return d.Set("a", "ask", "always") }); err != nil {
		t.Errorf("update: %v", err)
	}
}
