package ipc

import (
	"errors"
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

// credentials is of the process that used the other end last: LOCAL_PEERCRED is
// who connected, and must be the same user.
func credentials(fd int) (holder, error) {
	x, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return holder{}, err
	}
	var token auditToken
	size := uint32(unsafe.Sizeof(token))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_LOCAL, unix.LOCAL_PEERTOKEN,
		uintptr(unsafe.Pointer(&token)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return holder{}, errno
	}
	return fromToken(x.Uid, token, int(size))
}

// hungUp reports whether the other end closed both ways. Only the writing
// side tells: asked about reading, a half-close would look the same.
func hungUp(fd uintptr) bool { return polled(fd, unix.POLLOUT) }

// askWriters: macOS tells who used the other end last without being asked.
func askWriters(uintptr) error { return nil }

// readFrom reads. Who used the other end last is compared where it counts (conn's
// still, and the client's steady).
func readFrom(nc *net.UnixConn, _ holder, b []byte) (int, error) { return nc.Read(b) }

// steady does something while one program of one process uses the other end.
func steady(nc *net.UnixConn, look func() error) error {
	before, err := peerOf(nc)
	if err != nil {
		return err
	}
	if err := look(); err != nil {
		return err
	}
	if after, err := peerOf(nc); err != nil || after != before {
		return errors.New("another process holds the other end by now")
	}
	return nil
}
