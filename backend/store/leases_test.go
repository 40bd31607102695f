package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// What ends is taken out of every agent's list, also what was switched off, and
// the rest stays in its order.
func TestEndLeases(t *testing.T) {
	n := 0
	d := &Document{}
	for _, e := range []approval.Entry{
		{Pattern: "/a"}, {Pattern: "/b", ExpiresAt: 1}, {Pattern: "/c", UsesLeft: &n}, {Pattern: "/d", SessionKey: "s"},
		{Pattern: "/e", SessionKey: "s", Disabled: true}, {Pattern: "/f", Cwd: "/x"},
	} {
		d.Add("main", e)
		d.Add(Every, e)
	}
	if ended := d.EndLeases(nil); ended != 8 {
		t.Errorf("%d ended", ended)
	}
	for _, agent := range d.Agents {
		if l := agent.Allowlist; len(l) != 2 || l[0].Pattern != "/a" || l[1].Pattern != "/f" {
			t.Errorf("%+v", l)
		}
	}
	if d.EndLeases(nil) != 0 || (&Document{}).EndLeases(nil) != 0 {
		t.Error("there was nothing left")
	}
}

// TestLeaseLimit: no door gives a lease that lasts longer than one may, and what was
// given before is left alone.
func TestLeaseLimit(t *testing.T) {
	now := time.Now()
	until := func(d time.Duration) int64 { return now.Add(d).UnixMilli() }
	entry := func(pattern string, ends int64) string {
		return fmt.Sprintf(`{"pattern": %q, "expiresAt": %d}`, pattern, ends)
	}
	const day = 24 * time.Hour
	fits, over := until(30*day), until(30*day+time.Minute)
	dir := stateDir(t)
	write(t, dir, list(entry("/old", until(41*day))))
	o := options(dir)
	o.Now = func() time.Time { return now }
	s := open(t, o)
	add := func(agentID, pattern string, ends int64) error {
		_, err := s.Update("", func(d *Document) error {
			d.Add(agentID, approval.Entry{Pattern: pattern, ExpiresAt: ends})
			return nil
		})
		return err
	}
	for _, row := range []struct {
		agentID, pattern string
		ends             int64
		fits             bool
	}{
		{"a", "/x", fits, true}, {"a", "/y", over, false}, {"a", "tool:x", over, false}, {Every, "/y", over, false}, {"b", "/old", until(41 * day), false},
		{"a", "/old", until(42 * day), false}, {"a", "/never", 0, true},
	} {
		if err := add(row.agentID, row.pattern, row.ends); (err == nil) != row.fits {
			t.Errorf("%s for %s: %v", row.pattern, row.agentID, err)
		}
	}
	if _, err := s.Propose(s.Snapshot().Hash, []byte(list(entry("/y", over)))); err == nil || s.Snapshot().Held != nil {
		t.Error("it was proposed")
	}
	write(t, dir, list(entry("/y", over)))
	eventually(t, "the edit waits", func() bool { return s.Snapshot().Held != nil })
	first := s.Snapshot().Held.Hash
	if err := s.Accept(first); err == nil || s.Snapshot().Held == nil {
		t.Errorf("an edit of the file was accepted: %v", err)
	}
	write(t, dir, list(entry("/y", fits)))
	eventually(t, "the mended edit waits", func() bool { return s.Snapshot().Held != nil && s.Snapshot().Held.Hash != first })
	if err := s.Accept(s.Snapshot().Held.Hash); err != nil {
		t.Error(err)
	}
}

// TestLeasesEnd: what ends by its uses or its session ends by the clock too.
func TestLeasesEnd(t *testing.T) {
	five := 5
	const given, limit = int64(1_000_000), int64(30 * 24 * 3600 * 1000)
	for _, row := range []struct {
		name  string
		entry approval.Entry
		ends  int64
	}{
		{"no lease", approval.Entry{AddedAt: given}, 0},
		{"short", approval.Entry{AddedAt: given, ExpiresAt: given + 1}, given + 1},
		{"just so", approval.Entry{AddedAt: given, ExpiresAt: given + limit}, given + limit},
		{"41 days", approval.Entry{AddedAt: given, ExpiresAt: given + 41*limit/30}, given + limit},
		{"uses", approval.Entry{AddedAt: given, UsesLeft: &five}, given + limit},
		{"session", approval.Entry{AddedAt: given, SessionKey: "s"}, given + limit},
		{"given at no time", approval.Entry{UsesLeft: &five}, 0},
		{"over before", approval.Entry{AddedAt: given, ExpiresAt: 1}, 1},
	} {
		if got := row.entry.Ends(); got != row.ends {
			t.Errorf("%s: %d, want %d", row.name, got, row.ends)
		}
		if row.ends == 0 {
			continue
		}
		if row.entry.Ended(time.UnixMilli(row.ends-1)) || !row.entry.Ended(time.UnixMilli(row.ends)) {
			t.Errorf("%s: it does not end at %d", row.name, row.ends)
		}
	}
}
