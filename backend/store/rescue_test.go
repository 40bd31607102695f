package store

import (
	"sync/atomic"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// mine is a vault that panics when it is armed.
type mine struct {
	memory
	armed atomic.Bool
}

func (m *mine) Set(name string, value []byte) error {
	if m.armed.Load() {
		panic("secret")
	}
	return m.memory.Set(name, value)
}

// TestPanics: where an edit, ours or from outside, panics at its way into the store,
// what held before holds on, nothing stays locked, and the next edit is taken.
func TestPanics(t *testing.T) {
	dir := stateDir(t)
	write(t, dir, doc())
	m := &mine{memory: memory{values: map[string][]byte{}}}
	o := options(dir)
	o.Vault = m
	s := open(t, o)
	set := func(value string) error {
		_, err := s.Update("", func(d *Document) error { return d.Set("a", "ask", value) })
		return err
	}
	if err := set("on-miss"); err != nil {
		t.Fatal(err)
	}
	ask := func() string { return string(s.Snapshot().Policy("a").Ask) }

	caught := func(do func()) (is bool) { // as whoever serves a call does
		defer rescue.Catch(o.Log, "a test", func() { is = true })
		do()
		return false
	}
	if !caught(func() { _, _ = s.Update("", func(*Document) error { panic("secret") }) }) {
		t.Error("it did not panic")
	}
	if got := ask(); got != "on-miss" {
		t.Errorf("%s holds", got)
	}
	if err := set("always"); err != nil || ask() != "always" {
		t.Errorf("then %v, %s", err, ask())
	}

	before := rescue.Caught()
	m.armed.Store(true)
	write(t, dir, doc(`"agents": {"a": {"security": "deny", "ask": "always"}}`))
	eventually(t, "it was counted", func() bool { return rescue.Caught() > before })
	if got := s.Snapshot().Policy("a").Security; got == approval.SecurityFull {
		t.Errorf("%s holds", got)
	}
	m.armed.Store(false)
	write(t, dir, doc(`"agents": {"a": {"security": "deny", "ask": "always", "displayName": "x"}}`))
	eventually(t, "the next edit is taken", func() bool { return s.Snapshot().Document.Agents["a"].DisplayName == "x" })
	if err := set("on-miss"); err != nil || ask() != "on-miss" {
		t.Errorf("then %v, %s", err, ask())
	}
}
