//go:build linux || darwin

package runner

import (
	"errors"
	"path"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
	"github.com/countersign-app/countersign/backend/trail"
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
		u.tell(func() { u.job.Started(l.seg, l.as, p.Process) })
	}
	// Whoever wrote to a file between the comparison and the start is seen
	// now. The program is a child that is not reaped, so this kills it only.
	if err := errors.Join(img.unchanged(), compare(scripts), l.compare()); err != nil {
		_ = unix.Kill(p.PID, unix.SIGKILL)
		return p, err
	}
	return p, nil
}

// tell has our caller hear of a program. Where that makes us panic, the run ends as
// one that is denied, and the program with it.
func (u *run) tell(of func()) {
	defer rescue.Catch(u.log, "what is told of a program", func() { u.deny(Outer, failed()) })
	of()
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
// nor env looks one up again.
func kernelArgv(res *approval.Resolution, args []string) (
	binary *approval.Resolution, argv []string, scripts []named, err error,
) {
	argv = append([]string{res.Path}, args...)
	for res.Interpreter != nil {
		if len(scripts) == maxInterpreters {
			return nil, nil, nil, denied(approval.ReasonTooComplex, "%q is a script for a script, and so on", argv[0])
		}
		s := asScript(res)
		scripts = append(scripts, s)
		head := []string{res.Interpreter.Path}
		if res.InterpreterArg != "" {
			head = append(head, res.InterpreterArg)
		}
		argv = append(append(head, s.name), argv[1:]...)
		res = res.Interpreter
	}
	return res, argv, scripts, nil
}

// named is a script: a file that its interpreter opens by name, after we looked.
type named struct {
	file approval.File
	// name is what the interpreter gets, and the script sees as $0: the path that
	// the word led to, as scripts of many names need it, or the real one.
	name string
	// way is how name leads to the file, where it is not the real path.
	way *trail.Trail
}

// asScript decides by which name a script is opened. Through a link it is only
// where everybody who can make the link lead elsewhere can change the script
// itself as well: what remains is who can write to the script, to its folder,
// or to one above it.
func asScript(res *approval.Resolution) named {
	s := named{file: res.File, name: res.File.Path}
	if path.Clean(res.Path) == s.name {
		return s
	}
	way, err := trail.Walk(res.Path)
	if err != nil {
		return s
	}
	if real, err := trail.Walk(s.name); err == nil && way.NoEasier(real) {
		s.name, s.way = res.Path, &way
	}
	return s
}

// compare makes sure that scripts are what was judged, and that the links to
// them are those that were there when they were named.
func compare(scripts []named) error {
	for _, s := range scripts {
		if err := errors.Join(unwritten(s.file.Path, s.file), unchanged(s.name, s.file)); err != nil {
			return err
		}
		if s.way == nil {
			continue
		}
		if now, err := trail.Walk(s.name); err != nil || !now.Same(*s.way) {
			return drifted("%q was replaced while it started", s.name)
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
