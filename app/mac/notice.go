package mac

import (
	"sync"

	"github.com/countersign-app/countersign/backend/rescue"
)

// listener hears what a person does outside the window.
var listener struct {
	mu sync.Mutex
	Listener
}

// Listener is what follows when a person does something outside the window.
// Each call has its own goroutine; what is nil is not called.
type Listener struct {
	// Reviewed gets the name of a notification that they pressed.
	Reviewed func(name string)
	// Summoned is for the shortcut.
	Summoned func()
	// Reopened is for who opens the app while it runs.
	Reopened func()
	// Quit is for when the system ends the app, as at log-out.
	Quit func()
}

// Listen has the functions of l called from now on.
func Listen(l Listener) {
	listener.mu.Lock()
	defer listener.mu.Unlock()
	listener.Listener = l
}

// heard is who listens now.
func heard() Listener {
	listener.mu.Lock()
	defer listener.mu.Unlock()
	return listener.Listener
}

func hearReviewed(name string) {
	if do := heard().Reviewed; do != nil {
		go rescue.Guarded(nil, "a notification", func() { do(name) })()
	}
}

func hearSummoned() { start(heard().Summoned) }
func hearReopened() { start(heard().Reopened) }
func hearQuit()     { start(heard().Quit) }

func start(do func()) {
	if do != nil {
		go rescue.Guarded(nil, "what the system tells", do)()
	}
}
