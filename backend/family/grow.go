package family

import (
	"maps"
	"time"

	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/rescue"
)

// again looks at the families once a second for as long as somebody asked a
// short time ago.
func (b *Book) again() {
	defer rescue.Catch(nil, "the families of processes", b.later)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.grow() // an error leaves all as it is; who operates looks again
	if b.now().Sub(b.last) < growing {
		b.timer.Reset(time.Second)
		return
	}
	b.timer = nil
	if len(b.families) == 0 && b.stop != nil {
		go rescue.Guarded(nil, "the end of births", b.stop)() // it waits for Born, which waits for us
		b.stop = nil
	}
}

// later looks once more, though looking failed.
func (b *Book) later() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer != nil && !b.closed {
		b.timer.Reset(time.Second)
	}
}

// grow forgets the ended, and adds what lives below members and in their groups
// and sessions: it stays when its parents end. The caller holds the lock.
func (b *Book) grow() error {
	list, err := b.look.All()
	if err != nil {
		return err
	}
	live := make(map[int]proc.Info, len(list))
	children := map[int][]proc.Info{}
	groups, sessions := map[int][]proc.Info{}, map[int][]proc.Info{}
	for _, p := range list {
		live[p.PID] = p
		if p.PID == b.self.PID {
			continue // what we start is known as ours
		}
		children[p.Parent] = append(children[p.Parent], p)
		groups[p.Group] = append(groups[p.Group], p)
		sessions[p.Session] = append(sessions[p.Session], p)
	}
	for top, f := range b.families {
		f.forget(live, groups, sessions)
		f.join(children, groups, sessions)
		if len(f.members) == 0 && !f.full {
			delete(b.families, top)
		}
	}
	return nil
}

// forget drops members that have ended, and groups and sessions that have gone.
func (f *family) forget(live map[int]proc.Info, groups, sessions map[int][]proc.Info) {
	for pid, start := range f.members {
		p, lives := live[pid]
		switch {
		case !lives || start != 0 && p.Started != start:
			delete(f.members, pid)
		default:
			f.members[pid] = p.Started
			f.lead(p) // it can have begun a group or a session since
		}
	}
	gone := func(of map[int][]proc.Info) func(int, uint64) bool {
		return func(number int, start uint64) bool {
			leader, lives := live[number]
			return len(of[number]) == 0 || lives && leader.Started != start
		}
	}
	maps.DeleteFunc(f.groups, gone(groups))
	maps.DeleteFunc(f.sessions, gone(sessions))
}

// join adds whom members have started and who is in their groups and sessions.
func (f *family) join(children, groups, sessions map[int][]proc.Info) {
	var queue []proc.Info
	add := func(list []proc.Info) {
		for _, p := range list {
			if _, known := f.members[p.PID]; known {
				continue
			}
			if len(f.members) >= maxMembers {
				f.full = true
				return
			}
			f.members[p.PID] = p.Started
			f.lead(p)
			queue = append(queue, p)
		}
	}
	for pid := range maps.Clone(f.members) {
		add(children[pid])
	}
	for number := range maps.Clone(f.groups) {
		add(groups[number])
	}
	for number := range maps.Clone(f.sessions) {
		add(sessions[number])
	}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		add(children[p.PID])
		if p.Group == p.PID {
			add(groups[p.PID])
		}
		if p.Session == p.PID {
			add(sessions[p.PID])
		}
	}
}

// Born adds the child of a member at once.
func (b *Book) Born(parent, child int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.families {
		if _, member := f.members[parent]; !member || child == b.self.PID {
			continue
		}
		if len(f.members) >= maxMembers {
			b.grow() // most have ended, as a rule
		}
		if len(f.members) >= maxMembers {
			f.full = true
			continue
		}
		f.members[child] = 0
		if p, err := b.look.Stat(child); err == nil {
			f.members[child] = p.Started
			f.lead(p)
		}
	}
}

// Ended drops a member that is gone. One that can be looked at stays until it is
// not: its first thread can end alone.
func (b *Book) Ended(pid int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.families {
		start, member := f.members[pid]
		if !member {
			continue
		}
		p, err := b.look.Stat(pid)
		switch {
		case err != nil || start != 0 && p.Started != start:
			delete(f.members, pid)
		default:
			f.members[pid] = p.Started
			f.lead(p)
		}
	}
}

// Lost looks at all processes, as some were born unseen.
func (b *Book) Lost() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.grow()
}
