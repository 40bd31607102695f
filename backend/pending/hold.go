package pending

import (
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// waiter is one request that waits for the answer to its question.
type waiter struct {
	answer chan approval.Answer // buffered for the one answer it gets
	// ends is when it stops waiting, and latest as late as that can be.
	ends, latest time.Time
	left         time.Duration // until its end, when its clock was stopped
	held         bool
	timer        *time.Timer
	// ticket and peer tell whose it is (Own).
	ticket string
	peer   approval.Peer
}

func newWaiter(p approval.Prompt, deadline time.Time) *waiter {
	in := time.Until(deadline) // from here on by a clock that nobody sets
	w := &waiter{answer: make(chan approval.Answer, 1), ends: time.Now().Add(in), ticket: p.Ticket, peer: p.Peer}
	w.latest = w.ends
	if more := time.UnixMilli(p.Latest).Sub(deadline); p.Latest != 0 && more > 0 {
		w.latest = w.ends.Add(more)
	}
	return w
}

// hold stops the clock of a waiter as far as its caller waits, or lets it run
// on with what was left.
func (w *waiter) hold(on bool) {
	if w.held == on {
		return
	}
	w.held = on
	if on {
		w.left, w.ends = time.Until(w.ends), w.latest
	} else if ends := time.Now().Add(w.left); ends.Before(w.latest) {
		w.ends = ends
	}
	w.timer.Reset(time.Until(w.ends))
}

// hold stops the clock of a question, or lets it run on.
func (q *question) hold(on bool) {
	q.prompt.Held = on && q.prompt.Latest != 0
	var last time.Time
	for _, w := range q.waiters {
		if w.hold(q.prompt.Held); w.ends.After(last) {
			last = w.ends
		}
	}
	q.prompt.Expires = last.UnixMilli()
}

// Hold stops the clock of a question as far as its callers wait, which is told
// by its Latest, or lets it run on with the time that was left. To do either
// twice is no error. ErrUnknown says that nobody waits any more, ErrNoHold that
// its callers give up by themselves.
func (b *Book) Hold(id string, on bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.find(id)
	switch {
	case q == nil || len(q.waiters) == 0:
		return ErrUnknown
	case on && q.prompt.Latest == 0:
		return ErrNoHold
	case q.held == on:
		return nil
	}
	q.held = on
	q.hold(on || b.paused)
	b.bump()
	return nil
}

// HoldAll stops the clocks of all questions, those that come later included,
// or lets those run on that nobody stopped by Hold.
func (b *Book) HoldAll(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.paused = on
	for _, q := range b.questions {
		if len(q.waiters) > 0 {
			q.hold(q.held || on)
		}
	}
	b.bump()
}

// expire ends the wait of one whose time is over.
func (b *Book) expire(q *question, w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if left := time.Until(w.ends); left > 0 { // its clock was stopped meanwhile
		w.timer.Reset(left)
		return
	}
	if len(w.answer) == 0 && q.has(w) {
		w.answer <- nobody(approval.ReasonPromptExpired, "nobody answered in time")
		b.without(q, w, approval.ReasonPromptExpired)
	}
}

func (q *question) has(w *waiter) bool {
	for _, one := range q.waiters {
		if one == w {
			return true
		}
	}
	return false
}
