package command_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign-app/countersign/backend/command"
)

// Look tells the real path and the same identity, whichever way a file is
// reached.
func TestLook(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "real", "tool")
	if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("x"), 0o755); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"folder": "real", "link": "real/tool", "chain": "link", "loop": "loop", "nowhere": "nothing"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := command.Disk{}.Look(file)
	if err != nil || want.Path != file || want.Size != 1 || want.Mode&0o777 != 0o755 || want.Ino == 0 {
		t.Fatalf("%+v, %v", want, err)
	}
	for _, way := range []string{"folder/tool", "link", "chain", "real/./tool", "real/../real/tool", "folder/../link"} {
		if got, err := (command.Disk{}).Look(dir + "/" + way); err != nil || got != want {
			t.Errorf("%s: %+v, %v", way, got, err)
		}
	}
	for _, way := range []string{"loop", "nowhere", "real/none", "link/x"} {
		if got, err := (command.Disk{}).Look(dir + "/" + way); err == nil {
			t.Errorf("%s leads to %+v", way, got)
		}
	}
}

// A file that changed while or after it was hashed has another identity.
func TestHashes(t *testing.T) {
	at := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(at, []byte("one"), 0o755); err != nil {
		t.Fatal(err)
	}
	var hashes command.Hashes
	seen, err := command.Disk{}.Look(at)
	if err != nil {
		t.Fatal(err)
	}
	one, err := hashes.Of(seen)
	if again, _ := hashes.Of(seen); err != nil || len(one) != 64 || again != one {
		t.Errorf("%q then %q, %v", one, again, err)
	}
	if err := os.WriteFile(at, []byte("two"), 0o755); err != nil {
		t.Fatal(err)
	}
	now, err := command.Disk{}.Look(at)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := hashes.Of(now); err != nil || two == one {
		t.Errorf("%q, %v", two, err)
	}
	var fresh command.Hashes
	if sum, err := fresh.Of(seen); err == nil {
		t.Errorf("a file that is not there any more has the hash %q", sum)
	}
}
