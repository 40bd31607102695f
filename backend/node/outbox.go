package node

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"

	"github.com/countersign-app/countersign/backend/link"
)

// outbox holds what a gateway's sessions are told, until the gateway took it.
// Nothing waits for it.
type outbox struct {
	log *slog.Logger

	mu    sync.Mutex
	list  []event
	bytes int           // of all of them
	last  uint64        // number of the newest
	full  bool          // the oldest are dropped, which was said
	fresh chan struct{} // holds one value when there may be something to send
}

type event struct {
	number  uint64
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload"`
}

// maxWaiting is how many events wait for a gateway that is away, and maxBytes
// what they take together. The oldest ones go first.
const (
	maxWaiting = 10_000
	maxBytes   = 64 << 20
)

func newOutbox(log *slog.Logger) *outbox {
	return &outbox{log: log, fresh: make(chan struct{}, 1)}
}

func (o *outbox) put(name string, payload any) {
	text, err := json.Marshal(payload)
	if err != nil {
		o.log.Error("an event cannot be written", "event", name, "error", err)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last++
	o.list, o.bytes = append(o.list, event{o.last, name, text}), o.bytes+len(text)
	if len(o.list) > maxWaiting || o.bytes > maxBytes {
		if !o.full {
			o.log.Warn("the oldest events are dropped: the gateway is away for too long")
		}
		o.full = true
		o.shift()
	}
	o.wake()
}

// shift removes the oldest event.
func (o *outbox) shift() {
	o.bytes -= len(o.list[0].Payload)
	o.list = o.list[1:]
}

// wake has drain look.
func (o *outbox) wake() {
	select {
	case o.fresh <- struct{}{}:
	default:
	}
}

// drain sends what waits, in order, until ctx is done or the connection ends.
// What the gateway did not take stays for the next one.
func (o *outbox) drain(ctx context.Context, conn *link.Conn) {
	o.wake()
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.fresh:
		}
		for e, any := o.first(); any; e, any = o.first() {
			err := conn.Call(ctx, "node.event", e, nil)
			var refused *link.Error
			if err != nil && !errors.As(err, &refused) {
				return
			}
			if refused != nil {
				o.log.Warn("the gateway refused an event", "event", e.Event, "error", refused)
			}
			o.drop(e.number)
		}
	}
}

func (o *outbox) first() (event, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.list) == 0 {
		return event{}, false
	}
	return o.list[0], true
}

// drop removes an event that was taken, if it is still there.
func (o *outbox) drop(number uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.list) > 0 && o.list[0].number == number {
		o.shift()
		o.full = false
	}
}
