package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// saving says what an edit of our own changes.
type saving int

const (
	savedEdit  saving = iota // the policy: a further version is kept
	savedLease               // what is left of a lease
	savedUsage               // nothing that a decision depends on
)

// saveTries is how often an edit is made anew because others changed the file
// meanwhile.
const saveTries = 10

// errNothing ends an edit that has nothing to save.
var errNothing = errors.New("nothing to save")

// Update changes the document with edit and saves it, unless another process
// has changed the file since the caller saw baseHash; an empty baseHash stands
// for what is there now. What it returns is on the disk. Errors are ErrChanged,
// ErrHeld, a *FieldError for a value that is not allowed, or that of edit.
//
// An edit may loosen: whoever calls Update has the person's yes. It is called
// again, with another document, when the file changes while it is saved.
func (s *Store) Update(baseHash string, edit func(*Document) error) (Snapshot, error) {
	return s.mutate(baseHash, savedEdit, edit)
}

// Consume takes one use from an entry. It is on the disk when Consume
// returns. An entry without a number of uses only has to be there and valid.
// When it fails, the use must not happen.
func (s *Store) Consume(entryID string) error {
	_, err := s.mutate("", savedLease, func(d *Document) error {
		found, ended, counted := false, false, false
		d.entries(entryID, func(e *approval.Entry) {
			found = true
			ended = ended || e.Disabled || e.Ended(s.opt.Now())
			if e.UsesLeft != nil && !ended {
				*e.UsesLeft--
				counted = true
			}
		})
		switch {
		case !found || ended:
			return ErrNoLease
		case !counted:
			return errNothing
		}
		return nil
	})
	return err
}

func (s *Store) mutate(baseHash string, what saving, edit func(*Document) error) (Snapshot, error) {
	unlock, err := s.lock(lockWait)
	if err != nil {
		return Snapshot{}, err
	}
	defer unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	tries := saveTries
	if what == savedUsage {
		tries = 1
	}
	var snap Snapshot
	err = s.insist(tries, func() (err error) {
		snap, err = s.attempt(baseHash, what, edit)
		return err
	})
	if errors.Is(err, errOutside) {
		s.look()
		snap = s.last()
	}
	return snap, err
}

// insist does once, as often as that, until nobody else changes the file. The
// last of all tries does not wait for who has the file open to write: they may
// never close it.
func (s *Store) insist(tries int, once func() error) error {
	defer func() { s.pressing = false }()
	for try := 1; ; try++ {
		s.pressing = try == saveTries
		err := once()
		if !errors.Is(err, errOutside) {
			return err
		}
		time.Sleep(settle) // they may not be done
		if try == tries {
			return err
		}
	}
}

// attempt makes an edit from what the file holds now.
func (s *Store) attempt(baseHash string, what saving, edit func(*Document) error) (Snapshot, error) {
	s.look()
	now := s.Snapshot()
	switch {
	case now.Broken != nil:
		return now, fmt.Errorf("cannot change a policy that cannot be used: repair it first: %w", now.Broken)
	case now.Held != nil:
		return now, ErrHeld
	case baseHash != "" && baseHash != now.Hash:
		return now, ErrChanged
	}
	// The document of a snapshot belongs to its readers; this one is ours.
	doc, err := s.parse(s.accepted.text)
	if err != nil {
		return now, err
	}
	switch err := edit(doc); {
	case errors.Is(err, errNothing):
		return now, nil
	case err != nil:
		return now, err
	}
	if what == savedEdit {
		if err := s.leases(now.Document, doc); err != nil {
			return now, err
		}
	}
	s.fillSocket(doc)
	return s.save(doc, what)
}

// leases refuses a document with a lease that lasts longer than one may, unless it
// was there before.
func (s *Store) leases(old, new *Document) error {
	type lease struct {
		agentID, pattern string
		ends             int64
	}
	known := map[lease]bool{}
	if old != nil {
		for id, agent := range old.Agents {
			for _, e := range agent.Allowlist {
				known[lease{id, e.Pattern, e.ExpiresAt}] = true
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(new.Agents)) {
		for _, e := range new.Agents[id].Allowlist {
			if err := e.TooLong(s.opt.Now()); err != nil && !known[lease{id, e.Pattern, e.ExpiresAt}] {
				return fmt.Errorf("agent %s, %s: %w", plain(id), plain(e.Pattern), err)
			}
		}
	}
	return nil
}

// save checks and writes a document and makes it the accepted one. It takes
// the place of the version that was accepted last.
func (s *Store) save(doc *Document, what saving) (Snapshot, error) {
	text, err := doc.Encode()
	if err != nil {
		return s.last(), err
	}
	if bytes.Equal(text, s.accepted.text) {
		return s.last(), nil
	}
	if what != savedUsage { // usage cannot make a document invalid
		if doc, err = s.parse(text); err != nil {
			return s.last(), withoutLine(err)
		}
	}
	if err := s.write(text, s.accepted.hash); err != nil {
		return s.last(), err
	}
	s.accept(version{text, hashOf(text), doc}, what)
	s.record(what)
	return s.last(), nil
}

func (s *Store) last() Snapshot {
	if snap := s.current.Load(); snap != nil {
		return *snap
	}
	return Snapshot{}
}

// withoutLine drops the line of a text that nobody sees.
func withoutLine(err error) error {
	var f *FieldError
	if errors.As(err, &f) {
		f.Line = 0
		return fmt.Errorf("cannot save: %w", f)
	}
	return err
}

// Accept makes the version that waits the accepted one, if the step to it still
// is the one with this hash (see Held). Else it gives ErrChanged.
func (s *Store) Accept(hash string) error {
	return s.settled(s.settle(func(held *Held) error {
		if held.Hash != hash {
			return ErrChanged
		}
		if err := s.leases(s.accepted.doc, s.waiting.doc); err != nil {
			return err
		}
		s.accept(s.waiting, savedEdit)
		return nil
	}))
}

// Reject writes the accepted version back, over the version that waits and no
// other. A hash that is not empty must be that of the edit that waits (see Held).
func (s *Store) Reject(hash string) error {
	return s.settled(s.settle(func(held *Held) (err error) {
		if hash != "" && held.Hash != hash {
			return ErrChanged
		}
		v := s.accepted
		if v.text == nil { // nothing was accepted yet
			s.fillSocket(v.doc)
			if v.text, err = v.doc.Encode(); err != nil {
				return err
			}
			v.hash = hashOf(v.text)
		}
		switch err := s.insist(saveTries, func() error { return s.write(v.text, s.waiting.hash) }); {
		case errors.Is(err, errOutside):
			s.look()
			return ErrChanged // what the person saw is not what is there
		case err != nil:
			return err
		}
		s.accept(v, savedEdit)
		if s.rejected.hash == held.Hash {
			s.rejected.at = s.opt.Now()
		}
		return nil
	}))
}

func (s *Store) settle(answer func(*Held) error) error {
	unlock, err := s.lock(lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	held := s.Snapshot().Held
	if held == nil {
		return ErrNoEdit
	}
	if err := answer(held); err != nil {
		return err
	}
	s.record(savedEdit)
	return nil
}

// settled notes what came while the edit waited.
func (s *Store) settled(err error) error {
	if err != nil {
		return err
	}
	if err := s.noteSerials(); err != nil {
		s.opt.Log.Error("which policy of a gateway is the newest was not noted", "error", err)
	}
	return nil
}
