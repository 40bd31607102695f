//go:build linux || darwin

package descriptors

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Both ways keep what is open from a program that starts, and leave it open
// here; what is handed on by name is there.
func TestKeep(t *testing.T) {
	for name, keep := range map[string]func() error{"at once": keep, "one by one": keepEach} {
		given, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		fd, err := unix.FcntlInt(given.Fd(), unix.F_DUPFD, 50) // as a library opens it, under a number that nothing else has
		if err != nil {
			t.Fatal(err)
		}
		at := strconv.Itoa(fd)
		seen := func() string {
			cmd := exec.Command("sh", "-c", "for n in 3 "+at+"; do if [ -e /dev/fd/$n ]; then echo $n; fi; done")
			cmd.ExtraFiles = []*os.File{given}
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(strings.Fields(string(out)), " ")
		}
		if got := seen(); got != "3 "+at {
			t.Errorf("%s: before, a program has %q", name, got)
		}
		if err := keep(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := seen(); got != "3" {
			t.Errorf("%s: a program has %q", name, got)
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
			t.Errorf("%s: it is closed here: %v", name, err)
		}
		given.Close()
		unix.Close(fd)
	}
}
