package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange lets two files change places in one step. It is
// errors.ErrUnsupported where the file system cannot.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) {
		return errors.ErrUnsupported
	}
	return err
}

// openToWrite reports whether anybody has a file open to write. The kernel
// grants a lease to read only when nobody has; whoever opens it afterwards
// waits until f is closed. A file system without leases tells nothing.
func openToWrite(f *os.File) bool {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	return errors.Is(err, unix.EAGAIN)
}
