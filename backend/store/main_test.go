package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/paths"
)

// home is what ~ stands for in tests.
const home = "/home/someone"

// stateDir returns a state folder that does not exist yet.
func stateDir(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "state")
}

func options(dir string) Options {
	return Options{State: paths.State{Dir: dir}, Home: home}
}

func open(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// openWith opens a store on a folder whose file holds this text.
func openWith(t *testing.T, text string) *Store {
	t.Helper()
	dir := stateDir(t)
	write(t, dir, text)
	return open(t, options(dir))
}

// write replaces the policy file in place, like an editor.
func write(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file(dir), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func file(dir string) string { return paths.State{Dir: dir}.Approvals() }

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// doc is a whole document with these members.
func doc(members ...string) string {
	all := append([]string{`"version": 1`, `"socket": {"path": "/s/sock", "token": "tok"}`}, members...)
	return "{" + strings.Join(all, ",\n") + "}"
}

// mainList is a document that allowlists these entries for agent "main".
func mainList(entries ...string) string {
	return doc(`"agents": {"main": {"allowlist": [` + strings.Join(entries, ",") + `]}}`)
}

func parse(t *testing.T, text string) *Document {
	t.Helper()
	d, err := Parse("file.json", []byte(text), home)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// eventually waits for something that another goroutine or process does.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}
