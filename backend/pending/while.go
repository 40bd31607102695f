package pending

import "context"

// While returns what ends when nobody waits for a question any more; it has ended
// where there is no such question.
func (b *Book) While(id string) context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.find(id); q != nil && len(q.waiters) > 0 {
		return q.waited
	}
	over, end := context.WithCancel(context.Background())
	end()
	return over
}
