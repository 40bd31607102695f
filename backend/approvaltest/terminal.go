//go:build linux || darwin

package approvaltest

import (
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// OpenTerminal opens a pseudo terminal: the end that a person has, and the end
// and its name that programs have. It becomes nobody's by that.
func OpenTerminal() (master, slave *os.File, name string, err error) {
	master, name, err = openTerminal()
	if err != nil {
		return nil, nil, "", err
	}
	slave, err = os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		master.Close()
		return nil, nil, "", err
	}
	return master, slave, name, nil
}

// windows are the terminals of InTerminal. Their programs are hung up if they go.
var windows struct {
	sync.Mutex
	files []*os.File
}

// InTerminal has a command lead a session with a terminal of its own, as if
// somebody had opened a window for it: the test that starts it is then not taken
// for a part of the agent. Its input and output stay what they are.
func InTerminal(cmd *exec.Cmd) (*exec.Cmd, error) {
	master, slave, _, err := OpenTerminal()
	if err != nil {
		return cmd, err
	}
	windows.Lock()
	defer windows.Unlock()
	windows.files = append(windows.files, master, slave)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3 + len(cmd.ExtraFiles)}
	cmd.ExtraFiles = append(cmd.ExtraFiles, slave)
	return cmd, nil
}

// EnterTerminal has this process lead a session with a terminal of its own, and
// the program that it becomes.
func EnterTerminal() error {
	if _, err := syscall.Setsid(); err != nil {
		return err
	}
	master, slave, _, err := OpenTerminal()
	if err != nil {
		return err
	}
	windows.Lock()
	defer windows.Unlock()
	windows.files = append(windows.files, master, slave)
	for _, f := range []*os.File{master, slave} {
		if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFD, 0); err != nil {
			return err
		}
	}
	return unix.IoctlSetInt(int(slave.Fd()), unix.TIOCSCTTY, 0)
}
