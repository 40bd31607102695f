//go:build linux || darwin

package command

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
)

// head opens for reading without ever waiting, so that a pipe in the place
// of a program cannot hold us up.
func head(path string, n int) ([]byte, error) {
	fd, err := openNow(path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	buf := make([]byte, n)
	n, err = unix.Read(fd, buf)
	return buf[:max(n, 0)], err
}

func openNow(path string) (int, error) {
	return unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
}

// openSame opens a regular file, and fails unless the open one is that which
// was seen: names may lead elsewhere for a moment and back again.
func openSame(file approval.File) (*os.File, error) {
	fd, err := openNow(file.Path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: file.Path, Err: err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || !fileOf(file.Path, &st).Same(file) {
		unix.Close(fd)
		return nil, fmt.Errorf("cannot open %s: it is not the file any more that was seen", file.Path)
	}
	return os.NewFile(uintptr(fd), file.Path), nil
}

// fileOf turns what the kernel says of a file into our word for it.
func fileOf(path string, st *unix.Stat_t) approval.File {
	return approval.File{
		Path: path, Dev: uint64(st.Dev), Ino: st.Ino, Size: st.Size, Mode: uint32(st.Mode), UID: int(st.Uid),
		Changed: st.Ctim.Nano(), Mod: st.Mtim.Nano(),
	}
}
