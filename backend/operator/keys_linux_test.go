package operator

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReadRoot: a file counts that root alone can change, with all folders above.
func TestReadRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root makes files of root")
	}
	k, err := New(right)
	if err != nil {
		t.Fatal(err)
	}
	// Folders below /tmp are no good: others can write there.
	base, err := os.MkdirTemp("/var/lib", "keys")
	if err != nil {
		t.Skip("root can make no folder below /var/lib here:", err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	dir := filepath.Join(base, "d")
	path := filepath.Join(dir, "operators")
	for _, row := range []struct {
		name  string
		spoil func() error
		ok    bool
	}{
		{"as it should be", func() error { return nil }, true},
		{"another owner", func() error { return os.Chown(path, 12345, 0) }, false},
		{"writable by a group", func() error { return os.Chmod(path, 0o664) }, false},
		{"a folder of somebody", func() error { return os.Chown(dir, 12345, 0) }, false},
		{"a folder that all write", func() error { return os.Chmod(dir, 0o777) }, false},
		{"a folder that is a link", func() error {
			if err := os.Rename(dir, dir+"2"); err != nil {
				return err
			}
			return os.Symlink(dir+"2", dir)
		}, false},
		{"a link", func() error {
			if err := os.Rename(path, path+"2"); err != nil {
				return err
			}
			return os.Symlink(path+"2", path)
		}, false},
		{"empty", func() error { return os.WriteFile(path, nil, 0o600) }, false},
		{"no keys", func() error { return os.WriteFile(path, []byte("{}"), 0o600) }, false},
	} {
		os.RemoveAll(dir)
		os.RemoveAll(dir + "2")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := k.Write(path); err != nil {
			t.Fatal(err)
		}
		if err := row.spoil(); err != nil {
			t.Fatal(err)
		}
		keys, err := ReadRoot(path)
		if (err == nil) != row.ok || row.ok && len(keys) != 1 {
			t.Errorf("%s: %d keys, %v", row.name, len(keys), err)
		}
	}
	if _, err := ReadRoot("operators"); err == nil {
		t.Error("a path that is not absolute counts")
	}
}
