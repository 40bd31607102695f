package pending

import "errors"

// ErrLocked says that nobody who may answer is in front of the screen.
var ErrLocked = errors.New("the screen is locked or another user is in front: nothing is answered meanwhile")

// Lock lets nobody answer while it is on. Questions wait on, and what the policy
// answers counts.
func (b *Book) Lock(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.locked = on
}
