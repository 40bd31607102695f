package ipc

import "golang.org/x/sys/unix"

func credentials(fd int) (uid, pid int, err error) {
	x, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, 0, err
	}
	pid, err = unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	return int(x.Uid), pid, err
}

// hungUp reports whether the other end closed both ways. Only the writing
// side tells: asked about reading, a half-close would look the same.
func hungUp(fd uintptr) bool { return polled(fd, unix.POLLOUT) }
