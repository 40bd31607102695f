package main

import (
	"sync"
	"time"

	"github.com/countersign-app/countersign/app/mac"
	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/host"
)

// presence has the person show that it is them, once for a while.
type presence struct {
	ask   func(reason string, password bool) error // nil where nobody can be asked
	now   func() time.Time
	sheet sync.Mutex // there is one at a time

	mu    sync.Mutex
	since map[string]time.Time // by agent: when they did last, since the screen was locked
}

func newPresence() *presence {
	p := &presence{now: wallClock, since: map[string]time.Time{}}
	if mac.CanConfirm {
		p.ask = mac.Confirm
	}
	return p
}

// confirm asks for what is said of these agents, unless the person did it for
// them as short ago as they chose.
func (p *presence) confirm(what string, agents []string, k shown.Kept) error {
	if p.ask == nil {
		return host.ErrNoPresence
	}
	p.sheet.Lock()
	defer p.sheet.Unlock()
	if p.within(agents, time.Duration(k.GraceMinutes)*time.Minute) {
		return nil
	}
	if err := p.ask(what, !k.TouchIDOnly); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range agents {
		p.since[id] = p.now()
	}
	return nil
}

// within reports whether they did it for all these agents as short ago as that.
func (p *presence) within(agents []string, grace time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range agents {
		since, did := p.since[id]
		if ago := p.now().Sub(since); !did || ago < 0 || ago >= grace {
			return false
		}
	}
	return len(agents) > 0
}

// forget has them do it again next time.
func (p *presence) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.since)
}

// wallClock goes on while the computer sleeps, which Go's own does not.
func wallClock() time.Time { return time.Now().Round(0) }

// weaker reports whether other preferences ask for less of the person.
func weaker(now, next shown.Preferences) bool {
	return next.GraceMinutes > now.GraceMinutes || now.TouchIDOnly && !next.TouchIDOnly || next.AnswerFromTerminal && !now.AnswerFromTerminal
}
