//go:build linux || darwin

package config

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestCharterHangs: what nobody writes to is no charter, and reading it ends.
func TestCharterHangs(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "x.json5"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := (Charters{dir}).Read("x"); err == nil || !strings.Contains(err.Error(), "no plain file") {
		t.Error(err)
	}
}
