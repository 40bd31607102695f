//go:build linux || darwin

package host

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/operator"
	"github.com/countersign-app/countersign/backend/store"
)

// TestChangedPassphraseIsTold: another key than at the last start is told, also by
// the starts after it, until it is long ago.
func TestChangedPassphraseIsTold(t *testing.T) {
	b := newBench(t)
	told := func(name string, want bool, happens func()) {
		t.Helper()
		b.again(func(string) { happens() })
		if got := b.Status().PassphraseChanged; (got != 0) != want {
			t.Errorf("%s: told is %d", name, got)
		}
	}
	writes := func() {
		key, err := operator.New(passphrase)
		must(t, err)
		must(t, key.Write(b.opt.State.OperatorPublic()))
	}
	seenAt := filepath.Join(b.opt.State.Dir, seenName)
	told("the first start, without one", false, func() { must(t, os.Remove(seenAt)) })
	told("the same", false, func() {})
	told("one was set", true, writes)
	told("the start after", true, func() {})
	forget := func() { must(t, os.Remove(seenAt)) }
	told("the first start, with one", false, forget)
	told("the same again", false, func() {})
	told("the same words under other salt", true, writes)
	told("removed", true, func() { must(t, os.Remove(b.opt.State.OperatorPublic())) })
	told("what was kept cannot be read", true, func() { must(t, os.WriteFile(seenAt, []byte("{"), 0o600)) })
	b.keyChanged = time.Now().Add(-tellsChange - time.Minute).UnixMilli()
	if got := b.Status().PassphraseChanged; got != 0 {
		t.Errorf("long ago: %d", got)
	}
}

// TestWays: the status says how the person is known, and whose answers count.
func TestWays(t *testing.T) {
	key, err := operator.New(passphrase)
	must(t, err)
	for name, row := range map[string]struct {
		passphrase, terminal, anyone, panel, fromTerminal bool
		root                                              string
		want                                              []Way
	}{
		"nothing":                           {want: []Way{}},
		"the host's terminal":               {terminal: true, want: []Way{ByTerminal}},
		"a passphrase":                      {passphrase: true, terminal: true, want: []Way{ByPassphrase}},
		"root's file":                       {root: "/x", want: []Way{ByKey}},
		"both":                              {passphrase: true, root: "/x", want: []Way{ByPassphrase, ByKey}},
		"anyone":                            {passphrase: true, anyone: true, want: []Way{ByAnyone}},
		"the window":                        {passphrase: true, panel: true, want: []Way{ByWindow}},
		"the window, and answers elsewhere": {passphrase: true, panel: true, fromTerminal: true, want: []Way{ByWindow, ByPassphrase}},
	} {
		h := &Host{passphrase: row.passphrase, opt: Options{
			Terminal: row.terminal, OperateAnyone: row.anyone, Panel: row.panel, OperatorKeys: row.root,
			FromTerminal: func() bool { return row.fromTerminal },
		}}
		if row.passphrase || row.root != "" {
			h.keys = []operator.Key{key}
		}
		if got := h.ways(); !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
	b := newBench(t)
	_, err = b.Update(func(d *store.Document) error {
		for _, id := range []string{"a", "b"} {
			d.Agent(id).AcceptAnswersFrom = []string{"desk:1", id}
		}
		return nil
	})
	must(t, err)
	if got := b.Status().Confirms; !slices.Equal(got, []Way{}) {
		t.Errorf("a host without a passphrase: %q", got)
	}
	b.again(func(string) { must(t, key.Write(b.opt.State.OperatorPublic())) })
	if got := b.Status().Confirms; !slices.Equal(got, []Way{ByPassphrase}) {
		t.Errorf("a host with one: %q", got)
	}
	if got := b.Status().AnswersFrom; !slices.Equal(got, []string{"a", "b", "desk:1"}) {
		t.Errorf("answers of %q count", got)
	}
}
