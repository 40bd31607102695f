package machine

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/trail"
)

// look resolves the path by name and stats the result. A swap between the
// two shows as another file at the comparison before the start.
func look(path string) (approval.File, error) {
	real, st, err := trail.Stored(path)
	if err != nil {
		return approval.File{}, err
	}
	return fileOf(real, &st), nil
}

// openRegular opens a file for reading. No link is followed, and a pipe that
// took its place since the first look at it does not make the opening wait.
func openRegular(file approval.File) (int, error) {
	var st unix.Stat_t
	if err := unix.Lstat(file.Path, &st); err != nil || !isSame(&st, file) {
		return -1, errOther(file)
	}
	fd, err := unix.Open(file.Path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NOFOLLOW_ANY, 0)
	if errors.Is(err, unix.EPERM) {
		err = trail.ErrPrivate
	}
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: file.Path, Err: err}
	}
	return fd, nil
}

// pass does nothing: the disk tells two changes apart by nanoseconds.
func pass(approval.File) {}
