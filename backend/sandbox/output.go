package sandbox

import (
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/rescue"
)

// What is kept of an output, which is as much as the runner keeps.
const (
	keep      = 200_000 // bytes of both streams together
	truncated = "\n… (truncated)"
)

// output keeps the beginning of two streams, and takes the rest too, so that
// no program waits for us.
type output struct {
	mu   sync.Mutex
	text [2][]byte
	lost bool
	// broken tells that a mistake of ours lost some of it.
	broken bool
}

func (o *output) add(stream int, b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	room := max(0, keep-len(o.text[0])-len(o.text[1]))
	if len(b) > room {
		b, o.lost = b[:room], true
	}
	o.text[stream] = append(o.text[stream], b...)
}

// stream is one of the two, as a writer.
func (o *output) stream(n int) stream { return stream{o, n} }

type stream struct {
	*output
	n int
}

func (s stream) Write(b []byte) (n int, err error) {
	defer rescue.Catch(nil, "the output of a command in a sandbox", func() {
		n, err = 0, errFailed
		s.mu.Lock()
		defer s.mu.Unlock()
		s.broken = true
	})
	s.add(s.n, b)
	return len(b), nil
}

// whole reports whether a mistake of ours lost nothing of it.
func (o *output) whole() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.broken
}

// texts are the streams. What is no text is marked as such.
func (o *output) texts() (stdout, stderr string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	stdout, stderr = strings.ToValidUTF8(string(o.text[0]), "\uFFFD"), strings.ToValidUTF8(string(o.text[1]), "\uFFFD")
	switch {
	case o.lost && stderr != "":
		stderr += truncated
	case o.lost:
		stdout += truncated
	}
	return stdout, stderr
}
