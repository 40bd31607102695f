package machine

import "time"

// Waiting has nobody wait longer for a sum.
func (h *Hashes) Waiting(limit time.Duration) { h.wait = limit }

// Asking has another program asked than the system's own, for at most this
// long.
func (s *Signers) Asking(program string, limit time.Duration) { s.program, s.limit = program, limit }

// Crowd takes all the places for large files, as if they were read for ever.
func (h *Hashes) Crowd() {
	h.mu.Lock()
	h.prepare()
	h.mu.Unlock()
	for range maxLarge {
		h.large <- struct{}{}
	}
}
