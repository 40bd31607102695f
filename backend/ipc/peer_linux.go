package ipc

import (
	"errors"
	"io"
	"net"

	"golang.org/x/sys/unix"
)

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

// askWriters has a socket tell of each text who wrote it, those that it accepts
// included.
func askWriters(fd uintptr) error {
	return unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PASSCRED, 1)
}

// readFrom reads what one process wrote, and fails at what another one did:
// SO_PEERCRED is who connected or listened, whoever has the descriptor by now.
// Descriptors that come along are dropped by the kernel, for want of room.
func readFrom(nc *net.UnixConn, who holder, b []byte) (int, error) {
	oob := make([]byte, unix.CmsgSpace(unix.SizeofUcred))
	n, m, _, _, err := nc.ReadMsgUnix(b, oob)
	if err != nil || n == 0 {
		if errors.Is(err, io.EOF) || err == nil {
			err = io.EOF
		}
		return 0, err
	}
	ordered()
	list, err := unix.ParseSocketControlMessage(oob[:m])
	if err != nil || len(list) != 1 {
		return 0, errWriter
	}
	writer, err := unix.ParseUnixCredentials(&list[0])
	if err != nil || int(writer.Pid) != who.pid || int(writer.Uid) != who.uid {
		return 0, errWriter
	}
	return n, nil
}

// steady does something while the process at the other end lives: its number
// stays its own until then. A kernel before 6.5 does not tell, and who looks
// compares when it started.
func steady(nc *net.UnixConn, look func() error) error {
	raw, err := nc.SyscallConn()
	if err != nil {
		return err
	}
	fd := -1
	if e := raw.Control(func(s uintptr) { fd, err = unix.GetsockoptInt(int(s), unix.SOL_SOCKET, unix.SO_PEERPIDFD) }); e != nil {
		return e
	}
	if errors.Is(err, unix.ENOPROTOOPT) {
		return look()
	}
	if err != nil {
		return errors.New("the process at the other end has ended")
	}
	defer unix.Close(fd)
	if err := look(); err != nil {
		return err
	}
	if ended := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}; ready(ended) {
		return errors.New("the process at the other end has ended")
	}
	return nil
}
