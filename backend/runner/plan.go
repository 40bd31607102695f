//go:build linux || darwin

package runner

import (
	"errors"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
)

// Limits of a plan. All of them can be told before it starts, because a plan
// has no loops.
const (
	maxSteps   = 20_000
	maxNesting = 64
	maxAtOnce  = 32 // programs
)

// measure is the size of a part of a plan.
type measure struct{ steps, atOnce int }

// check refuses a plan that is too large or means nothing.
func check(plan *approval.Plan) error {
	m, err := measureNode(plan, plan.Root, 1)
	if err != nil {
		return err
	}
	if m.steps > maxSteps || m.atOnce > maxAtOnce {
		return denied(approval.ReasonTooComplex,
			"this is more than %d steps, or more than %d programs at once", maxSteps, maxAtOnce)
	}
	return nil
}

func measureNode(plan *approval.Plan, n *approval.Node, depth int) (measure, error) {
	if depth > maxNesting {
		return measure{}, denied(approval.ReasonTooComplex, "this is nested more than %d deep", maxNesting)
	}
	if !wellFormed(plan, n) {
		return measure{}, errors.New("internal error: this plan means nothing")
	}
	m := measure{steps: 1}
	if n.Op == approval.OpRun {
		m.atOnce = 1
	}
	for i := range n.Kids {
		kid, err := measureNode(plan, &n.Kids[i], depth+1)
		if err != nil {
			return measure{}, err
		}
		m.steps += kid.steps
		if n.Op == approval.OpPipe {
			m.atOnce += kid.atOnce
		} else {
			m.atOnce = max(m.atOnce, kid.atOnce)
		}
	}
	return m, nil
}

func wellFormed(plan *approval.Plan, n *approval.Node) bool {
	switch n.Op {
	case approval.OpRun:
		return n.Seg >= 0 && n.Seg < len(plan.Segments) && len(n.Kids) == 0 &&
			len(plan.Segments[n.Seg].Argv) > 0 && redirectsFit(plan.Segments[n.Seg].Redirects)
	case approval.OpSeq, approval.OpAnd, approval.OpOr, approval.OpPipe:
		return len(n.Kids) > 0
	case approval.OpNot:
		return len(n.Kids) == 1
	}
	return false
}

func redirectsFit(list []approval.Redirect) bool {
	return !slices.ContainsFunc(list, func(r approval.Redirect) bool {
		null := r.To == approval.ToNull && r.FD >= 0 && r.FD <= 2
		dup := r.FD >= 1 && r.FD <= 2 && r.To >= 1 && r.To <= 2
		return !null && !dup
	})
}

// executePlan runs the whole plan.
func (u *run) executePlan(dir *folder) (ending, error) {
	if err := check(u.job.Plan); err != nil {
		if d := (*Denied)(nil); errors.As(err, &d) {
			u.deny(Outer, d)
			return ending{}, nil
		}
		return ending{}, err
	}
	sh := &shell{run: u, dir: dir, env: slices.Clone(u.job.Env)}
	defer sh.leave()
	return sh.walk(u.job.Plan.Root, stdio{u.null, u.out.write[0], u.out.write[1]}), nil
}

// shell is what a shell would remember between two commands.
type shell struct {
	*run
	dir    *folder
	own    bool // dir was opened by this shell
	env    []string
	last   ending
	exited bool
}

// sub returns a copy, as for a subshell. Call leave when it is over.
func (sh *shell) sub() *shell {
	return &shell{run: sh.run, dir: sh.dir, env: slices.Clone(sh.env), last: sh.last}
}

func (sh *shell) leave() {
	if sh.own {
		sh.dir.close()
	}
}

// over reports that no further command of this shell runs.
func (sh *shell) over() bool { return sh.exited || sh.ctx.Err() != nil }

// stdio are the descriptors of a part of a plan.
type stdio [3]int

func (sh *shell) walk(n *approval.Node, io stdio) ending {
	switch n.Op {
	case approval.OpRun:
		sh.last = sh.simple(n.Seg, io)
	case approval.OpPipe:
		sh.last = sh.pipeline(n.Kids, io)
	case approval.OpNot:
		if e := sh.walk(&n.Kids[0], io); !sh.over() {
			sh.last = ending{code: 1}
			if e.status() != 0 {
				sh.last = ending{}
			}
		}
	default:
		sh.list(n, io)
	}
	return sh.last
}

// list runs commands one after another, as long as their statuses let it.
func (sh *shell) list(n *approval.Node, io stdio) {
	for i := range n.Kids {
		if i > 0 {
			ok := sh.last.status() == 0
			if sh.over() || n.Op == approval.OpAnd && !ok || n.Op == approval.OpOr && ok {
				return
			}
		}
		sh.walk(&n.Kids[i], io)
	}
}

// simple runs one simple command to its end.
func (sh *shell) simple(seg int, io stdio) ending {
	s := &sh.job.Plan.Segments[seg]
	io = redirect(io, s.Redirects, sh.null)
	if isBuiltin(s) {
		return sh.builtin(seg, io)
	}
	p, wait := sh.launch(seg, io)
	e := wait()
	if p != nil {
		sh.release(p)
	}
	return e
}

// launch starts a program and returns it, nil if it did not start, and how
// to wait for it. Whoever has waited releases it.
func (sh *shell) launch(seg int, io stdio) (*process, func() ending) {
	s := &sh.job.Plan.Segments[seg]
	if err := sh.inFolder(s); err != nil {
		sh.deny(seg, err)
		return nil, func() ending { return ending{} }
	}
	p, err := sh.start(launch{seg, s.Program, s.Argv, sh.dir, sh.env, io})
	if p != nil {
		return p, func() ending { return sh.wait(p, seg) }
	}
	e := ending{}
	if refused := (*startError)(nil); errors.As(err, &refused) {
		e = say(io[2], refused.status, "%s", refused.text)
	}
	return nil, func() ending { return e }
}

// inFolder refuses a segment that would run in another folder than the one
// it was judged for: a cd before it did something else than was thought.
func (sh *shell) inFolder(s *approval.Segment) *Denied {
	if s.Dir == "" {
		return nil
	}
	var here, there unix.Stat_t
	if sh.dir.stat(&here) == nil && unix.Stat(s.Dir, &there) == nil && seen(&here).SameFolder(seen(&there)) {
		return nil
	}
	return drifted("%q was to run in %q but would run in %q", strings.Join(s.Argv, " "), s.Dir, sh.dir.path)
}

// redirect applies redirections in the order they were written.
func redirect(io stdio, list []approval.Redirect, null int) stdio {
	for _, r := range list {
		if r.To == approval.ToNull {
			io[r.FD] = null
		} else {
			io[r.FD] = io[r.To]
		}
	}
	return io
}

// pipeline runs its stages at once, each as a subshell, and returns the
// status of the last. Every stage is started before any is waited for, and
// the programs among them are released together: one look serves all.
func (sh *shell) pipeline(kids []approval.Node, io stdio) ending {
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
		p, wait := sh.stage(&kids[i], stage, mine)
		waits = append(waits, wait)
		if p != nil {
			programs = append(programs, p)
		}
	}
	var last ending
	for _, wait := range waits {
		last = wait()
	}
	sh.release(programs...)
	return last
}

// stage starts one stage of a pipeline and returns how to wait for it, and
// the program that it is. A program is started here; anything else runs in a
// goroutine, which ends when its programs do or when its pipe is closed.
func (sh *shell) stage(n *approval.Node, io stdio, mine []int) (*process, func() ending) {
	sub := sh.sub()
	if s := &sh.job.Plan.Segments[n.Seg]; n.Op == approval.OpRun && !isBuiltin(s) {
		defer closeAll(mine...)
		return sub.launch(n.Seg, redirect(io, s.Redirects, sh.null))
	}
	done := make(chan ending, 1)
	go func() {
		defer closeAll(mine...)
		defer sub.leave()
		done <- sub.walk(n, io)
	}()
	return nil, func() ending { return <-done }
}
