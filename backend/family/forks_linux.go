package family

import (
	"encoding/binary"
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/rescue"
)

// Numbers and structures of linux/connector.h and linux/cn_proc.h. Since Linux
// 6.6 every user may listen, in the first namespaces of the machine.
const (
	procIndex  = 1 // CN_IDX_PROC
	procValue  = 1 // CN_VAL_PROC
	listenCall = 1 // PROC_CN_MCAST_LISTEN

	eventFork = 0x0000_0001
	eventExit = 0x8000_0000

	headerSize  = 16 // struct nlmsghdr
	messageSize = 20 // struct cn_msg, without its data
	eventData   = 16 // of struct proc_event, behind what, cpu and timestamp_ns
	// eventRoom is the whole of a message with the four numbers of a fork.
	eventRoom = headerSize + messageSize + eventData + 16
)

// forks listens to the kernel's process connector.
func forks(to Births) (stop func(), err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_CONNECTOR)
	if err != nil {
		return nil, err
	}
	// An os.File waits for input without a thread, and wakes at its end.
	socket := os.NewFile(uintptr(fd), "process connector")
	if err := listen(fd); err != nil {
		socket.Close()
		return nil, err
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		socket.Close()
		return nil, err
	}
	var done sync.WaitGroup
	done.Go(func() {
		defer rescue.Catch(nil, "the births of processes", to.Lost)
		buf := make([]byte, 64<<10)
		for {
			n, from, err := receive(raw, buf)
			switch {
			case errors.Is(err, unix.ENOBUFS):
				to.Lost()
			case err != nil:
				return
			case from == 0: // the kernel; any process can send to a socket
				hear(buf[:n], to)
			}
		}
	})
	return func() { socket.Close(); done.Wait() }, nil
}

func listen(fd int) error {
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: procIndex}); err != nil {
		return err
	}
	const size = headerSize + messageSize + 4
	message := make([]byte, size)
	order := binary.NativeEndian
	order.PutUint32(message[0:], size)
	order.PutUint16(message[4:], unix.NLMSG_DONE)
	order.PutUint32(message[headerSize:], procIndex)
	order.PutUint32(message[headerSize+4:], procValue)
	order.PutUint16(message[headerSize+16:], 4) // bytes of data
	order.PutUint32(message[headerSize+messageSize:], listenCall)
	return unix.Sendto(fd, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
}

// receive reads one datagram and tells the port that sent it.
func receive(raw syscallConn, buf []byte) (n int, from uint32, err error) {
	waited := raw.Read(func(fd uintptr) bool {
		var sender unix.Sockaddr
		n, sender, err = unix.Recvfrom(int(fd), buf, 0)
		if s, ok := sender.(*unix.SockaddrNetlink); ok {
			from = s.Pid
		}
		return !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR)
	})
	return n, from, errors.Join(err, waited)
}

type syscallConn interface {
	Read(func(fd uintptr) bool) error
}

// hear reads one datagram. One that makes us panic is lost.
func hear(b []byte, to Births) {
	defer rescue.Catch(nil, "the births of processes", to.Lost)
	tell(b, to)
}

// tell reads the messages of one datagram.
func tell(b []byte, to Births) {
	order := binary.NativeEndian
	for len(b) >= headerSize {
		size := int(order.Uint32(b))
		if size < headerSize || size > len(b) {
			return
		}
		if size >= eventRoom {
			event := b[headerSize+messageSize : size]
			number := func(i int) int { return int(int32(order.Uint32(event[eventData+4*i:]))) }
			switch order.Uint32(event) {
			case eventFork: // parent's thread and process, child's thread and process
				if parent, child := number(1), number(3); parent != child { // else a thread
					to.Born(parent, child)
				}
			case eventExit:
				if number(0) == number(1) { // the first thread
					to.Ended(number(1))
				}
			}
		}
		aligned := (size + 3) &^ 3
		if aligned > len(b) {
			return
		}
		b = b[aligned:]
	}
}
