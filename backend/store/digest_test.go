package store

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/countersign-app/countersign/backend/paths"
)

// memory is a vault that nobody reaches who writes files.
type memory struct {
	values map[string][]byte
	fails  error
}

func (m *memory) Get(name string) ([]byte, error) {
	if v, ok := m.values[name]; ok || m.fails != nil {
		return v, m.fails
	}
	return nil, fs.ErrNotExist
}

func (m *memory) Set(name string, value []byte) error {
	if m.fails == nil {
		m.values[name] = value
	}
	return m.fails
}

// What was accepted last is known by its hash, whatever was put in the place of
// the file and its backups while nobody ran.
func TestDigest(t *testing.T) {
	const allows = `"agents": {"a": {"security": "allowlist", "allowlist": ["/x"]}}`
	const more = `"agents": {"a": {"security": "allowlist", "allowlist": ["/x", "/evil"]}}`
	backup := func(dir string, n int) string {
		list := backups{paths.At(dir).Backups()}
		numbers := list.numbers()
		return list.path(numbers[len(numbers)-1-n])
	}
	put := func(at, text string) error { return os.WriteFile(at, []byte(text), 0o600) }
	for name, c := range map[string]struct {
		happens func(dir string, m *memory) error // while nobody runs
		held    string                            // a part of what waits, "" for nothing
		entries int                               // that hold
		told    string                            // a part of what the log says
	}{
		"nothing": {func(string, *memory) error { return nil }, "", 1, ""},
		"the file is loosened": {func(dir string, _ *memory) error { return put(file(dir), doc(more)) },
			`the entry "/evil" is new`, 1, ""},
		"the file and the newest backup are loosened": {func(dir string, _ *memory) error {
			return errors.Join(put(file(dir), doc(more)), put(backup(dir, 0), doc(more)))
		}, `the entry "/evil" is new`, 0, "not what was accepted"},
		"the file is loosened and the backups are gone": {func(dir string, _ *memory) error {
			return errors.Join(put(file(dir), doc(more)), os.RemoveAll(paths.At(dir).Backups()))
		}, `the entry "/evil" is new`, 0, "not what was accepted"},
		"a backup is added": {func(dir string, _ *memory) error {
			return errors.Join(put(file(dir), doc(more)), put(backups{paths.At(dir).Backups()}.path(99), doc(more)))
		}, `the entry "/evil" is new`, 1, ""},
		"the backups alone are gone":          {func(dir string, _ *memory) error { return os.RemoveAll(paths.At(dir).Backups()) }, "", 1, ""},
		"the newest backup alone is loosened": {func(dir string, _ *memory) error { return put(backup(dir, 0), doc(more)) }, "", 1, ""},
		"the file is tightened and the backups are gone": {func(dir string, _ *memory) error {
			return errors.Join(put(file(dir), doc(`"agents": {"a": {"security": "deny"}}`)), os.RemoveAll(paths.At(dir).Backups()))
		}, "", 0, "not what was accepted"},
		"the hash cannot be read": {func(_ string, m *memory) error { m.fails = errors.New("it is locked"); return nil },
			`the entry "/x" is new`, 0, "cannot be told which policy"},
		"the hash is gone, as before there was one": {func(_ string, m *memory) error { clear(m.values); return nil }, "", 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := stateDir(t)
			m := &memory{values: map[string][]byte{}}
			o := options(dir)
			o.Vault = m
			write(t, dir, doc(allows))
			s := open(t, o)
			_, err := s.Update("", func(d *Document) error { return d.Set("a", "ask", "always") })
			if err := errors.Join(err, s.Close()); err != nil {
				t.Fatal(err)
			}
			if err := c.happens(dir, m); err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			var lines strings.Builder
			o.Log = slog.New(slog.NewTextHandler(lockedWriter{&mu, &lines}, nil))
			s = open(t, o)
			snap := s.Snapshot()
			held := ""
			if snap.Held != nil {
				held = strings.Join(snap.Held.Loosens, "; ")
			}
			if got := snap.Policy("a"); len(got.Allowlist) != c.entries || (held == "") != (c.held == "") || !strings.Contains(held, c.held) {
				t.Errorf("%d entries hold, and what waits is %q", len(got.Allowlist), held)
			}
			mu.Lock()
			log := lines.String()
			mu.Unlock()
			if !strings.Contains(log, c.told) || c.told == "" && strings.Contains(log, "accepted last") {
				t.Errorf("told: %s", log)
			}
			if m.fails != nil || snap.Held != nil {
				return
			}
			hash := hashOf([]byte(read(t, file(dir))))
			if kept, _ := s.backups.newest(); string(m.values[digestName]) != hash || hashOf(kept) != hash {
				t.Errorf("the hash that is kept is %s, that of the newest backup %s, that of the file %s", m.values[digestName], hashOf(kept), hash)
			}
		})
	}
}
