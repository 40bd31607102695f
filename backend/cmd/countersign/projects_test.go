//go:build linux || darwin

package main

import (
	"fmt"
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

// TestSameProjects: what may run in a project may run in the folder that a person said to be the
// same.
func TestSameProjects(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	for _, name := range []string{"main", "fix"} {
		if err := os.Mkdir(filepath.Join(w.home, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.policy(t, fmt.Sprintf(`{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss"}, "agents": {"*": {"allowlist": [{"pattern": "touch", "cwd": %q}]}}}`, filepath.Join(w.home, "main")))
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	explained := func() string {
		out, _ := w.command("policy", "explain", "--cwd", filepath.Join(w.home, "fix"), "--", "touch", "made").CombinedOutput()
		return string(out)
	}
	w.must(t, "projects", "add", filepath.Join(w.home, "fix"))
	if said := explained(); !strings.Contains(said, "allowlist-miss") {
		t.Errorf("%s", said)
	}
	if err := w.command("projects", "add", filepath.Join(w.home, "fix"), "--same-as", filepath.Join(w.home, "fix")).Run(); err == nil {
		t.Error("the same as itself")
	}
	w.must(t, "projects", "add", filepath.Join(w.home, "fix"), "--same-as", filepath.Join(w.home, "main"))
	if said := explained(); strings.Contains(said, "allowlist-miss") {
		t.Errorf("%s", said)
	}
	if said := w.must(t, "projects", "list"); !strings.Contains(said, "with the entries of "+filepath.Join(w.home, "main")) {
		t.Errorf("%s", said)
	}
}
