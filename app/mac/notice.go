package mac

import "sync"

// listener hears what a person does outside the window.
var listener struct {
	mu       sync.Mutex
	reviewed func(name string)
	summoned func()
	quit     func()
}

// Listen has reviewed called with the name of a notification that a person
// pressed, summoned when they press the shortcut, and quit when the system ends
// the app, as at log-out. Each call has its own goroutine.
func Listen(reviewed func(name string), summoned, quit func()) {
	listener.mu.Lock()
	defer listener.mu.Unlock()
	listener.reviewed, listener.summoned, listener.quit = reviewed, summoned, quit
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

func hearQuit() {
	listener.mu.Lock()
	defer listener.mu.Unlock()
	if listener.quit != nil {
		go listener.quit()
	}
}
