package host

import (
	"os"
	"path/filepath"
	"testing"
)

// TestBeside finds our other program in one folder, and in a bundle.
func TestBeside(t *testing.T) {
	for _, row := range []struct {
		self, other string
		found       bool
	}{
		{"bin/countersign", "bin/Countersign", true}, {"bin/countersign", "", false}, {"bin/countersign", "elsewhere/Countersign", false},
		{"Contents/Helpers/countersign", "Contents/MacOS/Countersign", true}, {"Contents/MacOS/Countersign", "Contents/Helpers/countersign", true},
	} {
		dir := t.TempDir()
		for _, name := range []string{row.self, row.other} {
			if name == "" {
				continue
			}
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		name := "Countersign"
		if filepath.Base(row.self) == name {
			name = "countersign"
		}
		got := beside(filepath.Join(dir, row.self), name)
		if (len(got) == 1 && got[0] == filepath.Join(dir, row.other)) != row.found || len(got) > 1 {
			t.Errorf("%+v: %q", row, got)
		}
	}
	self := filepath.Join(t.TempDir(), "countersign")
	if err := os.WriteFile(self, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(self, filepath.Join(filepath.Dir(self), "Countersign")); err != nil {
		t.Fatal(err)
	}
	if got := beside(self, "Countersign"); got != nil {
		t.Error("a program is beside itself:", got)
	}
	if got := beside(filepath.Join(t.TempDir(), "nothing"), "Countersign"); got != nil {
		t.Error(got)
	}
}
