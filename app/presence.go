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
	since time.Time // when they did last; zero after the screen was locked
}

func newPresence() *presence {
	p := &presence{now: time.Now}
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
	if p.within(time.Duration(k.GraceMinutes) * time.Minute) {
		return nil
	}
	if err := p.ask(reason(list), !k.TouchIDOnly); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = p.now()
	return nil
}

func (p *presence) within(grace time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	ago := p.now().Sub(p.since)
	return !p.since.IsZero() && 0 <= ago && ago < grace
}

// forget has them do it again next time.
func (p *presence) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = time.Time{}
}

// reason completes "Countersign is trying to".
func reason(list []approval.Prompt) string {
	if len(list) == 1 {
		return fmt.Sprintf("allow “%s”", shown.Excerpt(list[0].Plan.Text))
	}
	return fmt.Sprintf("allow %d commands", len(list))
}
