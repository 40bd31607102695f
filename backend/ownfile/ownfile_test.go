//go:build linux || darwin

package ownfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOpen is led nowhere, and waits for nobody.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("plain"), []byte("x"), 0o600), os.Symlink("plain", at("link")), syscall.Mkfifo(at("pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, opens := range map[string]bool{"plain": true, "link": false, "pipe": true, "nothing": false} {
		f, err := Open(at(name))
		if (err == nil) != opens {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		info, err := f.Stat()
		if err != nil || !Ours(info) || info.Mode().IsRegular() != (name == "plain") {
			t.Errorf("%s: %v %v", name, info, err)
		}
		f.Close()
	}
}

// TestWrite leaves a whole file with its mode, or none.
func TestWrite(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	dir := t.TempDir()
	temp, err := Write(filepath.Join(dir, "a"), "a.*.new", []byte("text"), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(temp)
	info, _ := os.Stat(temp)
	if err != nil || string(text) != "text" || info.Mode().Perm() != 0o644 || filepath.Dir(temp) != dir || filepath.Ext(temp) != ".new" {
		t.Errorf("%s %q %v %v", temp, text, info.Mode(), err)
	}
	if err := SyncFolder(dir); err != nil {
		t.Error(err)
	}
	if temp, err := Write(filepath.Join(dir, "nowhere", "a"), "a.*", nil, 0o600); err == nil || temp != "" {
		t.Errorf("%s is written to a folder that is not there", temp)
	}
}

// TestLock lets one have it.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := Lock(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(path, 0o600); !errors.Is(err, ErrLocked) {
		t.Error("a second one has it: ", err)
	}
	f.Close()
	if f, err = Lock(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.Symlink("lock", path+"2"); err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(path+"2", 0o600); err == nil || errors.Is(err, ErrLocked) {
		t.Error("a link is followed: ", err)
	}
}

// TestRootAlone: what anybody else could have put there does not count. Package
// operator spoils each part of a path.
func TestRootAlone(t *testing.T) {
	program, err := filepath.EvalSymlinks("/usr/bin/env")
	if err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(t.TempDir(), "mine") // below a folder that all may write
	if err := os.WriteFile(mine, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{program: true, mine: false, "env": false, "/usr/bin": false, "/usr/bin/nothing-is-here": false} {
		if err := RootAlone(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}
