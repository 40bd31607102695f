package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/countersign-app/countersign/app/mac"
	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
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

// confirm asks for a yes to these questions, unless the person did it as short
// ago as they chose.
func (p *presence) confirm(list []approval.Prompt, k shown.Kept) error {
	if p.ask == nil {
		return host.ErrNoPresence
	}
	p.sheet.Lock()
	defer p.sheet.Unlock()
	if p.within(list, time.Duration(k.GraceMinutes)*time.Minute) {
		return nil
	}
	if err := p.ask(reason(list), !k.TouchIDOnly); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range list {
		p.since[one.AgentID] = p.now()
	}
	return nil
}

// within reports whether they did it for all these agents as short ago as that.
func (p *presence) within(list []approval.Prompt, grace time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range list {
		since, did := p.since[one.AgentID]
		if ago := p.now().Sub(since); !did || ago < 0 || ago >= grace {
			return false
		}
	}
	return len(list) > 0
}

// forget has them do it again next time.
func (p *presence) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.since)
}

// wallClock goes on while the computer sleeps, which Go's own does not.
func wallClock() time.Time { return time.Now().Round(0) }

// reason completes "Countersign is trying to".
func reason(list []approval.Prompt) string {
	if len(list) == 1 {
		return fmt.Sprintf("allow “%s”", shown.Excerpt(list[0].Plan.Text))
	}
	return fmt.Sprintf("allow %d commands", len(list))
}
