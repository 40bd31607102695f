//go:build linux || darwin

package main

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/countersign-app/countersign/backend/rescue"
)

// minedWindow panics at what it is told while it is armed.
type minedWindow struct {
	*testWindow
	armed atomic.Bool
}

func (w *minedWindow) Tell(event string, data ...any) {
	if w.armed.Load() {
		panic("secret")
	}
	w.testWindow.Tell(event, data...)
}

// TestPanics: where telling of a question panics, the app lives, nothing stays locked,
// and the question is told of a little later.
func TestPanics(t *testing.T) {
	a := newTestApp(t, askMe)
	w := &minedWindow{testWindow: &testWindow{}}
	w.armed.Store(true)
	a.app.mu.Lock()
	a.app.window = w
	a.app.mu.Unlock()
	before := rescue.Caught()
	ctx, cancel := context.WithCancel(t.Context())
	answers := a.agent(ctx, "main", "touch", "x")
	a.eventually("it was counted", func() bool { return rescue.Caught() > before })
	w.armed.Store(false)
	a.eventually("the page is told", func() bool { return w.told(eventScreen) })
	a.question()
	cancel()
	a.answer(answers)
}
