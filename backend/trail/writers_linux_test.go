package trail_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/trail"
)

// Whoever has a file open for writing is seen, a mapping after its descriptor
// was closed too, and readers are nobody's concern.
func TestWriters(t *testing.T) {
	for name, test := range map[string]struct {
		open, prot int
		mapped     bool
		want       error
	}{
		"nobody":          {open: -1},
		"a reader":        {open: os.O_RDONLY},
		"a writer":        {open: os.O_WRONLY, want: trail.ErrWritten},
		"an appender":     {open: os.O_WRONLY | os.O_APPEND, want: trail.ErrWritten},
		"a name alone":    {open: unix.O_PATH},
		"a mapping":       {open: os.O_RDWR, mapped: true, prot: unix.PROT_READ | unix.PROT_WRITE, want: trail.ErrWritten},
		"one to be later": {open: os.O_RDWR, mapped: true, prot: unix.PROT_READ, want: trail.ErrWritten},
		"one for reading": {open: os.O_RDONLY, mapped: true, prot: unix.PROT_READ},
	} {
		t.Run(name, func(t *testing.T) {
			at := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(at, []byte("text"), 0o644); err != nil {
				t.Fatal(err)
			}
			if test.open >= 0 {
				other, err := os.OpenFile(at, test.open, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer other.Close()
				if test.mapped {
					text, err := unix.Mmap(int(other.Fd()), 0, 4, test.prot, unix.MAP_SHARED)
					if err != nil {
						t.Fatal(err)
					}
					defer func() { _ = unix.Munmap(text) }()
					other.Close()
				}
			}
			if _, err := trail.Writers(reading(t, at)); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}

// A later change shows on a disk, and not in memory.
func TestWritersShow(t *testing.T) {
	if shows, err := trail.Writers(reading(t, "/bin/sh")); err != nil || !shows {
		t.Errorf("/bin/sh: %v, %v", shows, err)
	}
	if os.MkdirAll("/dev/shm", 0o755) != nil {
		t.Skip("there is no /dev/shm")
	}
	dir, err := os.MkdirTemp("/dev/shm", "countersign")
	if err != nil {
		t.Skipf("no file can be made in /dev/shm: %v", err)
	}
	defer os.RemoveAll(dir)
	at := filepath.Join(dir, "file")
	if err := os.WriteFile(at, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if shows, err := trail.Writers(reading(t, at)); err != nil || shows {
		t.Errorf("%s: %v, %v", at, shows, err)
	}
}

func reading(t *testing.T, at string) int {
	t.Helper()
	f, err := os.Open(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return int(f.Fd())
}
