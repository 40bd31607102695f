package store

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// record keeps the accepted version for later comparisons. A failure leaves
// an older one, which can only make the next start ask once too often.
func (s *Store) record(what saving) {
	if s.accepted.text == nil {
		return
	}
	s.remember()
	if err := s.backups.save(s.accepted.text, what == savedEdit); err != nil {
		s.opt.Log.Error("the accepted policy was not kept", "error", err)
	}
}

// look judges the file if it is not as it was.
func (s *Store) look() {
	before := stampOf(s.path)
	err := checkFolder(s.opt.State.Dir)
	var text []byte
	if err == nil {
		text, err = readPrivate(s.path)
	}
	if err != nil || hashOf(text) != s.seen {
		s.unkept = s.judge(text, err) || s.unkept
	}
	s.looked.Store(before)
}

// judge decides what an edit from outside is: broken, held or accepted. One that
// makes us panic is broken, each time that it is looked at.
func (s *Store) judge(text []byte, err error) (accepted bool) {
	defer rescue.Catch(s.opt.Log, "the policy file", func() {
		accepted, s.seen = false, ""
		s.broken(hashOf(text), errFailed)
	})
	hash, wayOut := hashOf(text), "; mend it, or copy the newest file of %s over it"
	if errors.Is(err, fs.ErrNotExist) {
		hash, wayOut = "missing:"+hashOf(nil), ", or copy the newest file of %s to its place"
		err = fmt.Errorf("%s is gone: put it back, or start Countersign again to begin with a new one", s.path)
	}
	var doc *Document
	switch {
	case err != nil:
	case hash == s.accepted.hash:
		doc = s.accepted.doc
	default:
		doc, err = s.parse(text)
	}
	if err != nil {
		if seen := hash + " " + err.Error(); s.seen != seen {
			s.seen = seen
			if s.accepted.text != nil && len(s.backups.numbers()) > 0 {
				err = fmt.Errorf("%w"+wayOut, err, s.backups.dir)
			}
			s.broken(hash, err)
		}
		return false
	}
	s.seen = hash
	loosens, kept := []string(nil), map[string][]approval.Entry(nil)
	if hash != s.accepted.hash {
		var c *comparison
		c, kept = compare(s.accepted.doc, doc)
		loosens = c.reasons
	}
	if len(loosens) == 0 {
		isNew := hash != s.accepted.hash
		s.accept(version{text, hash, doc}, savedEdit)
		return isNew
	}
	s.waiting = version{text, hash, doc}
	s.opt.Log.Warn("an edit of the policy file loosens it and waits for a person", "loosens", loosens)
	s.publish(Snapshot{
		Hash: s.accepted.hash, Document: s.accepted.doc,
		Held: &Held{
			Hash: change(s.accepted.hash, hash), Loosens: loosens,
			Lines: Differences(s.accepted.doc, doc), Back: Loosenings(doc, s.accepted.doc),
		},
		view: s.newView(s.accepted.doc, doc, kept),
	})
	return false
}

// change names the step from one version to another.
func change(from, to string) string { return hashOf([]byte(from + " " + to)) }

var errFailed = errors.New("Countersign fails at reading the policy: its log says where; copy the newest backup over it")

func (s *Store) broken(hash string, err error) {
	s.opt.Log.Error("the policy cannot be used, so everything is denied", "error", err)
	s.publish(Snapshot{Hash: hash, Document: &Document{}, Broken: err})
}

// accept makes a version the one that holds.
func (s *Store) accept(v version, what saving) {
	next := Snapshot{Hash: v.hash, Document: v.doc}
	if what == savedUsage { // policies stay as they are, and so do their indexes
		next.view, next.Generation = s.last().view, s.last().Generation
	} else {
		next.view = s.newView(v.doc, nil, nil)
	}
	// Not before: what makes a view panic is not accepted, and is looked at again.
	s.accepted, s.seen = v, v.hash
	s.proposed = s.proposed && what != savedEdit
	s.publish(next)
}

// publish makes a snapshot the current one and tells who listens.
func (s *Store) publish(next Snapshot) {
	if next.Generation == 0 {
		s.used++
		next.Generation = s.used
	}
	next.SocketPath, next.SocketToken = socketAt(s.socket, s.opt.Home), s.socket.Token
	s.current.Store(&next)
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
