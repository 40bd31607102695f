//go:build linux || darwin

package ipc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"github.com/countersign-app/countersign/backend/proc"

	"golang.org/x/sys/unix"
)

// refusedByNobody reports whether dialling failed because no process listens
// at a socket. Every other failure may come from one that lives.
func refusedByNobody(err error) bool { return errors.Is(err, unix.ECONNREFUSED) }

// ownFolder makes the folder of a path a real one of our own that nobody
// else can enter. From then on no other user reaches what is in it.
func ownFolder(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("%s must be a real folder and not a link: %w", dir, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if owner(info) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user: choose a folder of your own", dir)
	}
	if info.Mode()&fs.ModeSticky != 0 {
		return fmt.Errorf("%s is shared with others: choose a folder of your own", dir)
	}
	if info.Mode().Perm() == 0o700 {
		return nil
	}
	return f.Chmod(0o700)
}

func owner(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

// bind opens the socket and returns it with the file that it made.
func bind(path string) (*net.UnixListener, os.FileInfo, error) {
	l, err := listenPrivate(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := privateSocket(path)
	if err != nil {
		l.Close()
		return nil, nil, err
	}
	return l, info, nil
}

// listenPrivate listens with mode 0600. On Linux the socket has that mode
// from its first moment on; elsewhere chmod gives it right after, and until
// then the folder keeps others out. A umask would do the same but changes,
// for that moment, what every other part of the process creates.
func listenPrivate(path string) (*net.UnixListener, error) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) {
			unix.Fchmod(int(fd), 0o600)
			_ = askWriters(fd) // else no frame is taken
		})
	}}
	l, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	listener := l.(*net.UnixListener)
	listener.SetUnlinkOnClose(false)
	return listener, nil
}

func privateSocket(path string) (os.FileInfo, error) {
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err == nil && info.Mode() != fs.ModeSocket|0o600 {
		err = fmt.Errorf("%s changed while it was made: try again", path)
	}
	return info, err
}

// openLock opens a lock file and refuses one that others could have put
// there or could write. It may not be held yet.
func openLock(path string) (*os.File, error) {
	// Without O_NONBLOCK a pipe in its place would hang us.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	if err = goodLock(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w: move it away", path, err)
	}
	return f, nil
}

func goodLock(f *os.File) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("the lock is not a regular file")
	case owner(info) != os.Geteuid():
		return errors.New("the lock belongs to another user")
	case info.Sys().(*syscall.Stat_t).Nlink != 1:
		return errors.New("the lock has a second name")
	case info.Mode().Perm()&0o022 != 0:
		return errors.New("the lock can be written by others")
	}
	return f.Chmod(0o600)
}

// tryLock takes the lock for as long as the file is open, unless another
// process has it: ErrLive.
func tryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLive
	}
	return err
}

// holdLock opens and takes the lock, and writes into it who has it.
func holdLock(path string) (*os.File, error) {
	held.mu.Lock()
	defer held.mu.Unlock()
	if heldHere(path) {
		return nil, fmt.Errorf("%s: %w: %s", path, ErrLive, wayOut)
	}
	f, err := openLock(path)
	if err != nil {
		return nil, err
	}
	if err = takeLock(f, path); err != nil {
		f.Close()
		return nil, err
	}
	held.files = append(held.files, f)
	return f, nil
}

// replaceLock takes a lock on a new file, which it puts in the place of the one at
// a path.
func replaceLock(path string) (*os.File, error) {
	held.mu.Lock()
	defer held.mu.Unlock()
	name := beside(path)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err = takeLock(f, name); err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		f.Close()
		os.Remove(name)
		return nil, err
	}
	held.files = append(held.files, f)
	return f, nil
}

func takeLock(f *os.File, path string) error {
	err := tryLock(f)
	if err == nil {
		err = record(f)
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", path, err, wayOut)
	}
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	// A lock on a file that no longer has the name keeps nobody out.
	if named, err := os.Lstat(path); err != nil || !os.SameFile(mine, named) {
		return fmt.Errorf("%s changed while it was taken: try again", path)
	}
	me, err := proc.Stat(os.Getpid())
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "%d %d\n", me.PID, me.Started), 0)
	return err
}
