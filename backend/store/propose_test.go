package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/paths"
)

// TestPropose takes a policy from elsewhere as far as it tightens.
func TestPropose(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	write(t, dir, doc(`"agents": {"a": {"security": "allowlist", "allowlist": ["/x", "/y"]}}`))
	s := open(t, Options{State: paths.At(dir), Home: "/home/u", Now: func() time.Time { return now }})
	propose := func(text string) error {
		_, err := s.Propose(s.Snapshot().Hash, []byte(text))
		return err
	}
	before := len(s.backups.numbers())
	first, err := os.ReadFile(s.backups.path(s.backups.numbers()[before-1]))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * keptVersions {
		if err := propose(doc(fmt.Sprintf(`"n": %d, "agents": {"a": {"security": "allowlist", "allowlist": ["/x"]}}`, i))); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.Snapshot().Policy("a").Allowlist); n != 1 {
		t.Errorf("%d entries", n)
	}
	kept, err := os.ReadFile(s.backups.path(s.backups.numbers()[before-1]))
	if err != nil || string(kept) != string(first) || len(s.backups.numbers()) != before+1 {
		t.Errorf("%d backups, and the person's is %s (%v)", len(s.backups.numbers()), kept, err)
	}
	for name, row := range map[string]struct {
		text string
		want string
	}{
		"no JSON": {"{", "unexpected"},
		"version": {`{"version": 9}`, "version"},
		"grows":   {doc(`"x": ` + strings.Repeat("[", 3000) + strings.Repeat("]", 3000)), ""},
	} {
		hash := s.Snapshot().Hash
		if err := propose(row.text); err == nil || !strings.Contains(err.Error(), row.want) || s.Snapshot().Hash != hash || s.Snapshot().Broken != nil {
			t.Errorf("%s: %v %v", name, err, s.Snapshot().Broken)
		}
	}
	if _, err := s.Propose("another", []byte(doc())); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	// What loosens waits, and is not asked about again once it was turned down.
	looser := doc(`"agents": {"a": {"security": "full"}}`)
	if err := propose(looser); err != nil || s.Snapshot().Held == nil {
		t.Fatal(err)
	}
	if err := propose(doc()); !errors.Is(err, ErrHeld) {
		t.Error(err)
	}
	if err := s.Reject(""); err != nil {
		t.Fatal(err)
	}
	if err := propose(looser); !errors.Is(err, ErrTurnedDown) {
		t.Error(err)
	}
	if err := propose(doc(`"agents": {"a": {"security": "deny"}}`)); err != nil || s.Snapshot().Held != nil {
		t.Error("what tightens is refused too:", err)
	}
	now = now.Add(quiet)
	if err := propose(looser); err != nil || s.Snapshot().Held == nil {
		t.Error(err)
	}
}
