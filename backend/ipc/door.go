package ipc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/family"
	"github.com/countersign-app/countersign/backend/proc"
)

// runMark is in the environment of every command that a host starts. A program
// can remove it, so having none proves nothing.
const runMark = approval.RunMark

// process names one process for as long as the machine is up.
type process = proc.ID

// Door decides which processes may operate: answer, edit and unlock. The
// operator key alone is not enough, because every program of the user can
// read it. Whatever cannot be seen is refused.
//
// A process passes that runs one of our programs (by device and inode), into
// which nobody looks, that is in the user and pid namespace of this process, that
// was not started by this process or by what it started, and that belongs to no
// family of a process that asked (package family).
type Door struct {
	self     process
	programs programs
	families *family.Book
	// responsible tells which process macOS holds responsible for another one;
	// nil where nobody tells.
	responsible func(pid int) (int, error)
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
	return &Door{self: me.ID(), programs: own, families: family.New(family.System(), me.ID(), os.Geteuid())}, nil
}

// Close lets go of the files of our programs, and of the families.
func (d *Door) Close() {
	d.programs.close()
	d.families.Close()
}

// Remember keeps the family of a process that asks, from now on and also
// when the process has ended, and returns its name, "" for this process. agent is
// what it calls itself. Without it the process must not be allowed to ask.
func (d *Door) Remember(peer approval.Peer, agent string) (name string, err error) {
	id := process{PID: peer.PID, Started: peer.Started}
	root, err := d.families.Take(id, agent)
	if err != nil {
		return "", err
	}
	// Of an app macOS also names who is responsible for it. In a terminal that is
	// the terminal, which is nobody's family.
	if p, err := proc.Stat(peer.PID); err != nil || p.Session != 1 {
		return nameOf(root), nil
	}
	by, err := d.responsibleFor(peer.PID)
	if err != nil {
		return "", err
	}
	if by == (process{}) || by.PID == 1 {
		return nameOf(root), nil
	}
	root, err = d.families.Take(by, agent)
	return nameOf(root), err
}

// Family is the name that Remember returns, for a process that asks for nothing.
// One that cannot be seen is a family of its own.
func (d *Door) Family(peer approval.Peer) string {
	id := process{PID: peer.PID, Started: peer.Started}
	root, err := d.families.Root(id)
	if err != nil {
		return nameOf(id)
	}
	return nameOf(root)
}

func nameOf(root process) string {
	if root == (process{}) {
		return ""
	}
	return fmt.Sprintf("%d/%d", root.PID, root.Started)
}

// MayOperate returns nil when a peer may operate, and else one sentence that
// says why not.
func (d *Door) MayOperate(peer approval.Peer) error {
	f, err := d.facts(peer)
	if err != nil {
		return err
	}
	id := process{PID: peer.PID, Started: peer.Started}
	if err := d.ours(id, f); err != nil || id == d.self {
		return err
	}
	if f.by != (process{}) && f.by != id {
		if err := d.families.Check(f.by); err != nil {
			return err
		}
	}
	return d.families.Check(id)
}

// Ours returns nil when a peer runs one of our programs and no command that we
// ran started it: what it passes on of a gateway is not made up by an agent.
func (d *Door) Ours(peer approval.Peer) error {
	f, err := d.facts(peer)
	if err != nil {
		return err
	}
	return d.ours(process{PID: peer.PID, Started: peer.Started}, f)
}

// Seat tells from which shell of a terminal a peer was started that may operate. An
// error says why it is none.
func (d *Door) Seat(peer approval.Peer) (family.Seat, error) {
	if err := d.MayOperate(peer); err != nil {
		return family.Seat{}, err
	}
	return d.families.Seat(process{PID: peer.PID, Started: peer.Started}, d.programs.run)
}

func (d *Door) facts(peer approval.Peer) (facts, error) {
	if peer.UID != os.Geteuid() {
		return facts{}, errors.New("this process belongs to another user")
	}
	chain, err := d.families.Chain(peer.PID)
	if err != nil {
		return facts{}, fmt.Errorf("it cannot be seen who started this process: %w", err)
	}
	_, marked := proc.Getenv(peer.PID, runMark)
	by, err := d.responsibleFor(peer.PID)
	if err != nil {
		return facts{}, err
	}
	marked = marked || by == d.self // also of a daemon that cleared its environment
	aside, err := proc.AsideOf(peer.PID)
	if err != nil {
		return facts{}, fmt.Errorf("it cannot be seen who looks into this process: %w", err)
	}
	return facts{chain, d.programs.run(peer.PID), marked, by, aside}, nil
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
	return info.ID(), nil
}

// facts are what the kernel says about a process at one moment.
type facts struct {
	chain  []proc.Info // the process, its parent, and so on up to the first
	ours   bool        // it runs one of our programs
	marked bool        // it carries the mark of a command that a host started, or we are responsible for it
	by     process     // whom macOS holds responsible for it
	aside  proc.Aside  // what lets others decide what it does
}

// ours tells by these facts whether a process runs our program and no command of
// ours started it.
func (d *Door) ours(id process, f facts) error {
	if f.chain[0].ID() != id || f.chain[0].Zombie {
		return errors.New("the process that connected has ended")
	}
	if id == d.self {
		return nil
	}
	if !f.ours {
		return errors.New("this process does not run Countersign's own program")
	}
	if err := alone(f.aside); err != nil {
		return err
	}
	if f.marked {
		return errors.New("this process was started by a command that Countersign ran")
	}
	for _, p := range f.chain[1:] {
		if p.PID == d.self.PID {
			return errors.New("this process was started by a command that Countersign ran")
		}
	}
	return nil
}

// alone returns nil when nobody else decides what a process of our program does.
func alone(a proc.Aside) error {
	switch {
	case a.Namespace:
		return errors.New("this process is in another user or pid namespace than Countersign: use a terminal outside of it")
	case a.Traced:
		return errors.New("another program looks into this process, such as a debugger: run it without")
	}
	return nil
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
