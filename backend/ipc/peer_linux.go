package ipc

import "golang.org/x/sys/unix"

// credentials is of the process that connected, whoever holds the other end
// by now.
func credentials(fd int) (holder, error) {
	u, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return holder{}, err
	}
	return holder{uid: int(u.Uid), pid: int(u.Pid)}, nil
}

// hungUp reports whether the other end closed both ways. A half-close does
// not count: with no events asked for, only the full one is told.
func hungUp(fd uintptr) bool { return polled(fd, 0) }
