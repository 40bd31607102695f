//go:build linux || darwin

package runner

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/descriptors"
	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/rescue"
)

// process is a program that we started and have not reaped. It leads a group
// and a session; as long as it is not reaped, the number of all three is its
// own.
type process struct {
	Process
	run  *run
	when time.Time // just before it was started
}

// children is what this process knows of its own children.
type children struct {
	door  sync.Mutex // held while the table is opened or closed
	users int

	mu       sync.Mutex
	kids     map[int]*process           // those of every run, until they are reaped
	runs     map[*run]bool              // those that are not over
	starting map[chan struct{}]struct{} // closed when that start is over
	host     int                        // our own process group: no run's, see spawn
	// unclaimed is set while something lives that may belong to one of
	// several runs.
	unclaimed bool
	orphans   int // that were reaped, ever
	platformChildren
}

// ours is the one thing that every Runner of a process shares, because the
// kernel has one list of children and one subreaper mark for a process, and
// two tables of it would each take the other's children for strangers.
var ours = children{
	kids: map[int]*process{}, runs: map[*run]bool{}, starting: map[chan struct{}]struct{}{},
}

// join makes the table ready for one more Runner.
func (c *children) join() error {
	c.door.Lock()
	defer c.door.Unlock()
	if c.users == 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.host = unix.Getpgrp()
		if err := c.open(); err != nil {
			return err
		}
	}
	c.users++
	return nil
}

// leave undoes join.
func (c *children) leave() {
	c.door.Lock()
	defer c.door.Unlock()
	if c.users--; c.users == 0 {
		c.close()
	}
}

func (c *children) add(u *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs[u] = true
	u.aging = time.AfterFunc(young, c.watch)
}

func (c *children) remove(u *run) {
	c.mu.Lock()
	delete(c.runs, u)
	c.mu.Unlock()
	if !u.aging.Stop() {
		c.unwatch()
	}
}

// young is how long a run may leave ended orphans in the kernel's table. A
// short run takes them when it ends, and so saves a signal for every program.
const young = time.Second

// unreaped returns the programs of a run that are not reaped.
func (c *children) unreaped(u *run) (list []*process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.kids {
		if k.run == u {
			list = append(list, k)
		}
	}
	return list
}

// groups returns the programs of a run that are not reaped.
func (c *children) groups(u *run) []Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []Process
	for _, k := range c.kids {
		if k.run == u {
			list = append(list, k.Process)
		}
	}
	return list
}

// has reports whether a program is not reaped.
func (c *children) has(p *process) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kids[p.PID] == p
}

// signal signals a program alone, if it is not reaped, so that nothing else can have its
// number.
func (c *children) signal(p *process, sig unix.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kids[p.PID] == p {
		_ = unix.Kill(p.PID, sig) // one that has ended is no error
	}
}

// signalGroups signals the group of every program of a run that is not
// reaped, so that no other group can have its number, and returns these
// groups.
func (c *children) signalGroups(u *run, sig unix.Signal) map[int]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	told := map[int]bool{}
	for _, k := range c.kids {
		if k.run == u {
			_ = unix.Kill(-k.PGID, sig) // no member left is no error
			told[k.PGID] = true
		}
	}
	return told
}

// start runs spawn and registers what it started. Until start returns, settle
// waits: a child that nobody registered yet is no stray.
func (c *children) start(u *run, spawn func() (int, error)) (*process, error) {
	over := make(chan struct{})
	c.mu.Lock()
	c.starting[over] = struct{}{}
	c.mu.Unlock()

	p := &process{run: u, when: time.Now()}
	err := p.spawn(spawn)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.starting, over)
	close(over)
	if err != nil {
		return nil, err
	}
	c.kids[p.PID] = p
	if u.begun == 0 {
		u.begun = p.Started
	}
	return p, nil
}

// spawn starts a program and looks at it. One that cannot be looked at, or where
// that makes us panic, is ended: else settle would wait for it for ever.
func (p *process) spawn(spawn func() (int, error)) (err error) {
	defer func() {
		if err != nil && p.PID > 0 {
			_ = unix.Kill(p.PID, unix.SIGKILL)
			reapPID(p.PID)
		}
	}()
	defer rescue.Catch(nil, "the start of a program", func() { err = errors.New("internal error: it cannot be started") })
	if err := descriptors.Keep(); err != nil {
		return err
	}
	if p.PID, err = spawn(); err != nil {
		return err
	}
	info, err := proc.Stat(p.PID) // it is not reaped, so this is it
	if err != nil {
		return fmt.Errorf("cannot look at the program that was started: %w", err)
	}
	p.PGID, p.Started = p.PID, info.Started
	return nil
}

// settle waits until every start that is going on now is over.
func (c *children) settle() {
	c.mu.Lock()
	list := make([]chan struct{}, 0, len(c.starting))
	for over := range c.starting {
		list = append(list, over)
	}
	c.mu.Unlock()
	for _, over := range list {
		<-over
	}
}

func (c *children) known(pid int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kids[pid] != nil
}

// runOf is the run that started a living process, nil for none, where the process is one of
// its programs or in the session of one. It says which process that is.
func (c *children) runOf(pid int, id *approval.ProcessID) *run {
	c.mu.Lock() // no program is reaped meanwhile, so that its number stays its own
	defer c.mu.Unlock()
	p, err := proc.Stat(pid)
	if err != nil || p.Zombie {
		return nil
	}
	leader := cmp.Or(c.kids[p.Session], c.kids[p.Group]) // a platform may hide the session
	if leader == nil {
		return nil
	}
	*id = approval.ProcessID{PID: p.PID, Started: p.Started}
	return leader.run
}

// reap takes a program that has ended out of the table of the kernel and out
// of ours, in one step for everybody who looks at both.
func (c *children) reap(p *process) {
	c.mu.Lock()
	reapPID(p.PID)
	delete(c.kids, p.PID)
	c.mu.Unlock()
	c.reaped()
}

func reapPID(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// belonging returns every living process of a run: the programs it started,
// what they started, and what left them.
func (c *children) belonging(u *run) ([]proc.Info, error) {
	c.mu.Lock()
	begun := u.begun
	c.mu.Unlock()
	if begun == 0 {
		return nil, nil
	}
	dead := map[proc.ID]bool{}
	for try := 1; ; try++ {
		c.mu.Lock()
		orphans := c.orphans
		c.mu.Unlock()
		list, err := proc.All()
		if err != nil {
			return nil, fmt.Errorf("cannot list processes: %w", err)
		}
		c.settle()
		if living, whole := c.among(u, list, orphans, dead); whole || try == maxLooks {
			return living, nil
		}
	}
}

// maxLooks bounds how often the processes are listed for one answer, where some
// end all the time.
const maxLooks = 20

// among returns the living processes of a run in a list. It reports false where
// one that may have been its program has ended while the list was made or since,
// and was not dead in a list before: what that one started last is in no list yet,
// or has another parent by now. orphans were reaped before the list was begun.
func (c *children) among(u *run, list []proc.Info, orphans int, dead map[proc.ID]bool) (living []proc.Info, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[int]proc.Info{}
	c.unclaimed, whole = false, c.orphans == orphans
	for _, p := range list {
		if p.Zombie && orphan(p) && c.kids[p.PID] == nil && !dead[p.ID()] {
			dead[p.ID()], whole = true, false
		}
		switch c.belongs(u, p) {
		case ended:
			whole = false
		case yes:
			found[p.PID] = p
			for _, d := range proc.Descendants(p.PID, list) {
				found[d.PID] = d
			}
		}
	}
	for _, p := range found {
		if !p.Zombie {
			living = append(living, p)
		}
	}
	return living, whole
}

// membership says whether a process is one of a run.
type membership int

const (
	no membership = iota
	yes
	ended // since the list was made
)

func is(a bool) membership {
	if a {
		return yes
	}
	return no
}

// belongs tells whether a process is a program of this run, or left it.
func (c *children) belongs(u *run, p proc.Info) membership {
	if k := c.kids[p.PID]; k != nil {
		return is(k.run == u)
	}
	if !orphan(p) || p.Zombie || p.Group == c.host {
		return no
	}
	// It may be a program of another run that was reaped since the list was
	// made. None is reaped now: that needs the lock which we hold.
	if now, err := proc.Stat(p.PID); err != nil || now.Started != p.Started || now.Zombie {
		return ended
	}
	// The group tells as well where a platform hides the session.
	if leader := cmp.Or(c.kids[p.Session], c.kids[p.Group]); leader != nil {
		return is(leader.run == u)
	}
	if !subreaper && p.Started < u.begun {
		return no // not worth a look at its environment
	}
	if id, ok := proc.Getenv(p.PID, marker); ok {
		for r := range c.runs {
			if r.job.ID == id {
				return is(r == u)
			}
		}
	}
	return is(subreaper && c.claims(u, p))
}

// claims reports whether an orphan without a mark can only have been started
// by this run or by runs that are over. It is left alone while another run
// could have started it, and looked at again when that one ends.
func (c *children) claims(u *run, p proc.Info) bool {
	for r := range c.runs {
		if r != u && r.begun != 0 && r.begun <= p.Started {
			c.unclaimed = true
			return false
		}
	}
	return u.begun <= p.Started
}
