package opencode

import (
	"context"
	"slices"
	"sync"

	"github.com/countersign-app/countersign/backend/rescue"
)

// asks are the requests that are being decided. Each is over once, for whoever
// answers it first, and is not put again after that.
type asks struct {
	mu   sync.Mutex
	open map[string]*ask
	done []string // answered, oldest first
	dirs []string // folders that requests came from
	left bool     // something was left over
	busy sync.WaitGroup
}

// ask is one request that is being decided.
type ask struct {
	cancel context.CancelFunc // ends the deciding
	over   bool               // it was answered, by us or by others
	again  bool               // it is to be decided again
}

func newAsks() *asks { return &asks{open: map[string]*ask{}} }

// begin does something that wait waits for.
func (a *asks) begin(do func()) {
	a.busy.Go(rescue.Guarded(nil, "what is done for opencode", do))
}

// wait waits until nothing is decided any more.
func (a *asks) wait() { a.busy.Wait() }

// put has a request decided, in time: not twice, and not while too many are.
func (a *asks) put(ctx context.Context, r request, decide func(ctx, own context.Context)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.directory != "" && !slices.Contains(a.dirs, r.directory) && len(a.dirs) < maxDirs {
		a.dirs = append(a.dirs, r.directory)
	}
	if a.open[r.id] != nil || slices.Contains(a.done, r.id) || ctx.Err() != nil {
		return
	}
	if len(a.open) >= maxAsked {
		a.left = true
		return
	}
	own, cancel := context.WithCancel(ctx)
	a.open[r.id] = &ask{cancel: cancel}
	a.begin(func() {
		defer cancel()
		decide(ctx, own)
		a.close(ctx, r.id)
	})
}

// close takes a request out. What was not answered while the server was there
// stays as it is: it is put again only after that was said, or when the server
// is back.
func (a *asks) close(ctx context.Context, id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.open[id]
	delete(a.open, id)
	switch {
	case one.again:
		a.left = true
	case one.over || ctx.Err() == nil:
		a.done = append(a.done, id)
		a.done = a.done[max(0, len(a.done)-maxDone):]
	}
}

// answered has a request be over for its answer, and reports false where it was
// over before.
func (a *asks) answered(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.open[id]
	if one == nil || one.over {
		return false
	}
	one.over = true
	return true
}

// withdraw ends what is being decided, because somebody else answered. The
// server tells of our own answers too: those are over already.
func (a *asks) withdraw(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one := a.open[id]; one != nil && !one.over {
		one.over = true
		one.cancel()
	}
}

// again has a request be put again that was not decided, or whose answer did not
// arrive.
func (a *asks) again(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one := a.open[id]; one != nil {
		one.again = true
	}
}

// leftOver reports whether something was left over since it was called last.
func (a *asks) leftOver() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	left := a.left
	a.left = false
	return left
}

func (a *asks) folders() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.dirs)
}
