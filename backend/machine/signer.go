package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
	"github.com/countersign-app/countersign/backend/signature"
)

// Signers finds out who signed programs and remembers it for as long as the
// file stays the same, like Hashes. Only macOS can tell; elsewhere nobody
// vouches for a file. It may be used by many at once.
type Signers struct {
	mu    sync.Mutex
	known map[approval.File]string
	busy  atomic.Bool // Known finds out
	// tests alone set these.
	program string
	limit   time.Duration
}

// Of returns who signed a file, as "TEAM/identifier", if codesign confirmed
// that a Developer ID certificate of that team did. It returns "" where
// nobody vouches for the file or that cannot be found out within 10 seconds;
// an answer is remembered, a failure to get one is not.
//
// The same signer does not mean the same program or version: whoever accepts
// a change because of it accepts every program that this team ever signed
// under this name.
func (s *Signers) Of(file approval.File) string {
	if s.codesign() == "" {
		return ""
	}
	s.mu.Lock()
	signer, ok := s.known[file]
	s.mu.Unlock()
	if ok {
		return signer
	}
	signer, err := s.find(file)
	if err != nil {
		return ""
	}
	if !file.Lasting(time.Now()) {
		return signer
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || len(s.known) >= maxHashes {
		s.known = map[approval.File]string{}
	}
	s.known[file] = signer
	return signer
}

// Known returns who signed the program at a path, if that was found out before.
// Else it returns "", and finds out for the next time: a question does not wait
// for it.
func (s *Signers) Known(path string) string {
	if s.codesign() == "" {
		return ""
	}
	file, err := Disk{}.Look(path)
	if err != nil {
		return ""
	}
	s.mu.Lock()
	signer, ok := s.known[file]
	s.mu.Unlock()
	if !ok && s.busy.CompareAndSwap(false, true) {
		go func() {
			defer s.busy.Store(false)
			defer rescue.Catch(nil, "the signature of a program", nil)
			s.Of(file)
		}()
	}
	return signer
}

func (s *Signers) codesign() string {
	if s.program != "" {
		return s.program
	}
	return codesign
}

// find reads who a file says that its signer is, and has that confirmed. The
// path may lead codesign to another file meanwhile, but the requirement names
// what was read from the open one.
func (s *Signers) find(file approval.File) (string, error) {
	if file.Size > maxHashed {
		return "", fmt.Errorf("cannot tell who signed %s: it is larger than a gigabyte", file.Path)
	}
	f, _, err := openSame(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	signer, requirement, err := claimed(f, file.Size)
	if err != nil || requirement == "" {
		return "", err
	}
	limit := s.limit
	if limit == 0 {
		limit = vouchLimit
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	vouched, err := vouch(ctx, s.codesign(), requirement, file.Path)
	if err != nil {
		return "", err
	}
	if now, err := (Disk{}).Look(file.Path); err != nil || !now.Same(file) {
		return "", fmt.Errorf("cannot tell who signed %s: it changed meanwhile", file.Path)
	}
	if !vouched {
		return "", nil
	}
	return signer, nil
}

// claimed returns who a program says that its signer is, and what must hold
// for that to be true. Both are empty if it names nobody, or is no program.
func claimed(r io.ReaderAt, size int64) (signer, requirement string, err error) {
	list, err := signature.Read(r, size)
	if errors.Is(err, signature.ErrNotMachO) || errors.Is(err, signature.ErrMalformed) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	one, err := signature.Agreed(list)
	if err != nil {
		return "", "", nil // it is not signed, or as more than one
	}
	return one.Signer(), signature.Requirement(list), nil
}

// vouchLimit is how long codesign may take. It reads the file, and of an app
// all that belongs to it.
const vouchLimit = 10 * time.Second

// vouch asks codesign whether the signature of a file is valid and satisfies
// a requirement. It runs in the host's own process group, without input,
// output or anything of our environment; its exit status is the answer.
func vouch(ctx context.Context, program, requirement, path string) (bool, error) {
	if !filepath.IsAbs(path) {
		return false, fmt.Errorf("cannot ask codesign about %s: it would take it for an option or a process", path)
	}
	cmd := exec.CommandContext(ctx, program, "--verify", "--strict", "--all-architectures", "-R", "="+requirement, path)
	cmd.Env = []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin"}
	cmd.Dir = "/"
	err := cmd.Run()
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		return false, nil
	}
	return err == nil, err
}
