package pending

import (
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// Own returns the question that a process waits for with the request that it
// gave this ticket.
func (b *Book) Own(peer approval.Peer, ticket string) (p approval.Prompt, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q, _ := b.own(peer, ticket); q != nil {
		return q.prompt, true
	}
	return p, false
}

func (b *Book) own(peer approval.Peer, ticket string) (*question, *waiter) {
	mine := func(w *waiter) bool {
		return ticket != "" && w.ticket == ticket && w.peer.PID == peer.PID && w.peer.Started == peer.Started
	}
	for _, q := range b.questions {
		if i := slices.IndexFunc(q.waiters, mine); i >= 0 {
			return q, q.waiters[i]
		}
	}
	return nil, nil
}

// AnswerOwn gives an answer to one request alone, by its ticket: others that
// share its question wait on. Its errors are those of Answer.
func (b *Book) AnswerOwn(peer approval.Peer, ticket, id, digest string, a approval.Answer) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	q, w := b.own(peer, ticket)
	if q == nil || q.prompt.ID != id {
		return ErrUnknown
	}
	if _, err := b.answerable(id, Shown{Digest: digest}, a); err != nil {
		return err
	}
	if len(q.waiters) == 1 {
		return b.give(q, a)
	}
	w.timer.Stop()
	w.answer <- a
	q.waiters = slices.DeleteFunc(q.waiters, func(other *waiter) bool { return other == w })
	q.prompt.Count = len(q.waiters)
	b.bump()
	return nil
}
