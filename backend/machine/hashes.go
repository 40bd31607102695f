package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// Hashes computes SHA-256 sums of programs and remembers them for as long as
// the file stays the same in device, inode, size, mode, owner and times, where
// these show every change. Its zero value is ready, and it may be used by many
// at once.
type Hashes struct {
	mu    sync.Mutex
	known map[approval.File]string
	busy  map[approval.File]*hashing
	// small and large hold a place for each file that is read.
	small, large chan struct{}
	// tests alone set this.
	wait time.Duration
}

// hashing is one sum on its way. done is closed when the rest is set.
type hashing struct {
	began time.Time
	done  chan struct{}
	sum   string
	err   error
}

const (
	// maxHashes bounds the memory; beyond it everything is forgotten and hashed
	// again when it is asked for.
	maxHashes = 10_000
	// maxHashed is the size in bytes up to which files are hashed. The largest
	// programs that are known have half of it.
	maxHashed = 1 << 30
	// hashWait is how long anybody waits for a sum, and hashLimit how long it may
	// take altogether: a slow disk may have it ready for the next one who asks.
	hashWait  = 10 * time.Second
	hashLimit = time.Minute
	// maxHashing bounds the files that are read at once, and maxLarge those of
	// more than largeFile bytes: an agent that asks for one after the other keeps
	// nobody waiting who runs a script or an ordinary program.
	maxHashing = 8
	maxLarge   = 2
	largeFile  = 32 << 20
)

// Of returns the sum of a file in hex, within 10 seconds. It is that of the
// very file that was seen, whatever its name leads to meanwhile, and an error
// where that is not there, larger than a gigabyte or read too slowly, or where a
// program may be writing to it (trail.ErrWritten). A file is read once, however
// many ask.
func (h *Hashes) Of(file approval.File) (string, error) {
	if file.Size > maxHashed {
		return "", fmt.Errorf("cannot identify %s: it is larger than a gigabyte", file.Path)
	}
	h.mu.Lock()
	sum, ok := h.known[file]
	one := h.busy[file]
	if !ok && one == nil {
		one = h.begin(file)
	}
	wait := h.wait
	h.mu.Unlock()
	if ok {
		return sum, nil
	}
	if wait == 0 {
		wait = hashWait
	}
	late := time.NewTimer(wait - time.Since(one.began))
	defer late.Stop()
	select {
	case <-one.done:
	case <-late.C:
		select {
		case <-one.done: // it took longer, but it is there
		default:
			return "", fmt.Errorf("cannot identify %s: it is not read within %v, so ask again later", file.Path, wait)
		}
	}
	if one.err != nil {
		return "", fmt.Errorf("cannot identify %s: %w", file.Path, one.err)
	}
	return one.sum, nil
}

// begin has a file hashed. It is called with the lock held. A sum that could
// not be remembered is nobody else's: they may have seen a later content.
func (h *Hashes) begin(file approval.File) *hashing {
	one := &hashing{began: time.Now(), done: make(chan struct{})}
	h.prepare()
	slots := h.small
	if file.Size > largeFile {
		slots = h.large
	}
	shared := file.Lasting(time.Now())
	if shared {
		h.busy[file] = one
	}
	go func() {
		defer close(one.done)
		defer rescue.Catch(nil, "the reading of a file", func() { one.err = errFailed })
		shows := one.read(file, slots)
		h.mu.Lock()
		defer h.mu.Unlock()
		if !shared {
			return
		}
		delete(h.busy, file)
		if len(h.known) >= maxHashes {
			clear(h.known)
		}
		if one.err == nil && shows {
			h.known[file] = one.sum
		}
	}()
	return one
}

// errFailed is why a file has no sum where a mistake of ours was caught.
var errFailed = errors.New("Countersign failed at it: its log says where")

// read hashes a file once few enough are read. What makes us panic has no sum.
func (one *hashing) read(file approval.File, slots chan struct{}) (shows bool) {
	defer rescue.Catch(nil, "the reading of a file", func() { one.sum, one.err = "", errFailed })
	if one.err = one.enter(slots); one.err != nil {
		return false
	}
	defer func() { <-slots }()
	one.sum, shows, one.err = hash(file, one.began.Add(hashLimit))
	return shows
}

var errSlow = errors.New("reading it takes too long")

// prepare makes the zero value ready. It is called with the lock held.
func (h *Hashes) prepare() {
	if h.known == nil {
		h.known, h.busy = map[approval.File]string{}, map[approval.File]*hashing{}
		h.small, h.large = make(chan struct{}, maxHashing-maxLarge), make(chan struct{}, maxLarge)
	}
}

// enter waits until few enough files are read.
func (one *hashing) enter(slots chan struct{}) error {
	late := time.NewTimer(hashLimit - time.Since(one.began))
	defer late.Stop()
	select {
	case slots <- struct{}{}:
		return nil
	case <-late.C:
		return errSlow
	}
}

// hash reads a file to where it ended when it was seen. shows tells that a
// later change of it will show.
func hash(file approval.File, until time.Time) (sum string, shows bool, err error) {
	f, shows, err := openSame(file)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	all := sha256.New()
	if _, err := io.CopyN(all, &untilReader{f, until}, file.Size); err != nil {
		return "", false, err
	}
	if !stillSame(f, file) {
		return "", false, errOther(file)
	}
	return hex.EncodeToString(all.Sum(nil)), shows, nil
}

// untilReader is a file that cannot be read for longer than until.
type untilReader struct {
	file  *os.File
	until time.Time
}

func (r *untilReader) Read(p []byte) (int, error) {
	if time.Now().After(r.until) {
		return 0, errSlow
	}
	return r.file.Read(p)
}

// OwnPrograms tells of a file whether it is one of these programs, under any name,
// or holds the same. One of the same size that cannot be read counts as one.
func OwnPrograms(hashes *Hashes, paths []string) func(approval.File) bool {
	var own []approval.File
	for _, path := range paths {
		if file, err := (Disk{}).Look(path); err == nil {
			own = append(own, file)
		}
	}
	return func(file approval.File) bool {
		return slices.ContainsFunc(own, func(one approval.File) bool {
			if one.Path == file.Path || one.Dev == file.Dev && one.Ino == file.Ino {
				return true
			}
			if one.Size != file.Size {
				return false
			}
			ours, err := hashes.Of(one)
			theirs, wrong := hashes.Of(file)
			return err != nil || wrong != nil || ours == theirs
		})
	}
}
