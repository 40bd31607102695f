package ipc

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/proc"
)

const (
	// maxRoots bounds what the door remembers. Only the ended are forgotten:
	// nobody can be a descendant of theirs any more.
	maxRoots = 4096
	// maxChain bounds a walk to the first process of the machine.
	maxChain = 1000
	// runMark is in the environment of every command that a host starts. A
	// program can remove it, so having none proves nothing.
	runMark = approval.RunMark
)

// Door decides which processes may operate: answer, edit and unlock. The
// operator key alone is not enough, because every program of the user can
// read it. Whatever cannot be seen is refused.
//
// A process passes that runs one of our programs (by device and inode), that
// was not started by this process or by what it started, and that is not in
// the family of a process that asked: the asker, its ancestors within its
// session, everything in that session, and all their descendants.
//
// The session of the first process is no family: on macOS all that launchd
// starts is in it, from Dock apps to node services, and every terminal comes
// from there. Of a process in it the ancestors below the first process count,
// and their process groups, one of which launchd gives to each job.
type Door struct {
	self     process
	programs programs
	// responsible tells which process macOS holds responsible for another one;
	// nil where nobody tells.
	responsible func(pid int) (int, error)

	mu       sync.Mutex
	roots    map[process]struct{}
	sessions map[int]struct{}
	groups   map[int]struct{} // in the session of the first process
}

// NewDoor makes the door of this process. The program that this process runs
// is ours; further ones, such as the command line beside the app, are named
// by their paths and stay the files that they are now.
func NewDoor(further ...string) (*Door, error) {
	own, err := openPrograms(further)
	if err != nil {
		return nil, err
	}
	me, err := proc.Stat(os.Getpid())
	if err != nil {
		own.close()
		return nil, fmt.Errorf("cannot see our own process: %w", err)
	}
	return &Door{
		self: process{me.PID, me.Started}, programs: own,
		roots: map[process]struct{}{}, sessions: map[int]struct{}{}, groups: map[int]struct{}{},
	}, nil
}

// Close lets go of the files of our programs.
func (d *Door) Close() { d.programs.close() }

// Remember keeps the family of a process that asks, from now on and also
// when the process has ended: its parents may end later. Without it the
// process must not be allowed to ask.
func (d *Door) Remember(peer approval.Peer) error {
	id := process{peer.PID, peer.Started}
	if id == d.self {
		return nil
	}
	chain, err := ancestry(peer.PID)
	if err != nil {
		return err
	}
	if chain[0].Started != peer.Started {
		return errors.New("the process that asks has ended")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remember(chain)
	return d.tidy()
}

// firstPID is the process that starts all others and takes in those whose
// parents ended: launchd, init.
const firstPID = 1

// remember keeps the family of a process, which it and its ancestors tell. The
// caller holds the lock.
func (d *Door) remember(chain []proc.Info) {
	asker, first := chain[0], chain[len(chain)-1]
	ofSystem := first.PID == firstPID && asker.Session == first.Session
	for _, p := range chain {
		if p.Session != asker.Session || p.PID == firstPID && p.PID != asker.PID {
			break
		}
		d.roots[process{p.PID, p.Started}] = struct{}{}
		if ofSystem && p.Group != first.Group {
			d.groups[p.Group] = struct{}{}
		}
	}
	if !ofSystem {
		d.sessions[asker.Session] = struct{}{}
	}
}

// tidy forgets processes, sessions and groups that are gone, when there are many.
func (d *Door) tidy() error {
	if len(d.roots) <= maxRoots && len(d.sessions) <= maxRoots && len(d.groups) <= maxRoots {
		return nil
	}
	list, err := proc.All()
	if err != nil {
		return err
	}
	live, sessions, groups := map[process]bool{}, map[int]bool{}, map[int]bool{}
	for _, p := range list {
		live[process{p.PID, p.Started}], sessions[p.Session], groups[p.Group] = true, true, true
	}
	maps.DeleteFunc(d.roots, func(id process, _ struct{}) bool { return !live[id] })
	maps.DeleteFunc(d.sessions, func(id int, _ struct{}) bool { return !sessions[id] })
	maps.DeleteFunc(d.groups, func(id int, _ struct{}) bool { return !groups[id] })
	if len(d.roots) > maxRoots || len(d.sessions) > maxRoots || len(d.groups) > maxRoots {
		return errors.New("too many processes ask at once")
	}
	return nil
}

// MayOperate returns nil when a peer may operate, and else one sentence that
// says why not.
func (d *Door) MayOperate(peer approval.Peer) error {
	f, err := d.facts(peer)
	if err != nil {
		return err
	}
	return d.judge(process{peer.PID, peer.Started}, f)
}

// Ours returns nil when a peer runs one of our programs and no command that we
// ran started it: what it passes on of a gateway is not made up by an agent.
func (d *Door) Ours(peer approval.Peer) error {
	f, err := d.facts(peer)
	if err != nil {
		return err
	}
	return d.ours(process{peer.PID, peer.Started}, f)
}

func (d *Door) facts(peer approval.Peer) (facts, error) {
	if peer.UID != os.Geteuid() {
		return facts{}, errors.New("this process belongs to another user")
	}
	chain, err := ancestry(peer.PID)
	if err != nil {
		return facts{}, fmt.Errorf("it cannot be seen who started this process: %w", err)
	}
	_, marked := proc.Getenv(peer.PID, runMark)
	if d.responsible != nil {
		by, err := d.responsible(peer.PID)
		if err != nil {
			return facts{}, fmt.Errorf("it cannot be seen who is responsible for this process: %w", err)
		}
		marked = marked || by == d.self.pid // also of a daemon that cleared its environment
	}
	return facts{chain, d.programs.run(peer.PID), marked}, nil
}

// facts are what the kernel says about a process at one moment.
type facts struct {
	chain  []proc.Info // the process, its parent, and so on up to the first
	ours   bool        // it runs one of our programs
	marked bool        // it carries the mark of a command that a host started, or we are responsible for it
}

// ours is the first half of the decision, apart from the looking.
func (d *Door) ours(id process, f facts) error {
	if f.chain[0].Started != id.started || f.chain[0].Zombie {
		return errors.New("the process that connected has ended")
	}
	if id == d.self {
		return nil
	}
	if !f.ours {
		return errors.New("this process does not run Countersign's own program")
	}
	if f.marked {
		return errors.New("this process was started by a command that Countersign ran")
	}
	for _, p := range f.chain[1:] {
		if p.PID == d.self.pid {
			return errors.New("this process was started by a command that Countersign ran")
		}
	}
	return nil
}

// judge is the whole decision.
func (d *Door) judge(id process, f facts) error {
	if err := d.ours(id, f); err != nil || id == d.self {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range f.chain {
		_, root := d.roots[process{p.PID, p.Started}]
		_, session := d.sessions[p.Session]
		_, group := d.groups[p.Group]
		if root || session || group {
			return errors.New("this process belongs to a program that asks for permissions: use another terminal")
		}
	}
	return nil
}

// ancestry returns a process and its ancestors up to the first one. Parents
// can end while we look, so it looks twice: what was the same both times was
// true at the moment between.
func ancestry(pid int) ([]proc.Info, error) {
	var first []proc.Info
	var err error
	for range 3 {
		var second []proc.Info
		if first, err = walk(pid); err != nil {
			continue
		}
		if second, err = walk(pid); err == nil && slices.Equal(first, second) {
			return first, nil
		}
	}
	if err == nil {
		err = errors.New("its parents change too fast")
	}
	return nil, err
}

func walk(pid int) ([]proc.Info, error) {
	var chain []proc.Info
	for len(chain) < maxChain {
		p, err := proc.Stat(pid)
		if err != nil {
			return nil, err
		}
		if chain = append(chain, p); p.Parent == 0 {
			return chain, nil
		}
		pid = p.Parent
	}
	return nil, errors.New("it has too many parents")
}

// programs are our own programs.
type programs []program

// program is one of them. The file stays open, so that no other file can get
// the inode of one that was deleted.
type program struct {
	*os.File
	code code
}

func openPrograms(further []string) (programs, error) {
	own, _, err := proc.Exe(os.Getpid())
	if err != nil {
		return nil, fmt.Errorf("cannot find our own program: %w", err)
	}
	var all programs
	for _, path := range append([]string{own}, further...) {
		f, err := os.Open(path)
		if err != nil {
			all.close()
			return nil, fmt.Errorf("cannot open our own program: %w", err)
		}
		all = append(all, program{f, codeIn(f)})
	}
	return all, nil
}

func (ps programs) close() {
	for _, f := range ps {
		f.Close()
	}
}

// run reports whether a process runs one of our programs now.
func (ps programs) run(pid int) bool {
	path, _, err := proc.Exe(pid)
	if err != nil || !filepath.IsAbs(path) {
		return false
	}
	theirs, err := os.Stat(path)
	if err != nil {
		return false
	}
	runs, err := proc.CodeOf(pid)
	return err == nil && slices.ContainsFunc(ps, func(p program) bool {
		ours, err := p.Stat()
		return err == nil && os.SameFile(ours, theirs) && p.code.is(runs)
	})
}
