package host

import (
	"os"
	"path/filepath"
	"testing"
)

// TestBeside finds our other program in one folder, in a bundle, and from a
// link; not where a folder only looks like a bundle's.
func TestBeside(t *testing.T) {
	const inner = "Countersign.app/Contents/Helpers/countersign.app/Contents/MacOS/countersign"
	for _, row := range []struct {
		self  string
		other string // that is there
		of    place
		found bool
	}{
		{"bin/countersign", "bin/countersign-app", appProgram, true},
		{"bin/countersign-app", "bin/countersign", commandLine, true},
		{"bin/countersign", "", appProgram, false},
		{"bin/countersign", "elsewhere/countersign-app", appProgram, false},
		{"bin/countersign", "bin/Countersign", appProgram, false},
		{"bin/countersign", "MacOS/Countersign", appProgram, false},
		{"Helpers/countersign", "MacOS/Countersign", appProgram, false},
		{"Countersign.app/Contents/Helpers/countersign", "Countersign.app/Contents/MacOS/Countersign", appProgram, true},
		{"Countersign.app/Contents/MacOS/Countersign", "Countersign.app/Contents/Helpers/countersign", commandLine, true},
		{"Countersign.app/Contents/Helpers/countersign", "Countersign.app/Contents/Helpers/countersign-app", appProgram, false},
		{inner, "Countersign.app/Contents/MacOS/Countersign", appProgram, true},
		{inner, "Countersign.app/Contents/Helpers/countersign.app/Contents/MacOS/Countersign", appProgram, false},
	} {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{row.self, row.other} {
			if name != "" {
				write(t, filepath.Join(dir, name))
			}
		}
		want := ""
		if row.found {
			want = filepath.Join(dir, row.other)
		}
		link := filepath.Join(dir, "link")
		if err := os.Symlink(row.self, link); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, row.of.name)) // beside the link
		for _, self := range []string{filepath.Join(dir, row.self), link} {
			if got := beside(self, row.of); got != want {
				t.Errorf("%s, where %s is: %q", self, row.other, got)
			}
		}
	}
	self := filepath.Join(t.TempDir(), "countersign")
	write(t, self)
	if err := os.Link(self, filepath.Join(filepath.Dir(self), "countersign-app")); err != nil {
		t.Fatal(err)
	}
	if got := beside(self, appProgram); got != "" {
		t.Error("a program is beside itself:", got)
	}
	if got := beside(filepath.Join(t.TempDir(), "nothing"), appProgram); got != "" {
		t.Error(got)
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(path), 0o700); err != nil {
		t.Fatal(err)
	}
}
