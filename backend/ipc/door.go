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
// The session of launchd is no family: on macOS all that it starts is in it,
// from Dock apps to node services, and every terminal comes from there. Of a
// process in it the ancestors below launchd count, their process groups, one of
// which launchd gives to each job, and whom macOS holds responsible for it.
type Door struct {
	self     process
	programs programs
	// responsible tells which process macOS holds responsible for another one;
	// nil where nobody tells.
	responsible func(pid int) (int, error)

	mu       sync.Mutex
	roots    map[process]struct{}
	sessions map[int]struct{}
	// groups are those in launchd's session, each with the start of its leader,
	// or 0 if that had ended: the number may go to another group later.
	groups map[int]uint64
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
		roots: map[process]struct{}{}, sessions: map[int]struct{}{}, groups: map[int]uint64{},
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
	f := family{chain: chain}
	if launchdStartsAll && inSystemSession(chain) {
		if f.by, err = d.responsibleFor(peer.PID); err != nil {
			return err
		}
		f.leaders = map[int]uint64{}
		for _, p := range chain {
			if leader, err := proc.Stat(p.Group); err == nil {
				f.leaders[p.Group] = leader.Started
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remember(f)
	return d.tidy()
}

// family is what is known of a process that asks.
type family struct {
	chain []proc.Info // it, its parent, and so on up to the first process
	// leaders are the starts of the leaders of their groups, and by is whom macOS
	// holds responsible. Both are set for a process in launchd's session alone.
	leaders map[int]uint64
	by      process
}

// inSystemSession reports whether a process is in the session of the first one.
func inSystemSession(chain []proc.Info) bool {
	return chain[0].Session == chain[len(chain)-1].Session
}

// remember keeps a family. The caller holds the lock.
func (d *Door) remember(f family) {
	asker, first := f.chain[0], f.chain[len(f.chain)-1]
	for _, p := range f.chain {
		if p.Session != asker.Session || f.leaders != nil && p.PID == first.PID && p.PID != asker.PID {
			break
		}
		d.roots[process{p.PID, p.Started}] = struct{}{}
		if f.leaders != nil && p.Group != first.Group {
			d.groups[p.Group] = f.leaders[p.Group]
		}
	}
	switch {
	case f.leaders == nil:
		d.sessions[asker.Session] = struct{}{}
	case f.by != (process{}) && f.by.pid != first.PID:
		d.roots[f.by] = struct{}{}
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
	maps.DeleteFunc(d.groups, func(id int, _ uint64) bool { return !groups[id] })
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
	by, err := d.responsibleFor(peer.PID)
	if err != nil {
		return facts{}, err
	}
	marked = marked || by == d.self // also of a daemon that cleared its environment
	return facts{chain, d.programs.run(peer.PID), marked, by}, nil
}

// responsibleFor is whom macOS holds responsible for a process, the zero value
// where nobody tells, or where that one has ended.
func (d *Door) responsibleFor(pid int) (process, error) {
	if d.responsible == nil {
		return process{}, nil
	}
	by, err := d.responsible(pid)
	if err != nil {
		return process{}, fmt.Errorf("it cannot be seen who is responsible for this process: %w", err)
	}
	info, err := proc.Stat(by)
	if errors.Is(err, proc.ErrGone) {
		return process{}, nil
	}
	if err != nil {
		return process{}, fmt.Errorf("it cannot be seen who is responsible for this process: %w", err)
	}
	return process{by, info.Started}, nil
}

// facts are what the kernel says about a process at one moment.
type facts struct {
	chain  []proc.Info // the process, its parent, and so on up to the first
	ours   bool        // it runs one of our programs
	marked bool        // it carries the mark of a command that a host started, or we are responsible for it
	by     process     // whom macOS holds responsible for it
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
	_, asks := d.roots[f.by]
	for _, p := range f.chain {
		_, root := d.roots[process{p.PID, p.Started}]
		_, session := d.sessions[p.Session]
		leader, group := d.groups[p.Group]
		if group && p.PID == p.Group {
			group = p.Started == leader // else the number is another group's by now
		}
		if asks || root || session || group {
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
