package proxy

import (
	"bufio"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/rescue"
)

// Bounds of what the client has not read.
const (
	maxUnread       = 10_000 // messages
	maxUnreadInSize = 64 << 20
)

// lastWords is how long a client may take for what it has not read when all is
// over.
const lastWords = time.Second

var errUnread = errors.New("more messages than a client can read")

// outbox writes messages to the client, one line each, in the order in which
// they were put.
type outbox struct {
	failed  chan struct{} // closed when the client cannot be written to
	written chan struct{} // closed when the writer has ended

	mu     sync.Mutex
	some   *sync.Cond
	queue  [][]byte
	size   int
	ending bool
}

func newOutbox(w io.Writer) *outbox {
	o := &outbox{failed: make(chan struct{}), written: make(chan struct{})}
	o.some = sync.NewCond(&o.mu)
	go o.write(bufio.NewWriterSize(w, 64<<10))
	return o
}

// put queues a message. errUnread says that there is no room: the client reads
// slower than it is sent to.
func (o *outbox) put(line []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ending {
		return nil
	}
	if len(o.queue) >= maxUnread || o.size+len(line) > maxUnreadInSize {
		return errUnread
	}
	o.queue = append(o.queue, line)
	o.size += len(line)
	o.some.Signal()
	return nil
}

func (o *outbox) write(w *bufio.Writer) {
	defer close(o.written)
	defer rescue.Catch(nil, "what a client is sent", o.fail)
	for {
		lines, ending := o.take()
		for _, line := range lines {
			w.Write(line) // its error stays until Flush
			w.WriteByte('\n')
		}
		if err := w.Flush(); err != nil {
			o.fail()
			return
		}
		if ending {
			return
		}
	}
}

// fail has nobody wait for the client any more.
func (o *outbox) fail() {
	close(o.failed)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ending, o.queue = true, nil
}

// take waits for messages, and tells whether no more will come.
func (o *outbox) take() (lines [][]byte, ending bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) == 0 && !o.ending {
		o.some.Wait()
	}
	lines, o.queue, o.size = o.queue, nil, 0
	return lines, o.ending
}

// close writes what is left, as far as the client takes it soon.
func (o *outbox) close() {
	o.mu.Lock()
	o.ending = true
	o.some.Signal()
	o.mu.Unlock()
	select {
	case <-o.written:
	case <-time.After(lastWords):
	}
}
