package mac

import "sync"

// listener hears what a person does outside the window.
var listener struct {
	mu       sync.Mutex
	reviewed func(name string)
	summoned func()
}

// Listen has reviewed called with the name of a notification that a person
// pressed, and summoned when they press the shortcut. Each call has its own
// goroutine.
func Listen(reviewed func(name string), summoned func()) {
	listener.mu.Lock()
	defer listener.mu.Unlock()
	listener.reviewed, listener.summoned = reviewed, summoned
}

func hearReviewed(name string) {
	listener.mu.Lock()
	defer listener.mu.Unlock()
	if listener.reviewed != nil {
		go listener.reviewed(name)
	}
}

func hearSummoned() {
	listener.mu.Lock()
	defer listener.mu.Unlock()
	if listener.summoned != nil {
		go listener.summoned()
	}
}
