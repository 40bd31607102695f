package machine

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
)

// look opens the path without reading it, so that its identity and its real
// path are those of one file, whatever happens to the names meanwhile.
func look(name string) (approval.File, error) {
	fd, straight, err := openPath(name)
	if err != nil {
		return approval.File{}, &os.PathError{Op: "look at", Path: name, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return approval.File{}, &os.PathError{Op: "look at", Path: name, Err: err}
	}
	real := name
	if !straight {
		var buf [unix.PathMax]byte
		n, err := unix.Readlink("/proc/self/fd/"+strconv.Itoa(fd), buf[:])
		if err != nil || n == len(buf) || st.Nlink == 0 {
			return approval.File{}, fmt.Errorf("cannot tell where %q really is", name)
		}
		real = string(buf[:n])
	}
	return fileOf(real, &st), nil
}

// openPath opens a path to look at it. straight tells that no link was
// followed, so that the path is the real one.
func openPath(name string) (fd int, straight bool, err error) {
	if path.IsAbs(name) && path.Clean(name) == name {
		how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
		if fd, err = unix.Openat2(unix.AT_FDCWD, name, &how); err == nil || err == unix.ENOENT {
			return fd, true, err
		}
	}
	fd, err = unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
	return fd, false, err
}

// openRegular opens a file for reading. No link is followed, and nothing is
// opened but what the first look at it says that it is.
func openRegular(file approval.File) (int, error) {
	at, err := unix.Openat2(unix.AT_FDCWD, file.Path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: file.Path, Err: err}
	}
	defer unix.Close(at)
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil || !isSame(&st, file) {
		return -1, errOther(file)
	}
	fd, err := unix.Open("/proc/self/fd/"+strconv.Itoa(at), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: file.Path, Err: err}
	}
	return fd, nil
}

// pass waits until a change of a file would get another time than its last one
// has. The clock of file times stands still for up to ten milliseconds.
func pass(file approval.File) {
	for range 20 {
		var now unix.Timespec
		if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now) != nil || now.Nano() > file.Changed {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
