//go:build linux || darwin

package trail_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign-app/countersign/backend/trail"
)

func walk(t *testing.T, name string) trail.Trail {
	t.Helper()
	way, err := trail.Walk(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return way
}

// Who can change where a path leads: a folder on the way that more can write
// to makes it easier, and so does somebody else's link in a folder for all.
func TestNoEasier(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, mode := range map[string]os.FileMode{
		"own": 0o755, "private": 0o700, "group": 0o775, "open": 0o777, "sticky": 0o777 | os.ModeSticky,
	} {
		if err := os.Mkdir(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name+"/file"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		for link, to := range map[string]string{"link": "../own/file", "chain": "../open/link", "up": "../open/../own/file", "folder": "../own"} {
			if err := os.Symlink(to, at(name+"/"+link)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(at(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	foreign := ""
	if os.Geteuid() == 0 {
		if err := os.Symlink("../own/file", at("sticky/foreign")); err != nil {
			t.Fatal(err)
		}
		if err := os.Lchown(at("sticky/foreign"), 12345, 12345); err != nil {
			t.Fatal(err)
		}
		foreign = "sticky/foreign"
	} else {
		t.Log("skipped: only root makes links of others")
	}
	tests := []struct {
		way, than string
		want      bool
	}{
		{"own/link", "own/file", true},
		{"own/folder/file", "own/file", true},
		{"private/link", "own/file", true},
		{"group/link", "own/file", false},
		{"open/link", "own/file", false},
		{"own/chain", "own/file", false},
		{"own/link", "open/file", true},
		{"group/link", "open/file", true},
		{"group/link", "group/file", true},
		{"open/link", "group/file", false},
		{"sticky/link", "own/file", true},
		{foreign, "own/file", false},
		{foreign, "sticky/file", false},
		{foreign, "open/file", true},
	}
	for _, test := range tests {
		if test.way == "" {
			continue
		}
		if got := walk(t, at(test.way)).NoEasier(walk(t, at(test.than))); got != test.want {
			t.Errorf("%s is no easier to change than %s: %v", test.way, test.than, got)
		}
	}
	// ".." is where the folder really is.
	if walk(t, dir+"/own/folder/../open/link").NoEasier(walk(t, at("own/file"))) {
		t.Error("the way back was not seen")
	}
	for _, name := range []string{at("own/nothing"), at("own/file/x"), at("own/file") + "/", "relative"} {
		if _, err := trail.Walk(name); err == nil {
			t.Errorf("%s leads somewhere", name)
		}
	}
	if !walk(t, "/usr/bin/env").Kept() || walk(t, at("open/link")).Kept() {
		t.Error("who but root changes the system's files?")
	}
}

// A link that was replaced is another one, also when it leads back.
func TestSame(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/bin/sh", link); err != nil {
		t.Fatal(err)
	}
	before := walk(t, link)
	if err := os.WriteFile(filepath.Join(dir, "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !before.Same(walk(t, link)) {
		t.Error("a file beside it is no change")
	}
	if err := os.Symlink("/bin/sh", link+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link+".new", link); err != nil {
		t.Fatal(err)
	}
	if before.Same(walk(t, link)) {
		t.Error("another link is the same one")
	}
}
