package pending

import (
	"errors"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// ErrWaits says that the agent asks again already.
var ErrWaits = errors.New("the agent waits for the answer again: answer the question")

// Find returns a question and the key that it was asked with.
func (b *Book) Find(id string) (p approval.Prompt, key string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.find(id)
	if q == nil {
		return p, "", false
	}
	return q.prompt, q.key, true
}

// Settled takes the question with this key out, unless somebody waits for it: what
// its last caller asked for was decided without an answer, so there is none to give.
func (b *Book) Settled(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.questions, func(q *question) bool { return q.key == key })
	if i >= 0 && len(b.questions[i].waiters) == 0 {
		b.remove(b.questions[i])
	}
}

// Keep takes a question out that nobody waits for any more, to which a person
// says yes once all the same. It must be the one that they saw. keep is told of
// it before anybody can ask the same again, and must not call back.
func (b *Book) Keep(id string, shown Shown, keep func(p approval.Prompt, key string)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	q, err := b.answerable(id, shown, approval.Answer{Decision: approval.AllowOnce})
	switch {
	case err != nil:
		return err
	case len(q.waiters) > 0:
		return ErrWaits
	}
	keep(q.prompt, q.key)
	b.remove(q)
	return nil
}
