package runner

import (
	"errors"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/proc"
)

// subreaper is false: orphans become children of launchd, which reaps them.
const subreaper = false

func orphan(p proc.Info) bool { return p.Parent == 1 }

type platformChildren struct{}

func (*children) open() error  { return nil }
func (*children) close()       {}
func (*children) watch()       {}
func (*children) unwatch()     {}
func (*children) reaped()      {}
func (*children) reapOrphans() {}

// quiet is never sure here: a list of all processes is one system call.
func (*children) quiet(*process) bool { return false }

// await waits until a program of ours has ended, and leaves it in the
// kernel's table. waitid alone would return for stopped programs too on this
// platform, so a kernel queue tells when it is time to ask.
func await(pid int) (ending, usage, error) {
	if err := awaitExit(pid); err != nil {
		return ending{}, usage{}, err
	}
	for {
		var info [siginfoSize]byte
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pidOnly, uintptr(pid),
			uintptr(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOWAIT, 0, 0)
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			return ending{}, usage{}, errno
		default:
			return endingOf(info[:]), usage{}, nil
		}
	}
}

// tellsUsage is false: the kernel says what a program used only to who reaps
// it, and ours stay unreaped for a while.
const tellsUsage = false

func awaitExit(pid int) error {
	queue, err := unix.Kqueue()
	if err != nil {
		return err
	}
	defer unix.Close(queue)
	unix.CloseOnExec(queue)
	change := unix.Kevent_t{Fflags: unix.NOTE_EXIT}
	unix.SetKevent(&change, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	for {
		_, err := unix.Kevent(queue, []unix.Kevent_t{change}, make([]unix.Kevent_t, 1), nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ESRCH): // it has ended already
			return nil
		default:
			return err
		}
	}
}

// pidOnly makes waitid look at one child (P_PID).
const pidOnly = 1

// signalExactly signals the process that was seen. This platform has no
// handle for a process: between the look and the signal its id could pass to
// another one, which takes a full turn of the counter.
func signalExactly(p proc.Info, sig unix.Signal) error {
	if now, err := proc.Stat(p.PID); err != nil || now.Started != p.Started {
		return nil
	}
	if err := unix.Kill(p.PID, sig); !errors.Is(err, unix.ESRCH) {
		return err
	}
	return nil
}

// sameUser is true: the environment of other users' processes, by which we
// find ours, cannot be read here.
func sameUser(int) bool { return true }
