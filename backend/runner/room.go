//go:build linux || darwin

package runner

import (
	"sync"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
)

// need is what a run takes of what there is once for all runs of a host.
type need struct {
	files  int // descriptors
	places int // programs at once; a thread of ours waits for each of them
	bytes  int // memory: output that is kept, words and values
}

func (n need) plus(m need) need {
	return need{n.files + m.files, n.places + m.places, n.bytes + m.bytes}
}

func (n need) minus(m need) need {
	return need{n.files - m.files, n.places - m.places, n.bytes - m.bytes}
}

func (n need) half() need { return need{n.files / 2, n.places / 2, n.bytes / 2} }

func (n need) most() need { return n.minus(need{n.files / 4, n.places / 4, n.bytes / 4}) }

func (n need) fits(in need) bool {
	return n.files <= in.files && n.places <= in.places && n.bytes <= in.bytes
}

// room hands out what all runs take together. An agent gets at most half of
// what the others leave, and all agents of a family three quarters of what other
// families leave: neither one with many requests nor one with many names takes
// the last of it, however many it sends.
type room struct {
	mu     sync.Mutex
	whole  need
	taken  need
	by     map[string]need // by agent
	family map[string]need
}

func newRoom(whole need) room {
	return room{whole: whole, by: map[string]need{}, family: map[string]need{}}
}

// take reports false, and takes nothing, where an agent or its family has enough
// already.
func (r *room) take(agent, family string, n need) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	mine, ours := r.by[agent].plus(n), r.family[family].plus(n)
	left := func(has need) need { return r.whole.minus(r.taken.minus(has)) } // by the others
	if !mine.fits(left(r.by[agent]).half()) || !ours.fits(left(r.family[family]).most()) {
		return false
	}
	r.by[agent], r.family[family], r.taken = mine, ours, r.taken.plus(n)
	return true
}

func (r *room) give(agent, family string, n need) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken = r.taken.minus(n)
	reduce(r.by, agent, n)
	reduce(r.family, family, n)
}

func reduce(by map[string]need, who string, n need) {
	if left := by[who].minus(n); left != (need{}) {
		by[who] = left
	} else {
		delete(by, who)
	}
}

const (
	// maxPlaces is far below the 10 000 threads at which Go ends a process.
	maxPlaces = 1_024
	maxBytes  = 512 << 20

	// runFiles are the two pipes of the output, the folder that the run begins
	// in, and one that a cd leads to.
	runFiles = 6
	// runBytes are what the output takes, and the first words.
	runBytes = 1 << 20
)

// wholeRoom is the room of this process with so many descriptors for all runs.
func wholeRoom(files int) need {
	whole := need{files: files, places: maxPlaces, bytes: maxBytes}
	var limit unix.Rlimit
	// Processes and threads count alike, and the user has others.
	if unix.Getrlimit(unix.RLIMIT_NPROC, &limit) == nil {
		whole.places = int(min(limit.Cur/4, maxPlaces))
	}
	return whole
}

// enter takes what the run needs for certain, before anything is opened or
// started. A run that cannot have it is denied.
func (u *run) enter() error {
	n := need{runFiles, 1, runBytes}
	if u.job.Mode == ModePlan {
		m, err := check(u.job.Plan)
		if err != nil {
			return err
		}
		u.size = m
		n.files, n.places = n.files+m.files, max(1, m.atOnce)
	}
	if most := u.room.whole.half(); n.files > most.files { // waiting would not help
		return denied(approval.ReasonTooComplex, "this needs %d descriptors of pipes, files and folders at once, and one agent may have %d of this host", n.files, most.files)
	}
	if !u.take(n) {
		return crowded()
	}
	u.paid.Store(runBytes)
	return nil
}

// take takes room that is given back when the run is over.
func (u *run) take(n need) bool {
	if !u.room.take(u.job.Agent, u.job.family(), n) {
		return false
	}
	u.mu.Lock()
	u.has = u.has.plus(n)
	u.mu.Unlock()
	return true
}

func crowded() *Denied {
	return denied(approval.ReasonRateLimited, "the commands that run of this agent, and of the programs that belong to it, already take all that these may have of this host")
}
