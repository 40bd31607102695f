package command

import (
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// heads remembers what programs begin with, for as long as they are the same
// files with the same content.
type heads struct {
	mu   sync.Mutex
	have map[approval.File][]byte
}

// maxHeads bounds what is remembered.
const maxHeads = 4096

// settled is how long ago a file must have changed: the kernel's clock is too
// coarse to tell two changes apart that follow each other.
const settled = time.Second

// lasting reports whether what a file holds may be remembered under what was
// seen of it: a later change would show.
func lasting(file approval.File) bool {
	return file.Changed != 0 && time.Since(time.Unix(0, file.Changed)) >= settled
}

// head returns what a program begins with.
func (j *job) head(file approval.File) ([]byte, error) {
	h := &j.heads
	h.mu.Lock()
	text, ok := h.have[file]
	h.mu.Unlock()
	if ok {
		return text, nil
	}
	text, err := j.World.Head(file, headSize)
	if err != nil || !lasting(file) {
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
