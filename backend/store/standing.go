package store

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"github.com/countersign-app/countersign/backend/approval"
)

// Standing returns what holds by the files of a state folder alone, where no host
// has them open: the stricter of the policy file and the version that was accepted
// last. It writes nothing, but takes from the modes of files what lets others in.
//
// Where no host ever was, nobody has decided anything: then no entry holds, and
// what is denied by itself. Where one was and both are gone, everything is denied.
func Standing(o Options) Snapshot {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{opt: o, path: o.State.Approvals(), backups: backups{o.State.Backups()}, changed: make(chan struct{}, 1)}
	s.readFederated()
	text, err := readPrivate(s.path)
	backup, kept, _ := s.lastAccepted(text)
	switch {
	case !kept && errors.Is(err, fs.ErrNotExist) && !there(o.State.OperatorKey()):
		doc := firstDocument()
		doc.Defaults.Security = approval.SecurityList
		s.accept(version{doc: doc}, savedEdit)
		return s.Snapshot()
	case !kept: // no host ever started with this file, and the first one takes it as it is
		backup = text
	}
	s.accepted = s.startingPoint(backup)
	s.judge(text, err)
	return s.Snapshot()
}

// there reports whether something has this name, or it cannot be told.
func there(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
