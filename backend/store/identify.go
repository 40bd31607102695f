package store

import (
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// Record is what was seen under an entry.
type Record struct {
	// Entry has the id of the entry, and what is to be recorded in Identity, Interpreters
	// and Links.
	Entry approval.Entry
	// Was are the hashes that the caller knew for the paths of these programs, and
	// InterpretersWas for those that interpret: one file may be both.
	Was, InterpretersWas map[string]string
}

// Identify writes records into their entries, in the places of those for the
// same paths. All are on the disk when it returns, or none. ErrChanged says
// that others recorded another file meanwhile, ErrNoLease that an entry is gone.
func (s *Store) Identify(records []Record) error {
	_, err := s.mutate("", savedLease, func(d *Document) error {
		for _, r := range records {
			if err := d.stillAs(r); err != nil {
				return err
			}
		}
		for _, r := range records {
			d.Identify(r.Entry)
		}
		return nil
	})
	return err
}

// stillAs makes sure that an entry holds what the caller knew of it.
func (d *Document) stillAs(r Record) error {
	err := ErrNoLease
	d.entries(r.Entry.ID, func(e *approval.Entry) {
		err = nil
		if anew(e.Identity, r.Was) || anew(e.Interpreters, r.InterpretersWas) {
			err = ErrChanged
		}
	})
	return err
}

// anew reports whether records hold another hash than was known.
func anew(list []approval.Identity, known map[string]string) bool {
	return slices.ContainsFunc(list, func(id approval.Identity) bool {
		was, asked := known[id.Path]
		return asked && id.SHA256 != "" && strings.ToLower(id.SHA256) != was
	})
}

// Identify writes what was seen into the entry with that id.
func (d *Document) Identify(seen approval.Entry) {
	d.entries(seen.ID, func(e *approval.Entry) {
		path := func(id approval.Identity) string { return id.Path }
		e.Identity = recordOver(e.Identity, seen.Identity, path)
		e.Interpreters = recordOver(e.Interpreters, seen.Interpreters, path)
		e.Links = recordOver(e.Links, seen.Links, func(l approval.Link) string { return l.Path })
	})
}

// recordOver puts records in the place of those for the same paths. The oldest
// make room.
func recordOver[T any](list, with []T, path func(T) string) []T {
	list = slices.DeleteFunc(slices.Clone(list), func(was T) bool {
		return slices.ContainsFunc(with, func(now T) bool { return path(now) == path(was) })
	})
	list = append(list, with...)
	return list[max(0, len(list)-maxItems):]
}
