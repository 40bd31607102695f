//go:build unix

package vault

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/signature"
)

// fakeChain is a Keychain that answers with one status, done for one that works.
type fakeChain struct {
	says status
	has  map[string]string
}

func (c fakeChain) get(name string) ([]byte, status) {
	if c.says != done {
		return nil, c.says
	}
	value, ok := c.has[name]
	if !ok {
		return nil, notFound
	}
	return []byte(value), done
}

func (c fakeChain) set(name string, value []byte) status {
	if c.says == done {
		c.has[name] = string(value)
	}
	return c.says
}

// Where a secret is found and kept, by what the Keychain and the file hold.
func TestGuarded(t *testing.T) {
	const locked = status(-25308) // errSecInteractionNotAllowed
	for name, c := range map[string]struct {
		chain        fakeChain
		file         string // what it holds, "" for none
		get          string // "error" or "none" for those
		after        string // what the file holds then
		set          bool   // whether another value can be kept
		chained      string // what the Keychain holds in the end
		fileAfterSet string
	}{
		"in the Keychain":                     {fakeChain{done, map[string]string{"key": "k"}}, "", "k", "", true, "new", ""},
		"a file beside it does not count":     {fakeChain{done, map[string]string{"key": "k"}}, "f", "k", "f", true, "new", ""},
		"a file moves in":                     {fakeChain{done, map[string]string{}}, "f", "f", "", true, "new", ""},
		"nowhere":                             {fakeChain{done, map[string]string{}}, "", "none", "", true, "new", ""},
		"not entitled: the file":              {fakeChain{noEntitlement, nil}, "f", "f", "f", true, "", "new"},
		"not entitled, and no file":           {fakeChain{noEntitlement, nil}, "", "none", "", true, "", "new"},
		"locked: the file does not count":     {fakeChain{locked, nil}, "f", "error", "f", false, "", "f"},
		"locked, and nothing is made instead": {fakeChain{locked, nil}, "", "error", "", false, "", ""},
	} {
		dir := t.TempDir()
		file := func() string { text, _ := os.ReadFile(filepath.Join(dir, "key")); return string(text) }
		if c.file != "" {
			if err := os.WriteFile(filepath.Join(dir, "key"), []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		g := guarded{c.chain, files{dir}}
		value, err := g.Get("key")
		got := string(value)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			got = "none"
		case err != nil:
			got = "error"
		}
		if got != c.get || file() != c.after {
			t.Errorf("%s: got %q (%v), then the file holds %q", name, got, err, file())
		}
		if err := g.Set("key", []byte("new")); (err == nil) != c.set || c.chain.has["key"] != c.chained || file() != c.fileAfterSet {
			t.Errorf("%s: set: %v, the Keychain holds %q, the file %q", name, err, c.chain.has["key"], file())
		}
	}
}

// A file is the person's alone, and another value takes its place whole.
func TestFiles(t *testing.T) {
	v := Open(t.TempDir()).(files)
	if _, err := v.Get("key"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	for _, want := range []string{"one", "", strings.Repeat("x", maxSize)} {
		if err := v.Set("key", []byte(want)); err != nil {
			t.Fatal(err)
		}
		if got, err := v.Get("key"); err != nil || string(got) != want {
			t.Errorf("%.9q: got %.9q, %v", want, got, err)
		}
	}
	if info, err := os.Stat(v.path("key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if list, _ := os.ReadDir(v.dir); len(list) != 1 {
		t.Errorf("left behind: %v", list)
	}
	if err := os.Chmod(v.path("key"), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Get("key"); err == nil || !strings.Contains(err.Error(), "0600") {
		t.Errorf("readable by others: %v", err)
	}
}

func TestTeam(t *testing.T) {
	ours := signature.Signature{Identifier: "app.countersign", Team: "TEAM", CDHash: "aa", Intact: true}
	adHoc := signature.Signature{Identifier: "app.countersign", CDHash: "aa", Flags: signature.AdHoc, Intact: true}
	for name, c := range map[string]struct {
		list []signature.Signature
		want string
	}{
		"signed": {[]signature.Signature{ours, ours}, "TEAM"}, "ad hoc": {[]signature.Signature{adHoc}, ""},
		"half":       {[]signature.Signature{ours, adHoc}, ""},
		"not signed": {[]signature.Signature{{}}, ""}, "nothing": {nil, ""},
	} {
		if got := teamOf(c.list); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := ourTeam(); got != "" {
		t.Errorf("this test is signed by %q", got)
	}
}
