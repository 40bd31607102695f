package runner

import (
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/trail"
)

// image is a program that is the one that was judged. This platform starts
// programs by path only, so it is compared right before and right after.
type image struct {
	name string
	want approval.File
}

func openImage(path string, want approval.File) (*image, error) {
	i := &image{path, want}
	return i, i.unchanged()
}

func (i *image) unchanged() error             { return unchanged(i.name, i.want) }
func (i *image) start([3]int) (string, error) { return i.name, nil }
func (i *image) close()                       {}

// openExactly opens a file for reading. No link on the way is followed.
func openExactly(path string) (int, error) {
	return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOFOLLOW_ANY, 0)
}

// openParent opens a folder to look at what is in it. No link on the way is followed.
func openParent(path string) (int, error) {
	return unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW_ANY, 0)
}

// openRegular opens a regular file in a folder, once a look at it says that it is the
// one that was judged. What took its place since then is not waited for.
func openRegular(dir int, name string, flags int, want approval.File) (int, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return -1, err
	}
	if !isOutput(&st, want) {
		return -1, errOther
	}
	fd, err := unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags&unix.O_APPEND); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// statExactly looks at a folder by a path without links.
func statExactly(path string, st *unix.Stat_t) error {
	real, err := filepath.EvalSymlinks(path)
	if err == nil && real != path {
		err = unix.ELOOP
	}
	if err != nil {
		return err
	}
	return unix.Stat(path, st)
}

// folder is a working directory.
type folder struct {
	path string // its real path
	was  approval.File
}

// openFolder looks at a folder relative to another one, as chdir would.
func openFolder(from *folder, path string) (*folder, error) {
	if from != nil && !filepath.IsAbs(path) {
		// Not Join: it would drop "link/.." as text.
		path = from.path + "/" + path
	}
	real, st, err := trail.Stored(path)
	if err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return nil, unix.ENOTDIR
	}
	if err := unix.Access(real, unix.X_OK); err != nil {
		return nil, err
	}
	return &folder{real, seen(&st)}, nil
}

func (f *folder) stat(st *unix.Stat_t) error { return unix.Stat(f.path, st) }

// enter returns the path that chdir of a child gets, if it still leads to
// the folder that was opened.
func (f *folder) enter() (string, error) {
	var st unix.Stat_t
	if err := unix.Stat(f.path, &st); err != nil {
		return "", err
	}
	if !seen(&st).SameFolder(f.was) {
		return "", unix.ENOENT
	}
	return f.path, nil
}

// again is the same folder for somebody else, who closes it.
func (f *folder) again() (*folder, error) { return f, nil }

func (f *folder) close() {}

// widen does nothing: pipes of this platform grow by themselves.
func widen(int) {}

// pipe makes a pipe whose ends no child inherits.
func pipe() ([2]int, error) {
	var p [2]int
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(p[:]); err != nil {
		return p, err
	}
	unix.CloseOnExec(p[0])
	unix.CloseOnExec(p[1])
	return p, nil
}

// drain does nothing: nobody can open the other end of a pipe here.
func drain(int, <-chan struct{}) {}
