package ipc

import (
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// soon is how long a command may take of which no progress is told: most are
// over by then.
const soon = 20 * time.Millisecond

// progress tells a caller how far its exec is, in order, and nothing once the
// answer is there.
type progress struct {
	c  *conn
	id string

	mu    sync.Mutex
	early []approval.EventKind // not told yet
	timer *time.Timer
	late  bool // soon is over
	over  bool
}

func (p *progress) tell(state approval.EventKind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.early = append(p.early, state)
	switch {
	case p.over:
	case p.late:
		p.send()
	case p.timer == nil:
		p.timer = time.AfterFunc(soon, p.flush)
	}
}

func (p *progress) flush() {
	defer rescue.Catch(p.c.s.log, "what a caller is told meanwhile", p.c.kill)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late = true
	if !p.over {
		p.send()
	}
}

func (p *progress) send() {
	for _, state := range p.early {
		p.c.send(progressReply{lineProgress, p.id, state})
	}
	p.early = nil
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	if p.timer != nil {
		p.timer.Stop()
	}
}
