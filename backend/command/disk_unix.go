//go:build linux || darwin

package command

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
)

// openSame opens a regular file for reading, and fails unless the open one is
// that which was seen: names may lead elsewhere for a moment and back again.
// Nothing that waits, such as a pipe, is opened.
func openSame(file approval.File) (*os.File, error) {
	fd, err := openRegular(file)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), file.Path)
	if !stillSame(f, file) {
		f.Close()
		return nil, errOther(file)
	}
	return f, nil
}

// stillSame reports whether an open file is what was seen, and was not written
// to since then.
func stillSame(f *os.File, file approval.File) bool {
	var st unix.Stat_t
	return unix.Fstat(int(f.Fd()), &st) == nil && isSame(&st, file)
}

func isSame(st *unix.Stat_t, file approval.File) bool {
	return uint32(st.Mode)&modeType == modeRegular && fileOf(file.Path, st).Same(file)
}

// fileOf turns what the kernel says of a file into our word for it.
func fileOf(path string, st *unix.Stat_t) approval.File {
	return approval.File{
		Path: path, Dev: uint64(st.Dev), Ino: st.Ino, Size: st.Size, Mode: uint32(st.Mode), UID: int(st.Uid),
		Changed: st.Ctim.Nano(), Mod: st.Mtim.Nano(),
	}
}
