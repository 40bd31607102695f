package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/descriptors"
)

// starterWord is the only argument of the starter: our own program, as it runs
// in a box of bubblewrap. There it is process 1 and, for the moment before it
// becomes the command, the first child of that.
const starterWord = "sandbox-starter"

// errand is what the starter is told through a pipe: others read the arguments
// and the variables of a process.
type errand struct {
	Argv, Env         []string
	Processes, Memory uint64 // the limits of the command
}

// The starter begins before the rest of the program does, in every program that
// has boxes: none can forget it. It needs process 1 of its own, which nobody has
// outside of a box.
func init() {
	if len(os.Args) != 2 || os.Args[1] != starterWord {
		return
	}
	switch {
	case os.Getpid() == 1:
		os.Exit(first())
	case os.Getppid() == 1:
		os.Exit(become())
	}
}

// Exit codes of the starter, as shells have them.
const (
	exitFailed = 125
	exitCannot = 126
	exitNone   = 127
)

// first is process 1: it starts the command, passes signals on to it, reaps what
// has no parent, and ends as the command does, and so does everything else in
// the box. Nothing in there may look into it: a command that could would say how
// it ended, and keep its box alive.
func first() int {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return failed(exitFailed, err)
	}
	if err := descriptors.Keep(); err != nil {
		return failed(exitFailed, err)
	}
	signals := make(chan os.Signal, 64)
	signal.Notify(signals) // all: none of them ends process 1
	child, err := syscall.ForkExec("/proc/self/exe", os.Args, &syscall.ProcAttr{Files: []uintptr{0, 1, 2, fdErrand}})
	if err != nil {
		return failed(exitFailed, err)
	}
	unix.Close(fdErrand)
	go func() {
		for s := range signals {
			if s != unix.SIGCHLD && s != unix.SIGURG { // the second is the Go runtime's own
				_ = unix.Kill(child, s.(syscall.Signal)) // it may have ended
			}
		}
	}()
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return failed(exitFailed, err)
		case pid == child && status.Signaled():
			return 128 + int(status.Signal())
		case pid == child && status.Exited():
			return status.ExitStatus()
		}
	}
}

// become turns the first child into the command.
func become() int {
	const at = 3 // where first handed the errand on
	text, err := io.ReadAll(os.NewFile(at, "errand"))
	var e errand
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err == nil && len(e.Argv) == 0 {
		err = errors.New("there is no command")
	}
	if err == nil {
		err = descriptors.Keep()
	}
	if err != nil {
		return failed(exitFailed, err)
	}
	os.Clearenv()
	for _, kv := range e.Env {
		if name, value, _ := strings.Cut(kv, "="); name == "PATH" {
			_ = os.Setenv(name, value) // for the search
		}
	}
	path, err := exec.LookPath(e.Argv[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		if errors.Is(err, os.ErrPermission) {
			return failed(exitCannot, err)
		}
		return failed(exitNone, err)
	}
	script := append([]string{"sh", path}, e.Argv[1:]...)
	for _, one := range []struct {
		resource int
		most     uint64
	}{{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_NPROC, e.Processes}, {unix.RLIMIT_DATA, e.Memory}} {
		if err := unix.Setrlimit(one.resource, &unix.Rlimit{Cur: one.most, Max: one.most}); err != nil {
			return failed(exitFailed, err)
		}
	}
	if err = syscall.Exec(path, e.Argv, e.Env); errors.Is(err, unix.ENOEXEC) { // a script that names no interpreter
		err = syscall.Exec("/bin/sh", script, e.Env)
	}
	return failed(exitCannot, err)
}

func failed(code int, err error) int {
	fmt.Fprintln(os.Stderr, "countersign:", err)
	return code
}
