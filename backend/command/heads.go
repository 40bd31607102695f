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
	if err != nil || !file.Lasting(time.Now()) {
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
