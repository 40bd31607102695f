package approvaltest

import (
	"bytes"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openTerminal opens a pseudo terminal: the end that a person has, and the name of
// the other one.
func openTerminal() (*os.File, string, error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, "", err
	}
	var name [128]byte
	for _, call := range []struct {
		request uintptr
		arg     unsafe.Pointer
	}{{unix.TIOCPTYGRANT, nil}, {unix.TIOCPTYUNLK, nil}, {unix.TIOCPTYGNAME, unsafe.Pointer(&name[0])}} {
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), call.request, uintptr(call.arg)); errno != 0 {
			unix.Close(fd)
			return nil, "", errno
		}
	}
	end := bytes.IndexByte(name[:], 0)
	return os.NewFile(uintptr(fd), "terminal"), string(name[:end]), nil
}
