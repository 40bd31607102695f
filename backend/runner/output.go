//go:build linux || darwin

package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// What is kept of the output.
const (
	keepHead  = 200_000 // bytes of both streams together
	keepTail  = 20_000  // characters
	truncated = "\n… (truncated)"
)

const (
	chunk     = 64 << 10 // what one pipe holds
	smallHead = 16 << 10 // beyond this the whole head is allocated at once
	tailBytes = keepTail * utf8.UTFMax
)

// chunks are buffers for reading, shared by all runs.
var chunks = sync.Pool{New: func() any { return new([chunk]byte) }}

// span is a piece of the head: so many bytes of one stream.
type span struct{ stream, n int }

// collector reads the two pipes of a run for as long as anybody can write to
// them. It never stops reading, so that no program waits for us.
//
// A goroutine reads each pipe when there is something to read: neither holds
// a thread, which matters when many run at once.
type collector struct {
	write   [2]int // our own ends, until hangUp
	read    [2]*os.File
	reading sync.WaitGroup
	open    atomic.Int32 // pipes that are not read to their end

	broken func()

	mu    sync.Mutex
	head  []byte // the first keepHead bytes in order of arrival
	spans []span
	rest  []byte // at least the last tailBytes after the head
	lost  [2]bool
	size  int64
	sum   hash.Hash
}

// newCollector begins to read. lost is called where a mistake of ours loses some of
// the output: the run must not end as if that was all.
func newCollector(lost func()) (*collector, error) {
	c := &collector{sum: sha256.New(), broken: lost}
	for i := range c.read {
		p, err := pipe()
		if err != nil {
			for j := range i {
				c.read[j].Close()
				unix.Close(c.write[j])
			}
			return nil, err
		}
		widen(p[0])
		c.read[i], c.write[i] = waiting(p[0]), p[1]
	}
	c.open.Store(2)
	for i := range c.read {
		c.reading.Go(func() { c.collect(i) })
	}
	return c, nil
}

// hangUp closes our own ends: nothing more will be started that writes.
func (c *collector) hangUp() {
	if c.write[0] >= 0 {
		closeAll(c.write[:]...)
		c.write = [2]int{-1, -1}
	}
}

// finish waits for the rest of the output. A process that got hold of a pipe
// and cannot be found keeps us no longer than bound.
func (c *collector) finish(bound time.Duration) {
	c.hangUp()
	if c.open.Load() > 0 { // it rarely is: the programs are gone
		for _, f := range c.read {
			_ = f.SetReadDeadline(time.Now().Add(bound))
		}
	}
	c.reading.Wait()
	for _, f := range c.read {
		f.Close()
	}
}

func (c *collector) collect(stream int) {
	defer c.open.Add(-1)
	defer rescue.Catch(nil, "the output of a program", func() {
		c.broken()
		_, _ = io.Copy(io.Discard, c.read[stream]) // who writes to it must not hang
	})
	buf := chunks.Get().(*[chunk]byte)
	defer chunks.Put(buf)
	for {
		n, err := c.read[stream].Read(buf[:])
		if n > 0 {
			c.add(stream, buf[:n])
		}
		if err != nil {
			return
		}
	}
}

func (c *collector) add(stream int, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size += int64(len(b))
	c.sum.Write(b)
	if room := keepHead - len(c.head); room > 0 {
		n := min(room, len(b))
		if len(c.head)+n > smallHead {
			c.head = slices.Grow(c.head, room)
		}
		c.head = append(c.head, b[:n]...)
		if last := len(c.spans) - 1; last >= 0 && c.spans[last].stream == stream {
			c.spans[last].n += n
		} else {
			c.spans = append(c.spans, span{stream, n})
		}
		b = b[n:]
	}
	if len(b) == 0 {
		return
	}
	c.lost[stream] = true
	c.rest = append(c.rest, b...)
	if len(c.rest) > 2*tailBytes {
		c.rest = append(c.rest[:0], c.rest[len(c.rest)-tailBytes:]...)
	}
}

// result fills in what was collected, and a line of ours behind the errors. Call it after
// finish.
func (c *collector) result(r *approval.Result, line string) {
	r.Stdout, r.Stderr = c.streams()
	if line != "" && len(r.Stderr) > 0 && r.Stderr[len(r.Stderr)-1] != '\n' {
		line = "\n" + line
	}
	r.Stderr = append(r.Stderr, line...)
	r.Truncated = c.lost[0] || c.lost[1]
	if r.Truncated && len(r.Stderr) > 0 {
		r.Stderr = append(r.Stderr, truncated...)
	} else if r.Truncated {
		r.Stdout = append(r.Stdout, truncated...)
	}
	r.Tail = c.tail()
	r.OutputSize, r.OutputHash = c.size, hex.EncodeToString(c.sum.Sum(nil))
}

// streams takes the head apart again.
func (c *collector) streams() (stdout, stderr []byte) {
	var out [2][]byte
	if len(c.spans) == 1 { // most commands write to one stream only
		out[c.spans[0].stream] = slices.Clip(c.head)
	} else {
		at := 0
		for _, s := range c.spans {
			out[s.stream] = append(out[s.stream], c.head[at:at+s.n]...)
			at += s.n
		}
	}
	for i := range out {
		if c.lost[i] {
			out[i] = wholeRunes(out[i])
		}
	}
	return out[0], out[1]
}

// tail returns the last keepTail characters in order of arrival.
func (c *collector) tail() []byte {
	b := c.head[max(0, len(c.head)-tailBytes):]
	if len(c.rest) > 0 {
		b = slices.Concat(b, c.rest)
	}
	b = b[max(0, len(b)-tailBytes):]
	at := len(b)
	for n := 0; at > 0 && n < keepTail; {
		if at--; utf8.RuneStart(b[at]) {
			n++
		}
	}
	return slices.Clone(b[at:])
}

// wholeRunes cuts off a last character that is not complete.
func wholeRunes(b []byte) []byte {
	for back := 1; back < utf8.UTFMax && back <= len(b); back++ {
		if at := len(b) - back; utf8.RuneStart(b[at]) {
			if !utf8.FullRune(b[at:]) {
				return b[:at]
			}
			break
		}
	}
	return b
}

func closeAll(fds ...int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
