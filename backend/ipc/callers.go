package ipc

import (
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

const (
	// maxFailures in failureSpan shut one process out for failureSpan.
	maxFailures = 10
	failureSpan = time.Minute
	// keepIdle is how long a process is remembered after its last connection
	// closed, and maxIdle how many of them at most.
	keepIdle = time.Minute
	maxIdle  = 1024
)

// caller is what is remembered about one process at the other end.
type caller struct {
	id        process
	ancestors []int
	conns     map[*conn]struct{}
	// due is when the bucket is full again, in real time: pacing waits for
	// real, so no other clock fits.
	due time.Time
	// failures are the last failed authentications, oldest first.
	failures []time.Time
	shut     time.Time
	idle     time.Time
}

// callers is the table of processes that have or had a connection.
type callers struct {
	mu    sync.Mutex
	known map[process]*caller
	now   func() time.Time
	rate  int // frames a second for each process
}

// find returns what is remembered about a process.
func (t *callers) find(id process) (*caller, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, ok := t.known[id]
	return k, ok
}

// enter adds a connection of a process. It reports false while the process
// is shut out, and when it has as many as it may have.
func (t *callers) enter(c *conn, peer approval.Peer, most int) (*caller, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := process{PID: peer.PID, Started: peer.Started}
	k := t.known[id]
	if k == nil {
		k = &caller{id: id, ancestors: peer.Ancestors, conns: map[*conn]struct{}{}}
		t.known[id] = k
	}
	if t.now().Before(k.shut) || len(k.conns) >= most {
		return nil, false
	}
	k.conns[c] = struct{}{}
	return k, true
}

// idlest is the connection that goes first where there are too many: of the
// process that has most of those on which nothing waits the one that was left
// alone longest. It is nil where something waits on all.
func (t *callers) idlest() (goes *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	most := 0
	for _, k := range t.known {
		var oldest *conn
		var since time.Time
		n := 0
		for c := range k.conns {
			at, idle := c.idleSince()
			if !idle {
				continue
			}
			if n++; oldest == nil || at.Before(since) {
				oldest, since = c, at
			}
		}
		if n > most {
			most, goes = n, oldest
		}
	}
	return goes
}

// leave removes a connection, and what nobody needs to know any more.
func (t *callers) leave(c *conn, k *caller) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(k.conns, c)
	if len(k.conns) > 0 {
		return
	}
	k.idle = t.now()
	if len(t.known) > maxIdle {
		t.sweep(func(k *caller) bool { return t.now().Sub(k.idle) > keepIdle && !t.now().Before(k.shut) })
	}
	// Still too many: somebody starts processes faster than we forget them.
	if len(t.known) > 2*maxIdle {
		t.sweep(func(*caller) bool { return true })
	}
}

func (t *callers) sweep(over func(*caller) bool) {
	for id, k := range t.known {
		if len(k.conns) == 0 && over(k) {
			delete(t.known, id)
		}
	}
}

// pace takes one frame from the bucket of a process, which holds one second's
// worth, and returns how long to wait before the frame is looked at.
func (t *callers) pace(k *caller) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if k.due.Before(now) {
		k.due = now
	}
	k.due = k.due.Add(time.Second / time.Duration(t.rate))
	return k.due.Sub(now) - time.Second
}

// failed counts a failed authentication. When it was one too many it shuts
// the process out and returns all its connections, to be closed.
func (t *callers) failed(k *caller) []*conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for len(k.failures) > 0 && now.Sub(k.failures[0]) >= failureSpan {
		k.failures = k.failures[1:]
	}
	if k.failures = append(k.failures, now); len(k.failures) < maxFailures {
		return nil
	}
	k.failures, k.shut = nil, now.Add(failureSpan)
	var all []*conn
	for c := range k.conns {
		all = append(all, c)
	}
	return all
}
