//go:build linux || darwin

package environ

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// detach gives a command a session of its own, so that it has no terminal to
// ask at, and lets it end with all of its process group.
func detach(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
	return nil
}
