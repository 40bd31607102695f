package store

import (
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/countersign-app/countersign/backend/rescue"
)

const (
	// settle is how long several changes are taken as one: an editor that
	// writes in place is not read in between, if it is quick.
	settle = 30 * time.Millisecond
	// retry is how often a folder that is gone is looked for.
	retry = time.Second
)

// watch looks at the file whenever the folder says that it changed.
func (s *Store) watch() {
	defer s.running.Done()
	var soon, again <-chan time.Time
	for {
		select {
		case <-s.stop:
			return
		case event, ok := <-s.watcher.Events:
			if !ok {
				return
			}
			if event.Name == s.opt.State.Dir && event.Has(fsnotify.Remove|fsnotify.Rename) && again == nil {
				again = time.After(retry)
			}
			// A delay that runs is not put off, or a busy writer could hide.
			if soon == nil && (event.Name == s.opt.State.Dir || filepath.Base(event.Name) == filepath.Base(s.path)) {
				soon = time.After(settle)
			}
		case err := <-s.watcher.Errors: // events may be lost
			s.opt.Log.Warn("watching the policy file", "error", err)
			if soon == nil {
				soon = time.After(settle)
			}
		case <-soon:
			soon = nil
			s.lookOutside()
		case <-again:
			again = nil
			if checkFolder(s.opt.State.Dir) != nil || s.watcher.Add(s.opt.State.Dir) != nil {
				again = time.After(retry)
			}
			s.lookOutside()
		}
	}
}

// lookOutside judges the file, and keeps an edit that was accepted. It waits
// for the lock only shortly: whoever holds it must not keep us from looking.
func (s *Store) lookOutside() {
	defer rescue.Catch(s.opt.Log, "the watching of the policy file", nil)
	if !s.lookNow() {
		return
	}
	unlock, err := s.lock(settle)
	if err != nil {
		s.opt.Log.Error("the accepted policy was not kept", "error", err)
		return
	}
	defer unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record(savedEdit)
	s.unkept = false
}

// lookNow judges the file, and reports whether what holds now is to be kept.
func (s *Store) lookNow() (unkept bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	return s.unkept
}
