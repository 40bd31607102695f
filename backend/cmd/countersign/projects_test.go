//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAProjectWithoutAWindow: a host without a window tells with the question how the
// folder is named, and naming it answers the question.
func TestAProjectWithoutAWindow(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.policy(t, `{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss"}, "agents": {"*": {"allowlist": [{"pattern": "touch"}]}}}`)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(w.home, "plain")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := w.asks("--cwd", folder, "--", "touch", "made")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.mustQuestions(t, 1)
	command := "projects add " + folder
	if said := w.must(t, "approvals", "pending"); !strings.Contains(said, "if this is one, name it: countersign "+command+"\n") {
		t.Errorf("%s", said)
	}
	w.must(t, strings.Fields(command)...)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "made")); err != nil {
		t.Error(err)
	}
}
