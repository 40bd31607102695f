//go:build linux || darwin

package runner

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// executePlan runs the whole plan.
func (u *run) executePlan(dir *folder) (ending, error) {
	sh := &shell{run: u, dir: dir, env: slices.Clone(u.job.Env), vars: map[string]string{}, marked: map[string]bool{}}
	defer sh.leave()
	defer u.endTasks()
	for _, option := range u.job.Plan.Options {
		sh.option(option)
	}
	return sh.walk(u.job.Plan.Root, stdio{u.null, u.out.write[0], u.out.write[1]}, false), nil
}

// shell is what a shell would remember between two commands.
type shell struct {
	*run
	dir *folder
	own bool // dir was opened by this shell
	// inner tells that it is a subshell, other than one for a simple command.
	inner bool
	// negated tells that all of it is behind one !, or of the subshell that it is copied of.
	negated bool
	// tested tells that the status of what runs is asked for, and unsure that it is a
	// substitution in that, in which the option -e holds to dash, and not to bash as sh.
	// doubtful tells that it ended by that.
	tested, unsure, doubtful bool
	// env is what programs get; vars are the variables that they do not, and
	// marked those that they will once they are set.
	env    []string
	vars   map[string]string
	marked map[string]bool
	// judged are settings of the environment that the text makes and that are known
	// without a look at their values.
	judged []string
	// params are the positional parameters.
	params []string
	last   ending
	exited bool
	// leaving counts the loops that a break or a continue leaves; with again the last
	// of them goes on.
	leaving int
	again   bool
	// jobs are the commands that this shell started in the background, of which a wait for
	// all waited for so many. latest is the one that $! is about, and task the one that
	// this shell is part of.
	jobs         []*task
	waited       int
	latest, task *task
	// substituted tells that a substitution ran in the words of an assignment.
	substituted bool

	errexit, nounset, pipefail bool
}

// sub returns a copy, as for a subshell. Call leave when it is over.
func (sh *shell) sub() *shell {
	c := *sh
	c.own, c.exited, c.leaving, c.jobs, c.waited = false, false, 0, nil, 0
	c.env, c.vars, c.marked = slices.Clone(sh.env), maps.Clone(sh.vars), maps.Clone(sh.marked)
	return &c
}

// option switches an option on.
func (sh *shell) option(name string) {
	switch name {
	case "e":
		sh.errexit = true
	case "u":
		sh.nounset = true
	case "pipefail":
		sh.pipefail = true
	}
}

func (sh *shell) leave() {
	if sh.own {
		sh.dir.close()
	}
}

// over reports that no further command of this shell runs, or of the round of a loop
// that it is in.
func (sh *shell) over() bool {
	return sh.exited || sh.leaving > 0 || sh.ctx.Err() != nil || sh.task.isKilled()
}

// rounds ends a round of a loop, and reports whether there may be another one.
func (sh *shell) rounds() bool {
	sh.goesOn()
	if sh.leaving == 0 {
		return !sh.over()
	}
	sh.leaving--
	return sh.leaving == 0 && sh.again && !sh.over()
}

// goesOn ends the run where what follows is run by some shells and not by others.
func (sh *shell) goesOn() {
	if sh.doubtful {
		sh.deny(Outer, denied(approval.ReasonRuntimeValue, "shells do not agree on what set -e does to a substitution where its status is asked for"))
	}
}

// stdio are the descriptors of a part of a plan.
type stdio [3]int

// step counts steps of the run, and denies it when there are too many.
func (sh *shell) step(n int) bool {
	if sh.steps.Add(int64(n)) <= maxSteps {
		return true
	}
	sh.deny(Outer, denied(approval.ReasonTooComplex, "this is more than %d steps", maxSteps))
	return false
}

// walk runs a part of the plan. tested tells that its status is asked for, so
// that a failure in it does not end a shell with the option -e.
func (sh *shell) walk(n *approval.Node, io stdio, tested bool) ending {
	if !sh.step(1) {
		return ending{}
	}
	sh.tested = tested
	if len(n.Redirects) > 0 {
		all, done, err := sh.redirect(io, n.Redirects)
		defer done()
		if io = all; err != nil {
			return sh.ended(err.ending(io[2]), tested)
		}
	}
	switch n.Op {
	case approval.OpRun:
		return sh.ended(sh.simple(n.Seg, io), tested)
	case approval.OpPipe:
		return sh.ended(sh.pipeline(n.Kids, io, tested), tested)
	case approval.OpAssign:
		return sh.ended(sh.assign(n.Assigns, io[2]), tested)
	case approval.OpAsk:
		return sh.ended(sh.asks(n.Condition, io[2]), tested)
	case approval.OpSum:
		return sh.ended(sh.holds(&n.Sums[0], io[2]), tested)
	case approval.OpSub:
		sub := sh.sub()
		sub.inner, sub.negated = true, n.Kids[0].Op == approval.OpNot
		defer sub.leave()
		return sh.ended(sub.walk(&n.Kids[0], io, tested), tested)
	case approval.OpTime:
		return sh.time(n, io, tested)
	case approval.OpNot:
		if e := sh.walk(&n.Kids[0], io, true); !sh.over() {
			sh.last = ending{code: 1}
			if e.status() != 0 {
				sh.last = ending{}
			}
		}
	case approval.OpIf:
		sh.choice(n, io, tested)
	case approval.OpCase:
		sh.cases(n, io, tested)
	case approval.OpNone:
		sh.last = ending{}
	case approval.OpBackground:
		sh.background(n, io, tested)
		sh.last = ending{}
	case approval.OpLeave, approval.OpAgain:
		sh.last, sh.leaving, sh.again = ending{}, n.Loops, n.Op == approval.OpAgain
	case approval.OpWhile, approval.OpUntil:
		sh.loop(n, io, tested)
	case approval.OpFor:
		sh.each(n, io, tested)
	case approval.OpCount:
		sh.counts(n, io, tested)
	default:
		sh.list(n, io, tested)
	}
	return sh.last
}

// ended notes the status of a command, and ends a shell with the option -e
// that failed.
func (sh *shell) ended(e ending, tested bool) ending {
	sh.last = e
	if sh.errexit && !tested && e.status() != 0 {
		sh.exited, sh.doubtful = true, sh.unsure
	}
	return e
}

// list runs commands one after another, as long as their statuses let it.
func (sh *shell) list(n *approval.Node, io stdio, tested bool) {
	for i := range n.Kids {
		if i > 0 {
			if n.Op == approval.OpSeq {
				sh.goesOn()
			}
			ok := sh.last.status() == 0
			if sh.over() || n.Op == approval.OpAnd && !ok || n.Op == approval.OpOr && ok {
				return
			}
		}
		sh.walk(&n.Kids[i], io, tested || n.Op != approval.OpSeq && i < len(n.Kids)-1)
	}
}

func (sh *shell) choice(n *approval.Node, io stdio, tested bool) {
	yes := sh.walk(&n.Kids[0], io, true).status() == 0
	switch {
	case sh.over():
	case yes:
		sh.walk(&n.Kids[1], io, tested)
	case len(n.Kids) > 2:
		sh.walk(&n.Kids[2], io, tested)
	default:
		sh.last = ending{}
	}
}

func (sh *shell) loop(n *approval.Node, io stdio, tested bool) {
	status := ending{}
	for !sh.over() {
		holds := sh.walk(&n.Kids[0], io, true).status() == 0
		if sh.over() {
			return
		}
		if holds != (n.Op == approval.OpWhile) {
			break
		}
		if status = sh.walk(&n.Kids[1], io, tested); !sh.rounds() {
			return
		}
	}
	sh.last = status
}

// cases runs the commands of the first pattern that matches.
func (sh *shell) cases(n *approval.Node, io stdio, tested bool) {
	text, e, ok := sh.one(n.Words[0], io[2])
	for i := range n.Kids {
		for _, word := range n.Cases[i] {
			if !ok || sh.over() {
				sh.last = e
				return
			}
			fits := false
			if fits, e, ok = sh.fits(text, word, io[2]); fits {
				sh.walk(&n.Kids[i], io, tested)
				return
			}
		}
	}
	sh.last = e
}

func (sh *shell) each(n *approval.Node, io stdio, tested bool) {
	words, e, ok := sh.expand(n.Words, io[2])
	if !ok {
		sh.last = e
		return
	}
	if len(words) == 0 {
		sh.last = ending{}
	}
	for _, word := range words {
		sh.set(n.Name, word)
		if sh.walk(&n.Kids[0], io, tested); !sh.rounds() {
			return
		}
	}
}

// simple runs one simple command to its end.
func (sh *shell) simple(seg int, io stdio) ending {
	c, e, ok := sh.final(seg, io[2])
	if !ok {
		return e
	}
	io, done, err := sh.redirect(io, c.Redirects)
	defer done()
	if err != nil {
		return err.ending(io[2])
	}
	if isBuiltin(c.Segment) {
		e := sh.builtin(seg, c.Segment, io)
		sh.exited = sh.exited || e.signal != 0 // a closed pipe ends the shell itself
		return e
	}
	p, wait := sh.launch(seg, c, io)
	e = wait()
	if p != nil {
		sh.release(p)
	}
	return e
}

// ready is a segment as it runs now, and what a wrapper starts by it.
type ready struct {
	*approval.Segment
	targets []target
	code    []approval.File
}

// final returns a segment as it runs now. What only now is known is judged, and
// so is what follows a program that may have changed what its words lead to.
// It reports false when nothing is to be run.
func (sh *shell) final(seg int, stderr int) (ready, ending, bool) {
	s := &sh.job.Plan.Segments[seg]
	was := ready{s, targets(sh.job.Plan, seg), codeOf(sh.job.Plan, seg)}
	argv, known := s.Argv, true
	if s.Words != nil {
		words, e, ok := sh.expand(s.Words, stderr)
		if !ok || sh.over() {
			return ready{}, e, false
		}
		if takesNumbers(s) { // and nothing that is not one
			own := *s
			own.Argv = words
			return ready{&own, nil, nil}, ending{}, true
		}
		known = len(s.Open) == 0 && slices.Equal(words, argv)
		argv = words
	}
	changed := sh.wrote.Load() && s.Program != nil
	switch {
	case known && (!changed || sh.job.Final == nil):
		return was, ending{}, true
	case sh.job.Final == nil:
		sh.deny(seg, denied(approval.ReasonRuntimeValue, "nobody judges what %q is told", s.Argv[0]))
		return ready{}, ending{}, false
	}
	plan, err := sh.job.Final(seg, argv, sh.dir.path)
	if err == nil {
		err = was.unchanged(plan)
	}
	if err != nil {
		d := (*Denied)(nil)
		if !errors.As(refusal(err), &d) {
			d = drifted("%v", err)
		}
		sh.deny(seg, d)
		return ready{}, ending{}, false
	}
	now := plan.Segments[0]
	now.Assigns, now.Redirects, now.Start, now.End = s.Assigns, s.Redirects, s.Start, s.End
	return ready{&now, targets(plan, 0), codeOf(plan, 0)}, ending{}, true
}

// unchanged makes sure that a command leads to the programs that it led to when
// the request was judged, and starts no others. What else may write the file with its
// program was only looked for where its words named one.
func (was ready) unchanged(now *approval.Plan) error {
	if len(was.code) == 0 && len(codeOf(now, 0)) > 0 && !slices.Equal(now.Segments[0].Argv, was.Argv) {
		return denied(approval.ReasonRuntimeValue, "%q reads its program from a file, which nobody knew when it was judged", was.Argv[0])
	}
	same := was.Program == nil || now.Segments[0].Program.Same(was.Program)
	for _, t := range targets(now, 0) {
		same = same && slices.ContainsFunc(was.targets, func(o target) bool { return t.res.Same(o.res) })
	}
	if !same {
		return drifted("%q does not start what it did when it was judged", was.Argv[0])
	}
	return nil
}

// launch starts a program and returns it, nil if it did not start, and how
// to wait for it. Whoever has waited releases it.
func (sh *shell) launch(seg int, c ready, io stdio) (*process, func() ending) {
	if err := sh.inFolder(c.Dir, strings.Join(c.Argv, " ")); err != nil {
		sh.deny(seg, err)
		return nil, func() ending { return ending{} }
	}
	if c.Kind != approval.KindReader {
		sh.wrote.Store(true)
	}
	env, judged := sh.with(c.Assigns)
	if err := sh.carries(c.Segment, env, judged); err != nil {
		sh.deny(seg, err)
		return nil, func() ending { return ending{} }
	}
	p, err := sh.start(launch{seg, c.Segment, c.Program, c.Argv, sh.dir, env, io, c.targets, c.code})
	if p != nil {
		sh.task.runs(p)
		return p, func() ending { return sh.wait(p, seg) }
	}
	e := ending{}
	if refused := (*startError)(nil); errors.As(err, &refused) {
		e = refused.ending(io[2])
	}
	return nil, func() ending { return e }
}

// inFolder refuses what would happen in another folder than the one it was judged
// for: a cd before it did something else than was thought.
func (sh *shell) inFolder(dir, what string) *Denied {
	if dir == "" {
		return nil
	}
	var here, there unix.Stat_t
	if sh.dir.stat(&here) == nil && statExactly(dir, &there) == nil && seen(&here).SameFolder(seen(&there)) {
		return nil
	}
	return drifted("%q was to run in %q but would run in %q", what, dir, sh.dir.path)
}

// pipeline runs its stages at once, each as a subshell, and returns the
// status of the last. Every stage is started before any is waited for, and
// the programs among them are released together: one look serves all.
func (sh *shell) pipeline(kids []approval.Node, io stdio, tested bool) ending {
	in, waits := io[0], make([]func() ending, 0, len(kids))
	var programs []*process
	for i := range kids {
		stage, mine := io, []int(nil) // descriptors that are only for this stage
		if stage[0] = in; i > 0 {
			mine = append(mine, in)
		}
		if i < len(kids)-1 {
			p, err := pipe()
			if err != nil {
				sh.deny(Outer, denied(approval.ReasonTooComplex, "cannot make a pipe: %v", err))
				closeAll(mine...)
				break
			}
			in, stage[1] = p[0], p[1]
			mine = append(mine, p[1])
		}
		p, wait := sh.stage(&kids[i], stage, mine, tested)
		waits = append(waits, wait)
		if p != nil {
			programs = append(programs, p)
		}
	}
	var last ending
	for _, wait := range waits {
		if e := wait(); !sh.pipefail || e.status() != 0 {
			last = e
		}
	}
	sh.release(programs...)
	return last
}

// stage starts one stage of a pipeline and returns how to wait for it, and
// the program that it is. A program is started here; anything else runs in a
// goroutine, which ends when its programs do or when its pipe is closed.
func (sh *shell) stage(n *approval.Node, io stdio, mine []int, tested bool) (p *process, wait func() ending) {
	defer rescue.Catch(sh.log, "a stage of a run", func() {
		sh.deny(Outer, failed())
		p, wait = nil, func() ending { return ending{} } // the stages before it are waited for
	})
	sub := sh.sub()
	if n.Op == approval.OpRun && len(n.Redirects) == 0 {
		if s := &sh.job.Plan.Segments[n.Seg]; s.Words == nil && !isBuiltin(s) {
			defer closeAll(mine...)
			c, e, ok := sub.final(n.Seg, io[2])
			if !ok {
				return nil, func() ending { return e }
			}
			all, done, err := sub.redirect(io, c.Redirects)
			defer done()
			if err != nil {
				e := err.ending(all[2])
				return nil, func() ending { return e }
			}
			return sub.launch(n.Seg, c, all)
		}
	}
	sub.inner = sub.inner || !isSimple(n)
	done := make(chan ending, 1)
	go func() {
		defer closeAll(mine...)
		defer sub.leave()
		defer rescue.Catch(sh.log, "a stage of a run", func() {
			sh.deny(Outer, failed())
			done <- ending{}
		})
		defer sh.unblock(io[1])()
		done <- sub.walk(n, io, tested)
	}()
	return nil, func() ending { return <-done }
}

// unblock makes sure that what we write ourselves ends with the run, also when
// somebody outside of it got hold of the pipe and reads nothing. The caller
// calls done when it writes no more.
func (u *run) unblock(pipe int) (done func()) {
	over, gone := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(u.ctx, func() {
		defer close(gone)
		defer rescue.Catch(u.log, "the end of what is written", nil)
		select {
		case <-u.terminated:
			drain(pipe, over)
		case <-over:
		}
	})
	return func() {
		close(over)
		if !stop() {
			<-gone
		}
	}
}
