//go:build linux || darwin

package machine

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/trail"
)

// openSame opens a regular file for reading, and fails unless the open one is
// that which was seen: names may lead elsewhere for a moment and back again.
// Nothing that waits, such as a pipe, is opened, nor what a program may be
// writing to. shows tells that a later change of it will show.
func openSame(file approval.File) (f *os.File, shows bool, err error) {
	fd, err := openRegular(file)
	if err != nil {
		return nil, false, err
	}
	f = os.NewFile(uintptr(fd), file.Path)
	pass(file)
	shows, err = trail.Writers(fd)
	if err == nil && !stillSame(f, file) {
		err = errOther(file)
	}
	if err != nil {
		f.Close()
		return nil, false, err
	}
	return f, shows, nil
}

// stillSame reports whether an open file is what was seen, and was not written
// to since then.
func stillSame(f *os.File, file approval.File) bool {
	var st unix.Stat_t
	return unix.Fstat(int(f.Fd()), &st) == nil && isSame(&st, file)
}

func isSame(st *unix.Stat_t, file approval.File) bool {
	now := fileOf(file.Path, st)
	return now.IsRegular() && now.Same(file)
}

// fileOf turns what the kernel says of a file into our word for it.
func fileOf(path string, st *unix.Stat_t) approval.File {
	return approval.File{
		Path: path, Dev: uint64(st.Dev), Ino: st.Ino, Size: st.Size, Mode: uint32(st.Mode), UID: int(st.Uid),
		Links: uint64(st.Nlink), Changed: st.Ctim.Nano(), Mod: st.Mtim.Nano(),
	}
}
