//go:build linux || darwin

package ipc

import (
	"net"

	"golang.org/x/sys/unix"
)

// supported tells whether the platform says who is at the other end.
func supported() error { return nil }

// peerOf returns the user and the process at the other end, as they were
// when it connected or, seen from a client, when it began to listen.
func peerOf(nc *net.UnixConn) (uid, pid int, err error) {
	raw, err := nc.SyscallConn()
	if err != nil {
		return -1, 0, err
	}
	if e := raw.Control(func(fd uintptr) { uid, pid, err = credentials(int(fd)) }); e != nil {
		return -1, 0, e
	}
	return uid, pid, err
}

// polled asks about a descriptor without waiting.
func polled(fd uintptr, events int16) bool {
	for {
		p := []unix.PollFd{{Fd: int32(fd), Events: events}}
		_, err := unix.Poll(p, 0)
		if err != unix.EINTR {
			return err != nil || p[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0
		}
	}
}
