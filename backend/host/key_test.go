//go:build unix

package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOperatorKey makes a key once, and takes only one that nobody else can
// have written or read.
func TestOperatorKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "operator.key")
	key, err := operatorKey(path)
	if err != nil || len(key) != 43 {
		t.Fatalf("%q, %v", key, err)
	}
	if again, err := operatorKey(path); err != nil || string(again) != string(key) {
		t.Errorf("the second time it is %q, %v", again, err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}

	good := strings.Repeat("k", 43) + "\n"
	for _, c := range []struct {
		name string
		make func(path string) error
		want string
	}{
		{"readable by the group", func(p string) error { return errors.Join(os.WriteFile(p, []byte(good), 0o600), os.Chmod(p, 0o640)) }, "mode 0600"},
		{"writable by all", func(p string) error { return errors.Join(os.WriteFile(p, []byte(good), 0o600), os.Chmod(p, 0o602)) }, "mode 0600"},
		{"two names", func(p string) error { return errors.Join(os.WriteFile(p, []byte(good), 0o600), os.Link(p, p+".2")) }, "one name"},
		{"a link", func(p string) error {
			return errors.Join(os.WriteFile(p+".real", []byte(good), 0o600), os.Symlink(p+".real", p))
		}, "too many levels"},
		{"a folder", func(p string) error { return os.Mkdir(p, 0o700) }, "plain file"},
		{"a pipe", func(p string) error { return syscall.Mkfifo(p, 0o600) }, "plain file"},
		{"empty", func(p string) error { return os.WriteFile(p, nil, 0o600) }, "too short"},
		{"short", func(p string) error { return os.WriteFile(p, []byte("key"), 0o600) }, "too short"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "operator.key")
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			// Neither reads it, and neither makes another one in its place.
			_, err1 := ReadOperatorKey(path)
			_, err2 := operatorKey(path)
			for _, err := range []error{err1, err2} {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
			}
		})
	}
}
