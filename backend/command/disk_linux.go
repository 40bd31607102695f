package command

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
)

// look opens the path without reading it, so that its identity and its real
// path are those of one file, whatever happens to the names meanwhile.
func look(path string) (approval.File, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return approval.File{}, &os.PathError{Op: "look at", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return approval.File{}, &os.PathError{Op: "look at", Path: path, Err: err}
	}
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlink("/proc/self/fd/"+strconv.Itoa(fd), buf)
	if err != nil || n == len(buf) || st.Nlink == 0 {
		return approval.File{}, fmt.Errorf("cannot tell where %q really is", path)
	}
	return approval.File{
		Path: string(buf[:n]), Dev: uint64(st.Dev), Ino: st.Ino, Size: st.Size, Mode: st.Mode, UID: int(st.Uid),
		Changed: st.Ctim.Nano(), Mod: st.Mtim.Nano(),
	}, nil
}
