package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/rescue"
)

// place is the box of a session, while it is made and after that.
type place struct {
	spec string
	once sync.Once
	box  box
	err  error
	work int       // commands that use it
	used time.Time // when the last of them began or ended
	// fresh tells that no command ended in it but those that were cancelled.
	fresh bool
}

// enter returns the box of a session. One that was made for other options is
// ended first: what was taken away from it must hold at once.
func (s *Sandbox) enter(ctx context.Context, c config.Sandbox, session string) (*place, error) {
	spec := fmt.Sprintf("%+v", c)
	s.mu.Lock()
	p := s.boxes[session]
	var old *place
	if p != nil && p.spec != spec {
		old, p = p, nil
	}
	switch {
	case s.over:
		s.mu.Unlock()
		return nil, errors.New("the gateway stops")
	case p == nil && old == nil && len(s.boxes) >= maxBoxes:
		s.mu.Unlock()
		return nil, fmt.Errorf("%d sessions have a sandbox: end some of them", maxBoxes)
	case p == nil:
		p = &place{spec: spec, fresh: true}
		s.boxes[session] = p
	case p.work >= maxWork:
		s.mu.Unlock()
		return nil, fmt.Errorf("%d commands run in the sandbox of this session: wait for some of them", maxWork)
	}
	p.work, p.used = p.work+1, time.Now()
	s.mu.Unlock()
	if old != nil {
		old.end()
	}
	p.once.Do(func() { p.box, p.err = s.open(context.WithoutCancel(ctx), c, session) })
	if p.err != nil {
		s.forget(session, p) // the next command tries again
		return nil, p.err
	}
	return p, nil
}

// leave notes that a command is over. The box of one that was cancelled goes if
// nobody else is in it: its session may have ended while it was made. One that
// ended by itself goes too, so that the next command gets another.
func (s *Sandbox) leave(session string, p *place, cancelled bool) {
	s.mu.Lock()
	p.work, p.used = p.work-1, time.Now()
	gone := p.box.ended() || cancelled && p.work == 0 && p.fresh
	p.fresh = p.fresh && cancelled
	if gone && s.boxes[session] == p {
		delete(s.boxes, session)
	}
	s.mu.Unlock()
	if gone {
		p.end()
	}
}

// Forget ends the boxes in which nothing happened since then.
func (s *Sandbox) Forget(since time.Time) {
	var list []*place
	s.mu.Lock()
	for session, p := range s.boxes {
		if p.work == 0 && p.used.Before(since) {
			list = append(list, p)
			delete(s.boxes, session)
		}
	}
	s.mu.Unlock()
	for _, p := range list {
		p.end()
	}
	s.removeLeft()
}

func (s *Sandbox) forget(session string, p *place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.boxes[session] == p {
		delete(s.boxes, session)
	}
}

// end ends a box that is made, or makes sure that it never is.
func (p *place) end() {
	p.once.Do(func() { p.err = errEnded })
	if p.box != nil {
		p.box.end()
	}
}

// open makes a box.
func (s *Sandbox) open(ctx context.Context, c config.Sandbox, session string) (b box, err error) {
	defer rescue.Catch(s.opt.Log, "the making of a sandbox", func() { b, err = nil, errFailed })
	if c.Engine == config.Bubblewrap {
		return openBubblewrap(c)
	}
	return s.openDocker(ctx, c, session)
}

// End ends the box of a session and whatever runs in it.
func (s *Sandbox) End(session string) {
	s.mu.Lock()
	p := s.boxes[session]
	delete(s.boxes, session)
	s.mu.Unlock()
	if p != nil {
		p.end()
	}
}
