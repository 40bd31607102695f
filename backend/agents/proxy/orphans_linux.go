package proxy

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/rescue"
)

// adopt makes this process the parent of what its descendants leave behind.
func adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// reap takes the ended out of the kernel's table, but for the server, which has
// somebody who waits for it, until the server has ended.
func (s *Process) reap() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	defer signal.Stop(ended)
	for {
		s.reapEnded()
		select {
		case <-ended:
		case <-s.over:
			return
		}
	}
}

func (s *Process) reapEnded() {
	defer rescue.Catch(nil, "what the server left", nil)
	list, err := proc.All()
	if err != nil {
		return
	}
	for _, p := range list {
		if p.Zombie && p.Parent == os.Getpid() && p.PID != s.cmd.Process.Pid {
			_, _ = unix.Wait4(p.PID, nil, unix.WNOHANG, nil)
		}
	}
}
