//go:build linux || darwin

package ipc

import (
	"io/fs"
	"net"
	"syscall"

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
	p := []unix.PollFd{{Fd: int32(fd), Events: events}}
	return ready(p) && p[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0
}

// ready fills in what is so of a descriptor now, and reports whether anything is.
// What cannot be asked about is over.
func ready(p []unix.PollFd) bool {
	for {
		n, err := unix.Poll(p, 0)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			p[0].Revents = unix.POLLERR
		}
		return err != nil || n > 0
	}
}

// inodeOf names a file.
func inodeOf(info fs.FileInfo) folderWire {
	stat := info.Sys().(*syscall.Stat_t)
	return folderWire{uint64(stat.Dev), stat.Ino}
}
