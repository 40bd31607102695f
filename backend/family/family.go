// Package family remembers which processes ask for permissions, with their
// ancestors up to where a terminal or the system begins and with all that is
// born of them, and tells whether a process belongs to one of these families.
//
// It may look at processes and nothing else. It only refuses: who belongs to no
// family is not proven to be a person. What must never happen here: a process
// asks and is not remembered, or a person's terminal is counted as the agent's
// that runs in it.
package family

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/proc"
)

const (
	// maxFamilies and maxMembers bound what is remembered. Only the ended are
	// forgotten.
	maxFamilies = 1024
	maxMembers  = 4096
	// maxChain bounds a walk to the first process of the machine.
	maxChain = 1000
	// growing is how long after a request a family is looked at each second.
	growing = time.Minute
)

// Look tells about processes: the kernel, or a test.
type Look struct {
	Stat    func(pid int) (proc.Info, error)
	All     func() ([]proc.Info, error)
	Program func(proc.Info) (Program, error)
	// Path is Program's, for those that nobody needs to know more of.
	Path func(pid int) (string, error)
	// Forks tells of births and ends as they happen, from its return until stop,
	// and with lost that some were missed. It is nil where the system does not.
	Forks func(Births) (stop func(), err error)
}

// Births is told what happens to processes.
type Births interface {
	Born(parent, child int)
	Ended(pid int)
	Lost()
}

// Asker is a family as it is shown.
type Asker struct {
	// Agent is what the last request called itself, which is a claim, and Name
	// the program that asked, by the first of its words.
	Agent string `json:"agent,omitempty"`
	Name  string `json:"name"`
	PID   int    `json:"pid"`
	// In is the program below which the family begins, such as a terminal.
	In    string    `json:"in,omitempty"`
	Asked time.Time `json:"asked"`
	// Members are the living ones, sorted.
	Members []int `json:"members"`
}

// Member is the refusal of a process.
type Member struct {
	Asker
	// Of is the process that belongs to the family: the one that was asked about
	// or an ancestor of it.
	Of     int
	OfName string
}

func (m *Member) Error() string {
	as := ""
	if m.Agent != "" {
		as = " as agent " + name(m.Agent)
	}
	return fmt.Sprintf("%s (process %d) belongs to %[3]s, which asked Countersign%s at %s: use a terminal that %[3]s did not start",
		name(m.OfName), m.Of, name(m.Name), as, m.Asked.Format("15:04:05"))
}

// Book remembers families. Its methods may be called by many at once.
type Book struct {
	look Look
	self proc.ID
	uid  int
	now  func() time.Time

	mu       sync.Mutex
	families map[proc.ID]*family // by their topmost process
	last     time.Time           // when somebody asked
	timer    *time.Timer
	stop     func() // of Look.Forks, nil while nobody tells
	closed   bool
}

type family struct {
	Asker
	// root is the topmost process of this family, or of the one that it left.
	root proc.ID
	// members are processes with their starts, 0 for one that ended before it
	// could be looked at, until its end is told.
	members map[int]uint64
	// groups and sessions are those that members lead or led, with the starts of
	// these leaders.
	groups, sessions map[int]uint64
	// full tells that members were born that are not known. It stays until the
	// host ends.
	full bool
}

// New makes a book for a host: its own process is in no family.
func New(look Look, self proc.ID, uid int) *Book {
	return &Book{look: look, self: self, uid: uid, now: time.Now, families: map[proc.ID]*family{}}
}

// Close ends the looking.
func (b *Book) Close() {
	b.mu.Lock()
	b.closed = true
	if b.timer != nil {
		b.timer.Stop()
	}
	stop := b.stop
	b.stop = nil
	b.mu.Unlock()
	if stop != nil {
		stop() // it may wait for Born
	}
}

// Take remembers the family of a process that asks, and returns its root: the
// process of which all came that belong together with it, as far as was seen, and
// the zero value for our own. Where it fails the process must not ask.
func (b *Book) Take(asker proc.ID, agent string) (root proc.ID, err error) {
	if asker == b.self {
		return proc.ID{}, nil
	}
	chain, err := b.chainOf(asker)
	if err != nil {
		return proc.ID{}, err
	}
	if root, known := b.known(chain, agent); known {
		return root, nil
	}
	f := &family{members: map[int]uint64{}, groups: map[int]uint64{}, sessions: map[int]uint64{}}
	top, above := b.take(chain)
	for _, p := range chain[:top+1] {
		f.members[p.PID] = p.Started
	}
	f.Agent, f.Asked = agent, b.now()
	f.PID, f.Name = b.who(chain[:top+1])
	if above != nil {
		if program, err := b.look.Program(*above); err == nil {
			f.In = program.name()
		}
	}
	for _, p := range chain[:top+1] {
		f.lead(p)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return proc.ID{}, errors.New("it is closing")
	}
	kept, err := b.keep(chain[:top+1], f)
	if err != nil {
		return proc.ID{}, err
	}
	b.watch()
	return kept.root, nil
}

// Root is what Take returns of a process that asks for nothing.
func (b *Book) Root(id proc.ID) (proc.ID, error) {
	if id == b.self {
		return proc.ID{}, nil
	}
	chain, err := b.chainOf(id)
	if err != nil {
		return proc.ID{}, err
	}
	top, _ := b.take(chain)
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rootOf(chain[:top+1]), nil
}

// known notes another request of a family, if all of the chain up to its topmost
// process belongs to it already.
func (b *Book) known(chain []proc.Info, agent string) (root proc.ID, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, p := range chain {
		f := b.families[p.ID()]
		if f == nil || b.closed || slices.ContainsFunc(chain[:i], func(p proc.Info) bool { return f.members[p.PID] != p.Started }) {
			continue
		}
		f.Asked = b.now()
		if agent != "" {
			f.Agent = agent
		}
		b.watch()
		return f.root, true
	}
	return proc.ID{}, false
}

// watch looks at the families from now on for a while. The caller holds the lock.
func (b *Book) watch() {
	b.last = b.now()
	if b.stop == nil && b.look.Forks != nil {
		// Where nobody tells of births, looking each second has to do.
		if stop, err := b.look.Forks(b); err == nil {
			b.stop = stop
		}
	}
	if b.timer == nil {
		b.timer = time.AfterFunc(time.Second, b.again)
	}
}

// lead adds the group and the session that a member leads. Those that it is only
// in can be a person's too.
func (f *family) lead(p proc.Info) {
	if p.Group == p.PID {
		f.groups[p.PID] = p.Started
	}
	if p.Session == p.PID {
		f.sessions[p.PID] = p.Started
	}
}

// take tells up to which process of a chain the family goes, and what is above
// it, nil where the chain ends.
func (b *Book) take(chain []proc.Info) (top int, above *proc.Info) {
	terminal := 0 // the session with a terminal that was entered, 0 before
	for i, p := range chain {
		switch {
		case i == 0 && p.Terminal == 0: // who asks is always taken
			continue
		case i == 0:
			terminal = p.Session
			continue
		}
		if p.PID == b.self.PID || p.PID == 1 || p.Parent == 0 || p.UID != b.uid || terminal != 0 && p.Session != terminal || b.boundary(p) {
			return i - 1, &chain[i]
		}
		if p.Terminal != 0 {
			terminal = p.Session
		}
	}
	return len(chain) - 1, nil
}

// boundary reports whether a family begins below this process: a shell that a
// person types into, or a part of the system that starts what people start. What
// cannot be seen is none.
func (b *Book) boundary(p proc.Info) bool {
	path, err := b.look.Path(p.PID)
	if err != nil || !starters[filepath.Base(path)] && (p.Terminal == 0 || p.Group != p.PID) {
		return false
	}
	program, err := b.look.Program(p)
	return err == nil && (program.interactive(p) || program.starts())
}

// who is the process that asks for its own sake: the first that is neither of
// our programs nor a shell.
func (b *Book) who(chain []proc.Info) (pid int, name string) {
	for i, p := range chain {
		program, err := b.look.Program(p)
		if err == nil && (i == len(chain)-1 || !program.Ours && !program.Shell) {
			return p.PID, program.name()
		}
	}
	return chain[0].PID, ""
}

// keep adds the family of a chain, or its members to the one that has its topmost
// process, and returns which one that is. The caller holds the lock.
func (b *Book) keep(chain []proc.Info, f *family) (*family, error) {
	top := chain[len(chain)-1].ID()
	old := b.families[top]
	if old == nil {
		// It may have left another family, or there may be too many.
		if len(b.families) > 0 {
			if err := b.grow(); err != nil {
				return nil, err
			}
		}
		if f.root = b.rootOf(chain); len(b.families) >= maxFamilies || b.of(f.root) > 0 && b.of(f.root) >= maxFamilies-len(b.families) {
			return nil, errors.New("too many programs ask at once")
		}
		b.families[top] = f
		return f, nil
	}
	old.Asked, old.PID, old.Name = f.Asked, f.PID, f.Name
	if f.Agent != "" {
		old.Agent = f.Agent
	}
	maps.Copy(old.members, f.members)
	maps.Copy(old.groups, f.groups)
	maps.Copy(old.sessions, f.sessions)
	old.full = old.full || len(old.members) > maxMembers
	return old, nil
}

// of is how many families have a root.
func (b *Book) of(root proc.ID) (n int) {
	for _, f := range b.families {
		if f.root == root {
			n++
		}
	}
	return n
}

// Check returns nil for a process that belongs to no family, and a *Member for
// one that does. What cannot be seen is refused, but for what is above a process
// of another user: who got there can leave every family.
func (b *Book) Check(id proc.ID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.families) > 0 {
		if err := b.grow(); err != nil {
			return err
		}
	}
	chain, err := b.Chain(id.PID)
	if err != nil {
		return fmt.Errorf("it cannot be seen who started this process: %w", err)
	}
	if chain[0].ID() != id {
		return errors.New("this process has ended")
	}
	for _, f := range b.families {
		for _, p := range chain {
			if !f.has(p) {
				continue
			}
			program, _ := b.look.Program(p)
			return &Member{f.Asker, p.PID, program.name()}
		}
		if f.full && b.lost(chain) {
			return errors.New("too many processes belong to programs that ask, and who started this one cannot be seen: use a terminal of a log-in over ssh or of the console, or start the host anew")
		}
	}
	return nil
}

// List returns the families, the last that asked first.
func (b *Book) List() []Asker {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := []Asker{}
	for _, f := range b.families {
		a := f.Asker
		a.Members = slices.Sorted(maps.Keys(f.members))
		list = append(list, a)
	}
	slices.SortFunc(list, func(x, y Asker) int { return y.Asked.Compare(x.Asked) })
	return list
}
