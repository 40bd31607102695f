package command

import (
	"context"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// Measured analyses a request and tells how many steps that took.
func (a *Analyzer) Measured(req *approval.Request, folder approval.Folder) (plan approval.Plan, steps int) {
	j := a.analyze(context.Background(), req, folder)
	return j.plan, j.work
}

// MaxWork bounds these steps, but for those that the names of files cost
// which patterns stand for.
const MaxWork = maxWork

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

// Archived returns the names in an archive or a patch.
func Archived(data []byte) []string {
	names, _ := archived(data)
	_, _ = patched(data)
	return names
}
