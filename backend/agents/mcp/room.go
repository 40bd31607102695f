package mcp

import (
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign-app/countersign/backend/rescue"
)

// opened notes that a session began, and seen that its client said something.
// An id that a client made up is not kept.
func (s *server) opened(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != "" {
		s.used[id] = time.Now()
	}
}

func (s *server) seen(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.used[id]; known {
		s.used[id] = time.Now()
	}
}

// makeRoom ends the session of a client that waits for nothing: one that never
// called a tool before one that did, then the one that said nothing for longest.
// It reports false where all have calls or commands that go on. Who opens
// sessions and leaves them keeps nobody out; a client whose session is gone is
// told so, and opens another.
func (s *server) makeRoom() bool {
	longest := s.spare()
	if longest == nil {
		return false
	}
	s.Log.Info("a client that waits for nothing made room for another one", "session", longest.ID())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		defer rescue.Catch(s.Log, "the end of a client", nil)
		_ = longest.Close() // it is gone, or goes
	}()
	select {
	case <-gone:
		return true
	case <-time.After(leaving):
		return false
	}
}

// spare is whose session makeRoom ends, nil for nobody's. It is said once.
func (s *server) spare() (longest *sdk.ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var since time.Time
	var worked bool
	used := map[string]time.Time{} // of those that are still there
	for client := range s.sdk.Sessions() {
		at, known := s.used[client.ID()]
		if !known {
			continue // it is being opened
		}
		used[client.ID()] = at
		one := s.sessions[client]
		if one != nil && one.busy() {
			continue
		}
		if works := one != nil; longest == nil || worked && !works || worked == works && at.Before(since) {
			longest, since, worked = client, at, works
		}
	}
	s.used = used
	if longest != nil {
		delete(s.used, longest.ID()) // nobody ends it twice
	}
	return longest
}

// busy reports whether something is done for a client.
func (s *session) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls > 0 || s.started > 0
}
