//go:build linux || darwin

package runner

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/rescue"
)

// run is one job from its first start to its end.
type run struct {
	*Runner
	job     Job
	started time.Time
	ctx     context.Context
	cancel  context.CancelCauseFunc
	out     *collector
	begun   uint64      // when its first program started; the table's lock
	aging   *time.Timer // see young
	// terminated is closed when a run that was ended from outside is over.
	terminated chan struct{}
	over       chan struct{} // closed when nothing of the run is left
	hurry      atomic.Bool   // it gets less time to clean up

	mu     sync.Mutex // held while a program is started
	ending bool
	denial *approval.Denial
	kept   []*process        // ended programs whose sessions may not be empty
	loud   bool              // something of it may live on
	has    need              // of the room
	unread map[*os.File]bool // texts that are being written, see keepWriting
	fed    int               // the most there were of them
	// outputs are the redirections that wrote files, by path, with these as they were
	// seen. opening is held while one is looked up or opened.
	opening sync.Mutex
	outputs map[string]approval.Redirect

	size  measure // of the plan
	tasks tasks

	steps, grown atomic.Int64   // steps, and bytes of words and values
	paid         atomic.Int64   // of these bytes, for how many there is room
	listed       atomic.Int64   // entries of folders that patterns went through
	wrote        atomic.Bool    // something was started that may have changed files
	user, system atomic.Int64   // processor time of the programs that ended, in nanoseconds
	feeds        sync.WaitGroup // texts that are fed to programs
}

// ending is how a program ended: by itself with a code, or by a signal.
type ending struct {
	code   int
	signal unix.Signal
}

// status is what a shell calls the status.
func (e ending) status() int {
	if e.signal != 0 {
		return 128 + int(e.signal)
	}
	return e.code
}

// usage is the processor time of a program and of those that it waited for.
type usage struct{ user, system time.Duration }

func (e ending) public() Status {
	s := Status{Code: e.status()}
	if e.signal != 0 {
		s.Signal = unix.SignalName(e.signal)
	}
	return s
}

// do runs the job and returns when nothing of it is left.
func (u *run) do() approval.Result {
	result := approval.Result{Started: u.started}
	ctx := u.ctx
	if d := u.job.timeout(); d > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, d, errTimeout)
		defer stop()
		u.ctx = ctx
	}
	if err := u.enter(); err != nil {
		return u.refused(err)
	}
	out, err := newCollector(func() { u.deny(Outer, failed()) })
	if err != nil {
		result.Error, result.Ended = "cannot make pipes for the output: "+err.Error(), u.now()
		return result
	}
	u.out = out

	leave := context.AfterFunc(ctx, u.terminate)
	last, err := u.execute()
	early := leave()
	if ctx.Err() != nil {
		if early {
			u.terminate()
		}
		<-u.terminated
		if last.cause = cause(ctx); last.cause == errOver {
			last.cause = nil
		}
	}
	result.Left = u.clean()
	u.stopWriting()
	out.finish(outputBound)
	u.report(&result, last, err)
	return result
}

// refused is the result of a run that nothing of came to be.
func (u *run) refused(err error) approval.Result {
	result := approval.Result{Started: u.started, Ended: u.now()}
	if d := (*Denied)(nil); errors.As(err, &d) {
		d.Segment = u.textOf(Outer)
		result.Denied = &d.Denial
	} else {
		result.Error = err.Error()
	}
	return result
}

// outcome is the last status of a run, and why it was ended, if it was.
type outcome struct {
	ending
	cause error
}

// outputBound is how long we read on when nothing of a run is left and
// somebody still holds its output.
const outputBound = 2 * time.Second

// execute runs what the plan says. Where that makes us panic, the run ends as
// one that is denied.
func (u *run) execute() (last outcome, err error) {
	defer rescue.Catch(u.log, "a run", func() { u.deny(Outer, failed()) })
	dir, err := openCwd(u.job.Plan.Cwd)
	if err != nil {
		u.deny(Outer, denied(approval.ReasonCwdUnavailable,
			"the working directory %q cannot be used: %v", u.job.Plan.Cwd.Path, err))
		return outcome{}, nil
	}
	defer dir.close()
	if u.job.Mode == ModePlan {
		e, err := u.executePlan(dir)
		return outcome{ending: e}, err
	}
	e, err := u.executeArgv(dir)
	return outcome{ending: e}, err
}

func failed() *Denied {
	return denied(approval.ReasonInternal, "Countersign failed while it ran this, so it was ended: the log of the host says where")
}

func openCwd(want approval.File) (*folder, error) {
	dir, err := openFolder(nil, want.Path)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err = dir.stat(&st); err == nil && !seen(&st).SameFolder(want) {
		err = errors.New("it is not the folder any more that was judged")
	}
	if err != nil {
		dir.close()
		return nil, err
	}
	return dir, nil
}

// executeArgv starts the one program of the job with the arguments that were
// asked for.
func (u *run) executeArgv(dir *folder) (ending, error) {
	plan := u.job.Plan
	l := launch{seg: Outer, res: plan.Outer, dir: dir, env: u.job.Env}
	if l.res == nil {
		for i, s := range plan.Segments {
			if s.Via == 0 && !s.Named {
				if l.seg != Outer {
					return ending{}, errors.New("internal error: this plan starts more than one program")
				}
				l.seg, l.as, l.res = i, &plan.Segments[i], s.Program
			}
		}
	}
	if len(plan.Argv) == 0 {
		return ending{}, errors.New("internal error: this plan has no arguments")
	}
	l.argv = plan.Argv
	if l.seg != Outer {
		l.targets, l.code = targets(plan, l.seg), codeOf(plan, l.seg)
	}
	l.fds = [3]int{u.null, u.out.write[0], u.out.write[1]}
	p, err := u.start(l)
	u.out.hangUp() // so that the output ends when the program does
	if p == nil {
		return ending{}, err
	}
	e := u.wait(p, l.seg)
	u.release(p)
	return e, nil
}

// statusUnknown stands for a status that the kernel did not tell; it is
// never success.
const statusUnknown = 255

// wait waits for a program. It stays in the kernel's table until release.
func (u *run) wait(p *process, seg int) ending {
	e, used, err := await(p.PID)
	u.user.Add(used.user.Nanoseconds())
	u.system.Add(used.system.Nanoseconds())
	if err != nil {
		u.log.Error("cannot wait for a program", "pid", p.PID, "error", err)
		e = ending{code: statusUnknown}
	}
	if u.job.Ended != nil {
		u.tell(func() { u.job.Ended(seg, p.Process, e.public()) })
	}
	return e
}

// maxKept bounds the ended programs that wait to be reaped because something of
// their sessions lives. More than one pipeline has must fit.
const maxKept = 2 * maxAtOnce

// release ends a pipeline, of which it gets the programs, all ended, in the
// order they were started. They stay unreaped while something of their
// sessions may live, so that nothing else gets their numbers: what a program
// left behind may serve the next one, and is ended when the run is over.
func (u *run) release(pipeline ...*process) {
	if len(pipeline) == 0 {
		return
	}
	if ours.quiet(pipeline[0]) {
		for _, p := range pipeline {
			ours.reap(p)
		}
		return
	}
	u.mu.Lock()
	u.loud = true
	u.kept = append(u.kept, pipeline...)
	full := len(u.kept) > maxKept
	u.mu.Unlock()
	if full && !u.reapEmpty() {
		u.deny(Outer, denied(approval.ReasonTooComplex, "more than %d of its programs left something running", maxKept))
	}
}

// reapEmpty reaps the kept programs whose sessions nobody lives in. It reports
// false if there are still too many.
func (u *run) reapEmpty() bool {
	list, err := proc.All()
	if err != nil {
		return false
	}
	lived := map[int]bool{}
	for _, p := range list {
		if !p.Zombie {
			lived[p.Group], lived[p.Session] = true, true
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	var kept []*process
	for _, p := range u.kept {
		if lived[p.PGID] {
			kept = append(kept, p)
		} else {
			ours.reap(p)
		}
	}
	u.kept = kept
	return len(kept) <= maxKept
}

// deny ends the run with a denial; the first one counts.
func (u *run) deny(seg int, d *Denied) {
	defer u.cancel(errDenied)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.denial == nil {
		denial := d.Denial
		if denial.Segment == "" {
			denial.Segment = u.textOf(seg)
		}
		u.denial = &denial
	}
}

// terminate ends a run from outside: its caller hung up, its time is over,
// somebody stopped it, or it was denied.
func (u *run) terminate() {
	defer close(u.terminated)
	defer rescue.Catch(u.log, "the end of a run", func() { ours.signalGroups(u, unix.SIGKILL) })
	u.mu.Lock()
	u.ending = true // waits for a start that is going on
	u.mu.Unlock()
	u.endAll()
}

// clean ends what outlived the run, reaps its last programs and returns the
// names of what it ended.
func (u *run) clean() (names []string) {
	defer rescue.Catch(u.log, "the end of a run", func() {
		u.deny(Outer, failed())
		ours.signalGroups(u, unix.SIGKILL)
	})
	if u.loud {
		names = u.endAll()
	}
	for _, p := range u.kept {
		ours.reap(p)
	}
	for _, p := range ours.unreaped(u) { // a panic came before its end: it was ended by now
		ours.reap(p)
	}
	if u.loud {
		ours.reapOrphans()
	}
	return names
}

// endAll ends everything of the run that lives and returns its names.
func (u *run) endAll() []string {
	names, err := end(
		func() ([]proc.Info, error) { return ours.belonging(u) },
		func(sig unix.Signal) map[int]bool { return ours.signalGroups(u, sig) },
		u.grace,
	)
	if err != nil {
		u.log.Error("cannot end all programs of a run", "run", u.job.ID, "error", err)
	}
	return names
}

func (u *run) grace() time.Duration {
	if u.hurry.Load() {
		return hurried
	}
	return grace
}

// report fills in the result of a run that is over.
func (u *run) report(r *approval.Result, last outcome, err error) {
	u.out.result(r, u.tasks.told())
	r.Denied = u.denial
	r.Ended = u.now()
	refused := (*startError)(nil)
	switch {
	case last.signal != 0:
		r.Signal = unix.SignalName(last.signal)
	case last.cause == nil && err == nil:
		r.ExitCode = &last.code
	case errors.As(err, &refused):
		r.ExitCode = &refused.status
	}
	switch {
	case r.Denied != nil:
	case last.cause != nil:
		r.TimedOut = errors.Is(last.cause, errTimeout)
		r.Error = last.cause.Error()
	case err != nil:
		r.Error = err.Error()
	}
}
