package store

import (
	"errors"
	"fmt"
	"time"
)

// turnedDown is a proposal that waits for a person, or waited.
type turnedDown struct {
	hash string
	at   time.Time // when the person turned it down; zero while it waits
}

// quiet is how long nobody is asked again after a person turned a proposal
// down.
const quiet = time.Hour

// ErrTurnedDown says that a person turned the last proposal down a while ago.
var ErrTurnedDown = errors.New("a person turned the last change down that loosens the policy: talk to them, and try again later")

// Propose puts the text of a policy that comes from elsewhere in the place of
// the file, with the socket of this machine. What it tightens holds at once;
// what it loosens waits for a person like an edit by hand, and is ErrTurnedDown
// after a person said no to the one before. ErrChanged says that the file is not the one whose hash is baseHash.
// However many proposals come, they take the place of one backup.
func (s *Store) Propose(baseHash string, text []byte) (Snapshot, error) {
	doc, err := s.parse(text)
	if err != nil {
		return Snapshot{}, err
	}
	unlock, err := s.lock(lockWait)
	if err != nil {
		return Snapshot{}, err
	}
	defer unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	now := s.Snapshot()
	switch {
	case now.Broken != nil:
		return now, fmt.Errorf("cannot change a policy that cannot be used: %w", now.Broken)
	case now.Held != nil:
		return now, ErrHeld
	case baseHash != now.Hash:
		return now, ErrChanged
	case s.opt.Now().Sub(s.rejected.at) < quiet && len(Loosens(now.Document, doc)) > 0:
		return now, ErrTurnedDown
	}
	if err := s.leases(now.Document, doc); err != nil {
		return now, err
	}
	doc.Socket = s.accepted.doc.Socket
	if text, err = doc.Encode(); err != nil {
		return now, err
	}
	if _, err := s.parse(text); err != nil { // it is longer than it came
		return now, withoutLine(err)
	}
	if err := s.write(text, s.accepted.hash); err != nil { // who edited it at this moment comes first
		s.look()
		return s.last(), err
	}
	again := s.proposed
	s.look()
	if s.unkept {
		s.remember()
		if err := s.backups.save(s.accepted.text, !again); err != nil {
			s.opt.Log.Error("the accepted policy was not kept", "error", err)
		}
		s.unkept, s.proposed = false, true
	}
	if held := s.Snapshot().Held; held != nil {
		s.rejected = turnedDown{hash: held.Hash}
	}
	return s.Snapshot(), nil
}
