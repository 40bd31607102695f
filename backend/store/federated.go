package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// federated is a policy of a gateway that was opened.
type federated struct {
	signed SignedPolicy
	doc    *Document
}

// Federate takes a policy that a gateway signed. It holds at once and from now
// on, in the place of an older one of the same key. ErrNotFollowed says that it
// is none of those that the person wants.
func (s *Store) Federate(p SignedPolicy) error {
	doc, err := p.Open(s.opt.Home)
	if err != nil {
		return err
	}
	behind, err := s.takeSigned(federated{p, doc})
	if err != nil || !behind {
		return err
	}
	return s.noteSerials()
}

// noteSerials writes the serials of the newest policies into "policyFrom". While
// an edit waits, they are in the accepted version and in no file but its backup.
func (s *Store) noteSerials() error {
	_, err := s.mutate("", savedLease, s.serials)
	if !errors.Is(err, ErrHeld) {
		return err
	}
	unlock, err := s.lock(lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noteHeld()
}

// serials is the edit that noteSerials makes.
func (s *Store) serials(d *Document) error {
	done := errNothing
	for _, from := range d.Sources() {
		if newest := s.federated[from.Key].signed.Serial; newest > from.Serial {
			from.Serial = newest
			if done = d.Follow(from); done != nil {
				return done
			}
		}
	}
	return done
}

// takeSigned keeps a policy, and reports whether the serial in "policyFrom" is
// an older one.
func (s *Store) takeSigned(f federated) (behind bool, err error) {
	unlock, err := s.lock(lockWait)
	if err != nil {
		return false, err
	}
	defer unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	view := s.last().view
	if view == nil {
		return false, fmt.Errorf("cannot take a policy: %w", s.last().Broken)
	}
	sources := view.sources()
	i := slices.IndexFunc(sources, func(o PolicySource) bool { return o.Key == f.signed.Key })
	if i < 0 {
		return false, ErrNotFollowed
	}
	from, had := sources[i], s.federated[f.signed.Key].signed
	switch {
	case f.signed.Serial < max(from.Serial, had.Serial):
		return false, fmt.Errorf("the policy of %s is older than the one that holds", from.Gateway)
	case f.signed.Serial == had.Serial && string(f.signed.Policy) != string(had.Policy):
		return false, fmt.Errorf("%s signed two policies with the serial %d", from.Gateway, had.Serial)
	case f.signed.Serial == had.Serial:
		return from.Serial < had.Serial, nil
	}
	all := maps.Clone(s.federated)
	if all == nil {
		all = map[string]federated{}
	}
	all[f.signed.Key] = f
	if err := s.writeFederated(all); err != nil {
		return false, err
	}
	s.federated = all
	s.publishAnew()
	return true, nil
}

// publishAnew has policies that are made anew from the accepted version and the
// one that waits hold.
func (s *Store) publishAnew() {
	next := s.last()
	accepted := next.view.accepted
	if next.Held != nil && s.accepted.text != nil {
		accepted, next.Hash, next.Document = s.accepted.doc, s.accepted.hash, s.accepted.doc
	}
	next.Generation, next.view = 0, s.newView(accepted, next.view.waiting, next.view.kept)
	s.publish(next)
}

// noteHeld notes the serials in the accepted version while another one waits in
// the file: the next start compares with it.
func (s *Store) noteHeld() error {
	if now := s.last(); now.Held == nil || s.accepted.text == nil {
		return nil // it was answered, or nothing was accepted yet: the next one notes it
	}
	doc, err := s.parse(s.accepted.text)
	if err != nil {
		return err
	}
	if err := s.serials(doc); err != nil {
		if errors.Is(err, errNothing) {
			return nil
		}
		return err
	}
	text, err := doc.Encode()
	if err != nil {
		return err
	}
	if doc, err = s.parse(text); err != nil {
		return withoutLine(err)
	}
	s.accepted = version{text, hashOf(text), doc}
	s.record(savedLease)
	s.publishAnew()
	return nil
}

// writeFederated keeps the policies of gateways that are followed.
func (s *Store) writeFederated(all map[string]federated) error {
	list := []SignedPolicy{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if slices.ContainsFunc(s.last().view.sources(), func(o PolicySource) bool { return o.Key == key }) {
			list = append(list, all[key].signed)
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return Replace(s.opt.State.Federated(), append(text, '\n'))
}

// readFederated opens the policies that were kept. One that cannot be opened is
// as if it had not come.
func (s *Store) readFederated() {
	text, err := readPrivate(s.opt.State.Federated())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var list []SignedPolicy
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	s.federated = map[string]federated{}
	for _, p := range list {
		doc, bad := p.Open(s.opt.Home)
		if err = errors.Join(err, bad); bad == nil && s.federated[p.Key].signed.Serial <= p.Serial {
			s.federated[p.Key] = federated{p, doc}
		}
	}
	if err != nil {
		s.opt.Log.Error("a policy of a gateway that was kept cannot be read", "error", err)
	}
}

// newView makes policies from documents and from what gateways signed.
func (s *Store) newView(accepted, waiting *Document, kept map[string][]approval.Entry) *view {
	return &view{home: s.opt.Home, accepted: accepted, waiting: waiting, kept: kept, federated: s.federated}
}

// sources are those of both documents, of one key the newest.
func (v *view) sources() []PolicySource {
	list := v.accepted.Sources()
	if v.waiting == nil {
		return list
	}
	for _, more := range v.waiting.Sources() {
		if i := slices.IndexFunc(list, func(o PolicySource) bool { return o.Key == more.Key }); i >= 0 {
			list[i].Serial = max(list[i].Serial, more.Serial)
		} else {
			list = append(list, more)
		}
	}
	return list
}

// follow adds what the gateways say that are followed. Where the policy of one
// is missing nothing may run.
func (v *view) follow(p approval.Policy) approval.Policy {
	own := p
	for _, from := range v.sources() {
		f, ok := v.federated[from.Key]
		if !ok || f.signed.Serial < from.Serial {
			return closed(p.AgentID, fmt.Sprintf("the policy of %s holds here too and is not there: have `countersign node run` join it, or take it out of policyFrom", from.Gateway))
		}
		p = tighten(p, "the policy of "+from.Gateway, f.doc, v.home)
		if own.Ask == approval.AskOff && own.Own == nil {
			p.Own = &own
		}
	}
	return p
}

// closed is a policy under which nothing runs.
func closed(agentID, why string) approval.Policy {
	return approval.Policy{
		AgentID: agentID, Security: approval.SecurityDeny, Ask: approval.AskOff, AskFallback: approval.SecurityDeny, Broken: why,
	}
}
