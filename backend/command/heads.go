package command

import (
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// headSize is how much of a program is read to see whether it is a script.
const headSize = 256

// heads remembers what programs begin with, for as long as they are the same
// files with the same content.
type heads struct {
	mu   sync.Mutex
	have map[approval.File][]byte
}

// Limits of what is remembered.
const (
	maxHeads = 4096
	// settled is how long ago a file must have changed: the kernel's clock is
	// too coarse to tell two changes apart that follow each other.
	settled = time.Second
)

// head returns what a program begins with.
func (j *job) head(file approval.File) ([]byte, error) {
	h := &j.heads
	h.mu.Lock()
	text, ok := h.have[file]
	h.mu.Unlock()
	if ok {
		return text, nil
	}
	text, err := j.World.Head(file.Path, headSize)
	if err != nil || file.Changed == 0 || time.Since(time.Unix(0, file.Changed)) < settled {
		return text, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.have == nil || len(h.have) >= maxHeads {
		h.have = map[approval.File][]byte{}
	}
	h.have[file] = text
	return text, nil
}
