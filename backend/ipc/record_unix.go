//go:build linux || darwin

package ipc

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// A record lock beside flock tells others which process holds a file: flock
// names nobody, and /proc/locks errs on some file systems. It is over as soon as
// its process closes any descriptor of the file, so none opens a file that it
// holds.
var held struct {
	mu    sync.Mutex
	files []*os.File
}

// heldHere reports whether this process holds the file at a path. held.mu must be
// locked.
func heldHere(path string) bool {
	named, err := os.Lstat(path)
	held.files = slices.DeleteFunc(held.files, func(f *os.File) bool {
		_, err := f.Stat()
		return err != nil // closed
	})
	return err == nil && slices.ContainsFunc(held.files, func(f *os.File) bool {
		mine, err := f.Stat()
		return err == nil && os.SameFile(mine, named)
	})
}

// record locks a file under the name of this process.
func record(f *os.File) error {
	err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return ErrLive
	}
	return err
}

// lockHolder is the process that has a record lock on the file at a path. It is 0
// where none has, and -1 for one that cannot be named.
func lockHolder(path string) (pid int, err error) {
	held.mu.Lock()
	defer held.mu.Unlock()
	if heldHere(path) {
		return os.Getpid(), nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	found := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &found); err != nil {
		return 0, err
	}
	switch {
	case found.Type == unix.F_UNLCK:
		return 0, nil
	case found.Pid <= 0:
		return -1, nil
	}
	return int(found.Pid), nil
}
