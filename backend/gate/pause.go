package gate

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/fair"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/rescue"
)

// ErrPaused says that a pause would become shorter.
var ErrPaused = errors.New("it is paused for longer than that already: resume first")

// pause holds back what would start. It is not kept: a new host runs.
type pause struct {
	mu      sync.Mutex
	resumed chan struct{} // closed when it is over; nil while there is none
	until   time.Time     // zero: until resumed
	timer   *time.Timer
	waiting *fair.Places // requests that wait, of families
	by      map[string]int
	// starting are the requests that were let through and run nothing yet. idle
	// is closed when there are none; nil while nobody waits for that. sealed
	// tells that none of them may start any more.
	starting map[*flight]bool
	idle     chan struct{}
	sealed   bool
}

// sealTime is how long a pause waits for what was let through before it: what
// has not started by then is denied.
const sealTime = time.Second

// Pause lets nothing start until then, or until Resume for the zero time. When
// it returns, what was let through before has started, and what runs goes on.
// Requests wait as long as their callers do, and the clocks of questions stand
// still as far as that goes. A pause can be made longer.
func (g *Gate) Pause(until time.Time) error {
	begins, err := g.begins(until)
	if begins {
		g.pause.seal()
	}
	return err
}

func (g *Gate) begins(until time.Time) (begins bool, err error) {
	p := &g.pause
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resumed != nil && !until.IsZero() && (p.until.IsZero() || until.Before(p.until)) {
		return false, ErrPaused
	}
	if begins = p.resumed == nil; begins {
		p.resumed = make(chan struct{})
		g.Pending.HoldAll(true)
	}
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	if p.until = until; !until.IsZero() {
		p.timer = time.AfterFunc(time.Until(until), rescue.Guarded(g.Log, "the end of a pause", func() { g.Paused() }))
	}
	return begins, nil
}

// seal waits until what was let through has started, and lets the rest of it
// start no more.
func (p *pause) seal() {
	p.mu.Lock()
	mine, idle := p.resumed, p.idle
	if idle == nil && len(p.starting) > 0 {
		idle = make(chan struct{})
		p.idle = idle
	}
	p.mu.Unlock()
	if idle != nil {
		late := time.NewTimer(sealTime)
		defer late.Stop()
		select {
		case <-idle:
		case <-late.C:
		}
	}
	p.mu.Lock()
	p.sealed = p.sealed || mine != nil && p.resumed == mine
	p.mu.Unlock()
}

// started takes a request from those that run nothing yet: something of it
// runs, or nothing of it will.
func (p *pause) started(f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.starting, f)
	if len(p.starting) == 0 && p.idle != nil {
		close(p.idle)
		p.idle = nil
	}
}

// tooLate reports whether a request was let through and may start no more.
func (p *pause) tooLate(f *flight) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sealed && p.starting[f]
}

// Resume ends a pause.
func (g *Gate) Resume() {
	g.pause.mu.Lock()
	defer g.pause.mu.Unlock()
	g.resume()
}

func (g *Gate) resume() {
	p := &g.pause
	if p.resumed == nil {
		return
	}
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	close(p.resumed)
	p.resumed, p.sealed = nil, false
	g.Pending.HoldAll(false)
}

// Paused reports whether there is a pause, until when (the zero time for until
// Resume), and how many requests wait for its end beside the questions.
func (g *Gate) Paused() (until time.Time, waiting int, on bool) {
	p := &g.pause
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resumed != nil && !p.until.IsZero() {
		if left := time.Until(p.until.Round(0)); left <= 0 { // by the clock on the wall, though the machine slept
			g.resume()
		} else if p.timer != nil {
			p.timer.Reset(left)
		}
	}
	return p.until, p.waiting.Taken(), p.resumed != nil
}

// unpaused waits for the end of a pause, and reports whether there was one.
// They are as many as questions may be. Who is let through is about to start.
func (f *flight) unpaused(ctx context.Context) (waited bool, d *approval.Denial) {
	f.gate.pause.started(f)
	for {
		over, ok := f.gate.pause.enter(f)
		switch {
		case !ok:
			return true, judge.Deny(approval.ReasonRateLimited, "it is paused, and too many requests of this agent are waiting already")
		case over == nil:
			return waited, nil
		}
		d := f.waitFor(ctx, over)
		f.gate.pause.leave(f)
		if d != nil {
			return true, d
		}
		waited = true
	}
}

func (f *flight) waitFor(ctx context.Context, over <-chan struct{}) *approval.Denial {
	_, latest := f.questionEnds()
	late := time.NewTimer(time.Until(latest))
	defer late.Stop()
	select {
	case <-over:
		return nil
	case <-late.C:
		return judge.Deny(approval.ReasonPromptExpired, pausedAllTheTime)
	case <-ctx.Done():
		return judge.Deny(approval.ReasonApprovalCancelled, "the caller stopped waiting while Countersign was paused")
	}
}

const pausedAllTheTime = "Countersign was paused all the time that the caller waited"

// enter counts one that waits, or one that starts where there is no pause: it
// returns nil then.
func (p *pause) enter(f *flight) (over <-chan struct{}, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resumed == nil {
		if p.starting == nil {
			p.starting = map[*flight]bool{}
		}
		p.starting[f] = true
		return nil, true
	}
	agentID := f.judged.Req.AgentID
	if p.by[agentID] >= pending.PerAgent || !p.waiting.Take(pending.Family(f.judged.Req.Peer, agentID), 0) {
		return nil, false
	}
	p.by[agentID]++
	return p.resumed, true
}

func (p *pause) leave(f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	agentID := f.judged.Req.AgentID
	p.waiting.Leave(pending.Family(f.judged.Req.Peer, agentID))
	if p.by[agentID]--; p.by[agentID] == 0 {
		delete(p.by, agentID)
	}
}
