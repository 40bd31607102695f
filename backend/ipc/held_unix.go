//go:build linux || darwin

package ipc

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Held reports whether a process holds the lock of a host, whichever that is. A
// lock that cannot be looked at counts as held.
func Held(lock string) bool {
	f, err := os.OpenFile(lock, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close() // with which a lock of ours ends
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil
}
