package proc

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Numbers of proc_info.h.
const (
	filesOfPID = 1 // PROC_PIDLISTFDS
	socketOfFD = 3 // PROC_PIDFDSOCKETINFO

	maxFiles = 65536
)

// holders are the processes that have the socket open which is bound to one
// address and connected to the other.
func holders(local, remote netip.AddrPort) ([]ID, error) {
	list, err := all()
	if err != nil {
		return nil, err
	}
	var found []ID
	for _, p := range list {
		if has(p.PID, local, remote) {
			found = append(found, p.ID())
		}
	}
	return found, nil
}

func has(pid int, local, remote netip.AddrPort) bool {
	size, _, errno := unix.Syscall6(unix.SYS_PROC_INFO, infoOfPID, uintptr(pid), filesOfPID, 0, 0, 0)
	if errno != 0 || size == 0 || size > maxFiles*fileSize {
		return false
	}
	files := make([]byte, size+32*fileSize) // some are opened meanwhile
	size, _, errno = unix.Syscall6(unix.SYS_PROC_INFO, infoOfPID, uintptr(pid), filesOfPID, 0, uintptr(unsafe.Pointer(&files[0])), uintptr(len(files)))
	if errno != 0 {
		return false
	}
	for _, fd := range socketsOf(files[:min(int(size), len(files))]) {
		var buf [socketSize]byte
		n, _, errno := unix.Syscall6(unix.SYS_PROC_INFO, infoOfFD, uintptr(pid), socketOfFD, uintptr(fd), uintptr(unsafe.Pointer(&buf)), socketSize)
		if errno != 0 || int(n) < socketSize {
			continue
		}
		if ours, theirs := ofSocket(buf[:]); ours == local && theirs == remote {
			return true
		}
	}
	return false
}
