package store

import (
	"errors"
	"io/fs"
)

// Vault keeps small values where who replaces files may not reach them.
type Vault interface {
	Get(name string) ([]byte, error) // fs.ErrNotExist where there is none
	Set(name string, value []byte) error
}

// digestName is the name of the hash of the version that was accepted last.
const digestName = "policy.digest"

// remember keeps the hash of the accepted version. It comes before its backup:
// who stops in between finds the file itself to be what was accepted.
func (s *Store) remember() {
	if s.opt.Vault == nil || s.digest == s.accepted.hash {
		return
	}
	if err := s.opt.Vault.Set(digestName, []byte(s.accepted.hash)); err != nil {
		s.opt.Log.Error("the hash of the accepted policy was not kept", "error", err)
		return
	}
	s.digest = s.accepted.hash
}

// lastAccepted returns the version that was accepted last, as far as one is
// known: the file itself or a backup that has the hash that was kept, or the
// newest backup where no hash was. A hash that nothing has, or that cannot be
// read, leaves a version that says nothing. behind tells that the newest backup
// is another one.
func (s *Store) lastAccepted(text []byte) (backup []byte, kept, behind bool) {
	backup, kept = s.backups.newest()
	if s.opt.Vault == nil {
		return backup, kept, false
	}
	digest, err := s.opt.Vault.Get(digestName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return backup, kept, kept // so that the hash is kept from now on
	case err != nil:
		s.opt.Log.Error("it cannot be told which policy was accepted last, so all that it permits waits for a person", "error", err)
		return nil, true, false
	}
	s.digest = string(digest)
	switch {
	case kept && hashOf(backup) == s.digest:
		return backup, true, false
	case hashOf(text) == s.digest:
		return text, true, true
	}
	if backup, ok := s.backups.withHash(s.digest); ok {
		return backup, true, true
	}
	s.opt.Log.Error("the policy and its backups are not what was accepted last, so all that it permits waits for a person")
	return nil, true, false
}
