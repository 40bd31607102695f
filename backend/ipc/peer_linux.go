package ipc

import "golang.org/x/sys/unix"

func credentials(fd int) (uid, pid int, err error) {
	u, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return -1, 0, err
	}
	return int(u.Uid), int(u.Pid), nil
}

// hungUp reports whether the other end closed both ways. A half-close does
// not count: with no events asked for, only the full one is told.
func hungUp(fd uintptr) bool { return polled(fd, 0) }
