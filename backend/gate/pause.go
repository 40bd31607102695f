package gate

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
)

// ErrPaused says that a pause would become shorter.
var ErrPaused = errors.New("it is paused for longer than that already: resume first")

// pause holds back what would start. It is not kept: a new host runs.
type pause struct {
	mu      sync.Mutex
	resumed chan struct{} // closed when it is over; nil while there is none
	until   time.Time     // zero: until resumed
	timer   *time.Timer
	total   int // requests that wait
	by      map[string]int
}

// Pause lets nothing start until then, or until Resume for the zero time. What
// runs goes on, and so does what was let through before. Requests wait as long
// as their callers do, and the clocks of questions stand still as far as that
// goes. A pause can be made longer.
func (g *Gate) Pause(until time.Time) error {
	p := &g.pause
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resumed != nil && !until.IsZero() && (p.until.IsZero() || until.Before(p.until)) {
		return ErrPaused
	}
	if p.resumed == nil {
		p.resumed = make(chan struct{})
		g.Pending.HoldAll(true)
	}
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	if p.until = until; !until.IsZero() {
		p.timer = time.AfterFunc(time.Until(until), func() { g.Paused() })
	}
	return nil
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
	p.resumed = nil
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
	return p.until, p.total, p.resumed != nil
}

// unpaused waits for the end of a pause, and reports whether there was one.
// They are as many as questions may be.
func (f *flight) unpaused(ctx context.Context) (waited bool, d *approval.Denial) {
	for {
		over, ok := f.pause.enter(f.req.AgentID)
		switch {
		case !ok:
			return true, deny(approval.ReasonRateLimited, "it is paused, and too many requests of this agent are waiting already")
		case over == nil:
			return waited, nil
		}
		d := f.waitFor(ctx, over)
		f.pause.leave(f.req.AgentID)
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
		return deny(approval.ReasonPromptExpired, pausedAllTheTime)
	case <-ctx.Done():
		return deny(approval.ReasonApprovalCancelled, "the caller stopped waiting while Countersign was paused")
	}
}

const pausedAllTheTime = "Countersign was paused all the time that the caller waited"

// enter counts one that waits. It returns nil where there is no pause.
func (p *pause) enter(agentID string) (over <-chan struct{}, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resumed == nil {
		return nil, true
	}
	if p.by[agentID] >= pending.PerAgent || p.total >= pending.Total {
		return nil, false
	}
	if p.by == nil {
		p.by = map[string]int{}
	}
	p.by[agentID]++
	p.total++
	return p.resumed, true
}

func (p *pause) leave(agentID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total--
	if p.by[agentID]--; p.by[agentID] == 0 {
		delete(p.by, agentID)
	}
}
