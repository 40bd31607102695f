//go:build linux || darwin

package ipc

import (
	"net"

	"golang.org/x/sys/unix"
)

// supported tells whether the platform says who is at the other end.
func supported() error { return nil }

// peerOf returns who is at the other end: on Linux the process that connected
// or, seen from a client, that began to listen; on macOS the one that used it
// last.
func peerOf(nc *net.UnixConn) (who holder, err error) {
	raw, err := nc.SyscallConn()
	if err != nil {
		return holder{}, err
	}
	if e := raw.Control(func(fd uintptr) { who, err = credentials(int(fd)) }); e != nil {
		return holder{}, e
	}
	return who, err
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
