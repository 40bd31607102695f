package runner

import (
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
)

// image is a program that was opened and is the one that was judged. It is
// started by its descriptor: no path is looked up again.
type image struct {
	fd   int
	name string
	want approval.File
}

func openImage(path string, want approval.File) (*image, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, drifted("%q cannot be opened any more: %v", path, err)
	}
	i := &image{fd, path, want}
	if err := i.unchanged(); err != nil {
		i.close()
		return nil, err
	}
	if i.isScript() {
		i.close()
		return nil, drifted("%q starts with #! but was judged as a program", path)
	}
	return i, nil
}

// isScript reports whether the kernel would start another program for this
// one. What it would start was not judged. A file that we may not read is
// one that its interpreter could not read either.
func (i *image) isScript() bool {
	fd, err := unix.Open(byFD(i.fd), unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var head [2]byte
	n, _ := unix.Pread(fd, head[:], 0)
	return n == 2 && head == [2]byte{'#', '!'}
}

func (i *image) unchanged() error {
	var st unix.Stat_t
	if err := unix.Fstat(i.fd, &st); err != nil {
		return drifted("%q cannot be looked at any more: %v", i.name, err)
	}
	return same(i.name, &st, i.want)
}

// start returns the path by which the kernel starts the image while these
// descriptors become 0, 1 and 2 of the child. The child moves descriptors out
// of the way to the numbers right after the highest of them, so ours must
// not be one of those.
func (i *image) start(fds [3]int) (string, error) {
	top := max(fds[0], fds[1], fds[2])
	if i.fd > 2 && (i.fd <= top || i.fd > top+len(fds)+1) {
		return byFD(i.fd), nil
	}
	fd, err := unix.FcntlInt(uintptr(i.fd), unix.F_DUPFD_CLOEXEC, max(top, 2)+len(fds)+2)
	if err != nil {
		return "", err
	}
	unix.Close(i.fd)
	i.fd = fd
	return byFD(fd), nil
}

func (i *image) close() { unix.Close(i.fd) }

func byFD(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// openExactly opens a file for reading. No link on the way is followed.
func openExactly(path string) (int, error) {
	return unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
}

// openParent opens a folder to look at it and at what is in it. No link on the way is
// followed.
func openParent(path string) (int, error) {
	return unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
}

// openRegular opens a regular file in a folder, once a look at it says that it is the
// one that was judged: so that nothing else is opened, not even for a moment.
func openRegular(dir int, name string, flags int, want approval.File) (int, error) {
	at, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(at)
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil || !isOutput(&st, want) {
		return -1, errOther
	}
	return unix.Open(byFD(at), flags, 0)
}

// statExactly looks at a folder by a path without links.
func statExactly(path string, st *unix.Stat_t) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Fstat(fd, st)
}

// folder is a working directory, held open so that no other one can take
// its place.
type folder struct {
	path string // its real path
	fd   int
}

// openFolder opens a folder relative to another one, as chdir would.
func openFolder(from *folder, path string) (*folder, error) {
	at := unix.AT_FDCWD
	if from != nil {
		at = from.fd
	}
	fd, name, err := openReal(path)
	if err != nil {
		if fd, err = unix.Openat(at, path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
			return nil, err
		}
		name, err = realPath(fd)
	}
	if err == nil {
		err = unix.Faccessat(fd, ".", unix.X_OK, 0)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &folder{name, fd}, nil
}

// openReal opens a folder by its real path. Where the kernel met no link on the
// way, it need not be asked for the path: that is a look into /proc, which
// makes new files there for every descriptor.
func openReal(path string) (fd int, name string, err error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return -1, "", unix.EINVAL
	}
	fd, err = unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	return fd, path, err
}

// realPath returns the path of an open folder.
func realPath(fd int) (string, error) {
	var b [unix.PathMax]byte
	n, err := unix.Readlink(byFD(fd), b[:])
	if err != nil {
		return "", err
	}
	if n == len(b) {
		return "", unix.ENAMETOOLONG
	}
	return string(b[:n]), nil
}

func (f *folder) stat(st *unix.Stat_t) error { return unix.Fstat(f.fd, st) }

// enter returns the path that chdir of a child gets.
func (f *folder) enter() (string, error) { return byFD(f.fd), nil }

// again is the same folder with a descriptor of its own.
func (f *folder) again() (*folder, error) {
	fd, err := unix.FcntlInt(uintptr(f.fd), unix.F_DUPFD_CLOEXEC, 3)
	return &folder{f.path, fd}, err
}

func (f *folder) close() { unix.Close(f.fd) }

// widen lets a program write more before it waits for us; without the room
// it works as well.
func widen(pipe int) { _, _ = unix.FcntlInt(uintptr(pipe), unix.F_SETPIPE_SZ, 4*chunk) }

// pipe makes a pipe whose ends no child inherits.
func pipe() ([2]int, error) {
	var p [2]int
	err := unix.Pipe2(p[:], unix.O_CLOEXEC)
	return p, err
}

// drain reads what is written to a pipe, until over is closed.
func drain(pipe int, over <-chan struct{}) {
	fd, err := unix.Open(byFD(pipe), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	buffer := make([]byte, chunk)
	for {
		if n, err := unix.Read(fd, buffer); n > 0 || err == unix.EINTR {
			continue
		}
		select {
		case <-over:
			return
		case <-time.After(lastLook):
		}
	}
}
