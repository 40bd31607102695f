//go:build linux || darwin

package gate_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

// TestFederatedOff keeps to a person who wants not to be asked: what their own
// policy denies is neither asked nor let pass because a gateway, or an edit that
// nobody accepted, wants something asked about.
func TestFederatedOff(t *testing.T) {
	t.Parallel()
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	asksAll := `"tools": {"rules": {"*": {"ask": "always"}}}`
	for name, c := range map[string]struct {
		security          approval.Security
		own               string // of the person's file, beside
		federated, edited string
	}{
		"a rule for tools":            {approval.SecurityList, ``, asksAll, ``},
		"a rule for tools, waits":     {approval.SecurityList, ``, ``, asksAll},
		"ask":                         {approval.SecurityFull, ``, `"defaults": {"ask": "always"}`, ``},
		"ask, of what is listed only": {approval.SecurityFull, `"tools": {"rules": {"file_write": {"security": "allowlist"}}}`, `"defaults": {"ask": "on-miss"}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.person(once, nil)
			b.onlyProject("work/app")
			b.edit(func(d *store.Document) error {
				d.Defaults.Security, d.Defaults.Ask, d.Defaults.AskFallback = c.security, approval.AskOff, approval.SecurityFull
				return d.Follow(store.PolicySource{Gateway: "home:1", Key: base64.RawURLEncoding.EncodeToString(public)})
			})
			write := func(more string) {
				if more != "" {
					b.rewrite(func(text []byte) []byte { return bytes.Replace(text, []byte("{"), []byte("{"+more+","), 1) })
				}
			}
			if write(c.own); c.own != "" {
				if err := b.store.Accept(b.store.Current().Held.Hash); err != nil {
					t.Fatal(err)
				}
			}
			signed, err := store.SignPolicy(key, 1, []byte(strings.TrimSuffix(`{"version": 1, `+c.federated, ", ")+`}`))
			if err == nil {
				err = b.store.Federate(signed)
			}
			if err != nil {
				t.Fatal(err)
			}
			write(c.edited)
			touched := b.call("file_write", "path", b.path("work/app/a"), "content", "x")
			if c.own == "" && c.security == approval.SecurityFull {
				touched = b.call("file_write", "path", b.path("../.zshrc"), "content", "x")
			}
			for _, can := range []bool{true, false} {
				b.canAsk.Store(can)
				if got := b.evaluate(touched); !strings.HasPrefix(got, "deny") {
					t.Errorf("somebody can be asked %v: %s", can, got)
				}
			}
		})
	}
}

// TestFederatedQuestions asks about what the person lists, where the gateway wants
// all asked, and still denies the rest unasked.
func TestFederatedQuestions(t *testing.T) {
	t.Parallel()
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, approval.Entry{Pattern: "listed"})
	b.script("listed", "echo ran")
	b.script("other", "echo ran")
	b.edit(func(d *store.Document) error {
		d.Defaults.Ask = approval.AskOff
		return d.Follow(store.PolicySource{Gateway: "home:1", Key: base64.RawURLEncoding.EncodeToString(public)})
	})
	signed, err := store.SignPolicy(key, 1, []byte(`{"version": 1, "defaults": {"ask": "always"}}`))
	if err := errors.Join(err, b.store.Federate(signed)); err != nil {
		t.Fatal(err)
	}
	asked := 0
	b.person(once, func() { asked++ })
	b.want([]string{"listed"}, `code 0 "ran\n"`)
	b.want([]string{"other"}, "denied allowlist-miss")
	if asked != 1 {
		t.Errorf("%d questions", asked)
	}
	b.canAsk.Store(false)
	b.want([]string{"listed"}, "denied ask-fallback")
}

// rewrite puts another text in the place of the policy file.
func (b *bench) rewrite(change func(text []byte) []byte) {
	file := b.path("state/exec-approvals.json")
	text, err := os.ReadFile(file)
	if err := errors.Join(err, os.WriteFile(file+".edit", change(text), 0o600), os.Rename(file+".edit", file)); err != nil {
		b.t.Error(err)
	}
}
