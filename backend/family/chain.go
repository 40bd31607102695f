package family

import (
	"errors"
	"slices"

	"github.com/countersign-app/countersign/backend/proc"
)

// rootOf is the root of the families that one of these processes belongs to, else
// the last of them. A family that left another one, because its parents ended, has
// the root of that one. The caller holds the lock.
func (b *Book) rootOf(chain []proc.Info) proc.ID {
	for _, f := range b.families {
		if f.root != (proc.ID{}) && slices.ContainsFunc(chain, f.has) {
			return f.root
		}
	}
	return chain[len(chain)-1].ID()
}

func (b *Book) chainOf(id proc.ID) ([]proc.Info, error) {
	chain, err := b.Chain(id.PID)
	if err == nil && chain[0].ID() != id {
		err = errors.New("the process that asks has ended")
	}
	return chain, err
}

// has reports whether a process is a member, or in a group or session of one.
func (f *family) has(p proc.Info) bool {
	start, member := f.members[p.PID]
	group, inGroup := f.groups[p.Group]
	session, inSession := f.sessions[p.Session]
	// A number can go to another process, which then leads another group.
	return member && (start == p.Started || start == 0) ||
		inGroup && (p.PID != p.Group || p.Started == group) ||
		inSession && (p.PID != p.Session || p.Started == session)
}

// lost reports whether it cannot be told where a process came from: nothing of
// another user is between it and the first process.
func (b *Book) lost(chain []proc.Info) bool {
	return !slices.ContainsFunc(chain, func(p proc.Info) bool { return p.UID != b.uid && p.PID != 1 })
}

// Chain returns a process and its ancestors up to the first one. Parents can end
// while we look, so it looks twice: what was the same both times was true at the
// moment between.
func (b *Book) Chain(pid int) ([]proc.Info, error) {
	var first []proc.Info
	var err error
	for range 3 {
		var second []proc.Info
		if first, err = b.walk(pid); err != nil {
			continue
		}
		if second, err = b.walk(pid); err == nil && slices.EqualFunc(first, second, sameProcess) {
			return first, nil
		}
	}
	if err == nil {
		err = errors.New("its parents change too fast")
	}
	return nil, err
}

// sameProcess leaves out what a shell changes with each command: who is in front.
func sameProcess(a, b proc.Info) bool {
	a.Foreground, b.Foreground = 0, 0
	return a == b
}

func (b *Book) walk(pid int) ([]proc.Info, error) {
	var chain []proc.Info
	for len(chain) < maxChain {
		p, err := b.look.Stat(pid)
		if err != nil {
			if n := len(chain); n > 0 && chain[n-1].UID != b.uid {
				return chain, nil
			}
			return nil, err
		}
		if chain = append(chain, p); p.Parent == 0 || p.Parent == p.PID {
			return chain, nil
		}
		pid = p.Parent
	}
	return nil, errors.New("it has too many parents")
}
