package corpus

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// aWorld makes the world of a file without its braces.
func aWorld(t *testing.T, text string) *World {
	t.Helper()
	_, rest, _ := strings.Cut(whole, "},\n \"policies\"")
	f, err := Parse("w.json", []byte(`{"world": {`+text+"},\n \"policies\""+rest))
	if err != nil {
		t.Fatal(err)
	}
	return f.World
}

const someDisk = `"home": "/Users/dev", "cwd": "/Users/dev/project", "path": ["/usr/bin"],
 "executables": {
  "/usr/bin": ["ls", "Größe"], "/tmp/x": ["late"], "/Users/dev/bin": ["run"], "/behind/deep": ["tool"]
 },
 "symlinks": {
  "/bin": "usr/bin", "/usr/bin/dir": "./ls", "/up": "/Users/dev/project/../bin/run", "/loop": "/loop", "/a": "/b", "/b": "/a",
  "/grow": "grow/grow", "/gone": "/nowhere/at/all", "/behind": "/real", "/real/deep": "/real/deeper", "/Users/dev/project/up": "/Users/dev/bin"
 },
 "files": {"/usr/bin/ls": "#!/bin/sh\n", "/Users/dev/note": "text", "/Users/dev/empty": ""}`

func TestLook(t *testing.T) {
	w := aWorld(t, someDisk)
	for _, c := range []struct {
		name, want string
		mode       uint32
		uid        int
	}{
		{"/usr/bin/ls", "/usr/bin/ls", 0o100755, 0},
		{"/usr/bin/LS", "/usr/bin/ls", 0o100755, 0},
		{"/USR/Bin/lS", "/usr/bin/ls", 0o100755, 0},
		{"/usr/bin/GRÖSSE", "", 0, 0},
		{"/usr/bin/GRÖßE", "/usr/bin/Größe", 0o100755, 0},
		{"/bin/ls", "/usr/bin/ls", 0o100755, 0},
		{"/bin", "/usr/bin", 0o040755, 0},
		{"/bin/dir", "/usr/bin/ls", 0o100755, 0},
		{"/bin/../lib", "", 0, 0},
		{"/bin/../bin/ls", "/usr/bin/ls", 0o100755, 0}, // ".." of where the link leads
		{"/up", "/Users/dev/bin/run", 0o100755, UID},
		{"/Users/dev/project/up/../note", "/Users/dev/note", 0o100644, UID},
		{"/Users/dev/project", "/Users/dev/project", 0o040755, UID},
		{"/Users", "/Users", 0o040755, 0},
		{"/", "/", 0o040755, 0},
		{"/..", "/", 0o040755, 0},
		{"//usr//bin/./ls", "/usr/bin/ls", 0o100755, 0},
		{"/usr/bin/", "/usr/bin", 0o040755, 0},
		{"/usr/bin/ls/", "", 0, 0},
		{"/usr/bin/ls/..", "", 0, 0},
		{"/nowhere/../usr/bin/ls", "", 0, 0},
		{"/behind/deep/tool", "/real/deeper/tool", 0o100755, 0},
		{"/tmp", "/tmp", 0o041777, 0},
		{"/tmp/x/late", "/tmp/x/late", 0o100755, UID},
		{"/loop", "", 0, 0},
		{"/a/x", "", 0, 0},
		{"/grow", "", 0, 0},
		{"/gone", "", 0, 0},
		{"usr/bin/ls", "", 0, 0},
		{"", "", 0, 0},
		{"~/note", "", 0, 0},
		{"/usr/bin/ls\x00", "", 0, 0},
		{"/" + strings.Repeat("x", 5000), "", 0, 0},
	} {
		got, err := w.Look(c.name)
		if (err != nil) != (c.want == "") || got.Path != c.want || got.Mode != c.mode || got.UID != c.uid {
			t.Errorf("%.40q: got %q %o %d, %v", c.name, got.Path, got.Mode, got.UID, err)
		}
	}
	if _, err := w.Look("/usr/bin/nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
	one, _ := w.Look("/usr/bin/ls")
	two, _ := w.Look("/usr/bin/Größe")
	if one.Ino == two.Ino || !one.Same(one) || one.Same(two) {
		t.Errorf("two files are one: %v %v", one, two)
	}
}

func TestCaseMatters(t *testing.T) {
	w := aWorld(t, `"case_sensitive_fs": true, "executables": {"/bin": ["ls", "LS"]}, "home": "/h", "cwd": "/h"`)
	for _, name := range []string{"/bin/ls", "/bin/LS"} {
		if got, err := w.Look(name); err != nil || got.Path != name {
			t.Errorf("%s: got %q, %v", name, got.Path, err)
		}
	}
	if got, err := w.Look("/bin/Ls"); err == nil {
		t.Errorf("/bin/Ls is %q", got.Path)
	}
}

func TestHead(t *testing.T) {
	w := aWorld(t, someDisk)
	for _, c := range []struct {
		name string
		n    int
		want string
		ok   bool
	}{
		{"/bin/ls", 2, "#!", true},
		{"/bin/ls", 100, "#!/bin/sh\n", true},
		{"/bin/ls", -1, "", true},
		{"/up", 100, "\x7fELF", true},
		{"/Users/dev/note", 4, "text", true},
		{"/Users/dev/empty", 4, "", true},
		{"/usr/bin", 4, "", false},
		{"/loop", 4, "", false},
	} {
		got, err := w.Head(approval.File{Path: c.name}, c.n)
		if string(got) != c.want || (err == nil) != c.ok {
			t.Errorf("%s: got %q, %v", c.name, got, err)
		}
	}
	silent := aWorld(t, `"home": "/h", "cwd": "/h", "files": ["/h/f"]`)
	if got, err := silent.Head(approval.File{Path: "/h/f"}, 4); err == nil {
		t.Errorf("a file of which nothing is said holds %q", got)
	}
}

func TestHash(t *testing.T) {
	w := aWorld(t, someDisk)
	note, err := w.Look("/Users/dev/note")
	if err != nil || note.Size != 4 {
		t.Fatal(note, err)
	}
	const ofText = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"
	if sum, err := w.Hash(note); err != nil || sum != ofText {
		t.Errorf("hash of the note: %s, %v", sum, err)
	}
	run, _ := w.Look("/Users/dev/bin/run")
	if sum, err := w.Hash(run); err == nil {
		t.Errorf("a program of which nothing is said has the hash %s", sum)
	}
}
