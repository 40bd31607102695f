//go:build linux || darwin

package mac

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A log goes on where it ended, a large one is set aside, and nothing else is
// ever written to.
func TestOpenLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "Logs/Countersign/Countersign.log")
	large := strings.Repeat("x", maxLog)
	for _, row := range []struct {
		name, before, add string
		want, aside       string
	}{
		{"the first", "", "a\n", "a\n", ""},
		{"goes on", "a\n", "b\n", "a\nb\n", ""},
		{"large", large, "c\n", "c\n", large},
		{"large again", large + "y", "d\n", "d\n", large + "y"},
	} {
		if row.before != "" {
			if err := os.WriteFile(path, []byte(row.before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		log, err := openLog(path)
		if err != nil {
			t.Fatal(row.name, err)
		}
		_, err = log.WriteString(row.add)
		log.Close()
		text, readErr := os.ReadFile(path)
		old, _ := os.ReadFile(path + ".old")
		if err != nil || readErr != nil || string(text) != row.want || string(old) != row.aside {
			t.Errorf("%s: %.20q and %.20q, %v %v", row.name, text, old, err, readErr)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", row.name, info, err)
		}
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.Symlink(path, other); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{other, t.TempDir(), path + "/log"} {
		if log, err := openLog(bad); err == nil {
			log.Close()
			t.Errorf("%s is written to", bad)
		}
	}
}
