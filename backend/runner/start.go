//go:build linux || darwin

package runner

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
)

// maxInterpreters is how deep scripts may be interpreted by scripts.
const maxInterpreters = 5

// launch is one program on its way to the kernel.
type launch struct {
	seg  int               // or Outer
	as   *approval.Segment // as it runs now, nil for Outer
	res  *approval.Resolution
	argv []string
	dir  *folder
	env  []string
	fds  [3]int
	// targets are what it starts by its words, and code the files with program
	// text that it, or one of these, opens by its words.
	targets []target
	code    []approval.File
}

// errEnded says that the run is being ended, so nothing starts any more.
var errEnded = errors.New("the run is being ended")

// start judges, compares and starts one program. It fails with a *startError
// or with errEnded; a denial ends the run.
func (u *run) start(l launch) (*process, error) {
	select {
	case u.slots <- struct{}{}:
		defer func() { <-u.slots }()
	case <-u.ctx.Done():
		return nil, errEnded
	}
	p, err := u.judgeAndStart(l)
	if d := (*Denied)(nil); errors.As(err, &d) {
		u.deny(l.seg, d)
		err = errEnded
	}
	return p, err
}

func (u *run) judgeAndStart(l launch) (*process, error) {
	if u.job.Check != nil {
		if err := u.job.Check(l.seg, l.as); err != nil {
			return nil, refusal(err)
		}
	}
	if l.res == nil {
		return nil, &startError{127, l.argv[0] + ": command not found"}
	}
	binary, argv, scripts, err := kernelArgv(l.res, l.aim()[1:])
	if err != nil {
		return nil, err
	}
	img, err := openImage(binary.File.Path, binary.File)
	if err != nil {
		return nil, err
	}
	defer img.close()
	if err := errors.Join(compare(scripts), l.compare()); err != nil {
		return nil, err
	}
	p, err := u.spawn(l, img, argv)
	if err != nil {
		return nil, err
	}
	if u.job.Started != nil {
		u.job.Started(l.seg, l.as, p.Process)
	}
	// Whoever wrote to a file between the comparison and the start is seen
	// now. The program is a child that is not reaped, so this kills it only.
	if err := errors.Join(img.unchanged(), compare(scripts), l.compare()); err != nil {
		_ = unix.Kill(p.PID, unix.SIGKILL)
		return p, err
	}
	return p, nil
}

// spawn starts a program that was compared. It holds the run's lock, so that
// nothing starts once the run is being ended.
//
// Every program leads a session of its own, each stage of a pipeline too. A
// process can join any group of its session, and a session only by being born
// in it: so nothing of a run can hide among the helpers of the host, and
// its /dev/tty is not the terminal that the host was started from.
func (u *run) spawn(l launch, img *image, argv []string) (*process, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ending || u.ctx.Err() != nil {
		return nil, errEnded
	}
	path, err := img.start(l.fds)
	if err != nil {
		return nil, cannotStart(l.res.Path, err)
	}
	dir, err := l.dir.enter()
	if err != nil {
		return nil, denied(approval.ReasonCwdUnavailable, "the working directory %q is gone", l.dir.path)
	}
	attr := &syscall.ProcAttr{
		Dir: dir, Env: l.env,
		Files: []uintptr{uintptr(l.fds[0]), uintptr(l.fds[1]), uintptr(l.fds[2])},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
	p, err := ours.start(u, func() (int, error) {
		pid, _, err := syscall.StartProcess(path, argv, attr)
		return pid, err
	})
	if err != nil {
		return nil, cannotStart(l.res.Path, err)
	}
	return p, nil
}

// kernelArgv does what the kernel would do with #! lines: it returns the
// program that starts in the end, its argument vector, and the scripts on the
// way. An interpreter is started by what was resolved, so neither the kernel
// nor env looks one up again. It opens its script by path, after we looked:
// it gets the real one, so that a link on the way, which anybody may own, is
// not followed again. What remains is somebody who can write to the real
// folder of the script, or to one above it. A script therefore sees its real
// path as $0, also when it was called through a link.
func kernelArgv(res *approval.Resolution, args []string) (
	binary *approval.Resolution, argv []string, scripts []*approval.Resolution, err error,
) {
	argv = append([]string{res.Path}, args...)
	for res.Interpreter != nil {
		if len(scripts) == maxInterpreters {
			return nil, nil, nil, denied(approval.ReasonTooComplex, "%q is a script for a script, and so on", argv[0])
		}
		scripts = append(scripts, res)
		head := []string{res.Interpreter.Path}
		if res.InterpreterArg != "" {
			head = append(head, res.InterpreterArg)
		}
		argv = append(append(head, res.File.Path), argv[1:]...)
		res = res.Interpreter
	}
	return res, argv, scripts, nil
}

func compare(scripts []*approval.Resolution) error {
	for _, s := range scripts {
		if err := unchanged(s.File.Path, s.File); err != nil {
			return err
		}
	}
	return nil
}

// refusal turns what a judge said into a denial.
func refusal(err error) error {
	if d := (*Denied)(nil); errors.As(err, &d) {
		return err
	}
	return drifted("%v", err)
}

func (u *run) segment(seg int) *approval.Segment {
	if seg == Outer {
		return nil
	}
	return &u.job.Plan.Segments[seg]
}

// textOf is the text of a segment for a denial.
func (u *run) textOf(seg int) string {
	s, text := u.segment(seg), u.job.Plan.Text
	if s != nil && 0 <= s.Start && s.Start <= s.End && s.End <= len(text) {
		text = text[s.Start:s.End]
	}
	return text
}
