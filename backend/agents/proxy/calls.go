package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
)

// Bounds of what is open at once: requests of the client, those of them that are
// judged, and the bytes of these.
const (
	maxOpen         = 10_000
	maxJudged       = 1_000
	maxJudgedInSize = 64 << 20
)

var (
	errSameID   = errors.New("a request with this id is still open")
	errManyOpen = errors.New("too many requests are open")
)

// state says how far a request of the client is.
type state int

const (
	judged    state = iota // the server does not know of it
	passed                 // the server has it
	cancelled              // the server has it, and the client does not want it any more
)

// call is an open request of the client.
type call struct {
	key    string
	id     json.RawMessage
	method string
	size   int
	state  state
	// ctx ends when the request need not be judged any more.
	ctx    context.Context
	cancel context.CancelFunc
}

// calls are the open requests of the client. It may be used by many at once.
type calls struct {
	mu     sync.Mutex
	open   map[string]*call
	judged int
	size   int // of those that are judged
}

func newCalls() *calls { return &calls{open: map[string]*call{}} }

// begin notes a request. An id that is still open is refused, unless its request
// was cancelled: the server need not answer that one.
func (l *calls) begin(ctx context.Context, m Message, s state) (*call, error) {
	key, err := keyOf(m.ID)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.open[key]; c != nil && c.state != cancelled {
		return nil, errSameID
	}
	if !l.room(m, s) {
		return nil, errManyOpen
	}
	c := &call{key: key, id: m.ID, method: m.Method, size: len(m.Raw), state: s, ctx: ctx, cancel: func() {}}
	if s == judged {
		c.ctx, c.cancel = context.WithCancel(ctx)
		l.judged++
		l.size += c.size
	}
	l.open[key] = c
	return c, nil
}

// room reports whether one more request may be open. Those that were cancelled
// and never answered are forgotten first.
func (l *calls) room(m Message, s state) bool {
	if len(l.open) >= maxOpen {
		for key, c := range l.open {
			if c.state == cancelled {
				delete(l.open, key)
			}
		}
	}
	return len(l.open) < maxOpen && (s != judged || l.judged < maxJudged && l.size+len(m.Raw) <= maxJudgedInSize)
}

// pass tells whether a request that was judged may go to the server now, and
// notes that it does: not if it was cancelled meanwhile.
func (l *calls) pass(c *call) bool { return l.leave(c, true) }

// drop forgets a request that was judged and does not go to the server. It
// reports whether the client waits for an answer.
func (l *calls) drop(c *call) bool { return l.leave(c, false) }

// leave ends the judging of a request, and reports whether it is still open.
func (l *calls) leave(c *call, on bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer c.cancel()
	if l.open[c.key] != c || c.state != judged {
		return false
	}
	l.settled(c)
	if c.state = passed; !on {
		delete(l.open, c.key)
	}
	return true
}

func (l *calls) settled(c *call) {
	l.judged--
	l.size -= c.size
}

// revoke notes that the client does not want a request any more. It reports
// whether the server has to be told.
func (l *calls) revoke(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.open[key]
	if c == nil {
		return false
	}
	if c.state == judged {
		l.settled(c)
		c.cancel()
		delete(l.open, key)
		return false
	}
	c.state = cancelled
	return true
}

// answered takes out the request that an answer of the server is for, nil for
// none.
func (l *calls) answered(key string) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.open[key]
	if c == nil || c.state == judged {
		return nil
	}
	delete(l.open, key)
	return c
}

// all takes out every request.
func (l *calls) all() (list []*call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.open {
		list = append(list, c)
	}
	clear(l.open)
	l.judged, l.size = 0, 0
	return list
}
