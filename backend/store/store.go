// Package store keeps exec-approvals.json: it loads and checks the policy,
// resolves it for each agent, saves edits so that none is lost, and watches
// for edits by others.
//
// It touches the state folder and nothing else. It never overwrites a file
// that it cannot read, never lets an edit from outside loosen the policy
// without a person's yes, and everything is denied while the file is broken.
package store

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ownfile"
	"github.com/countersign-app/countersign/backend/paths"
)

var (
	// ErrChanged says that the file is not the one that the caller has seen.
	ErrChanged = errors.New("exec approvals changed; reload and retry")
	// ErrHeld says that an edit from outside must be answered first.
	ErrHeld = errors.New("an edit of the policy file waits for a person: run `countersign policy accept` or `countersign policy reject`")
	// ErrNoEdit says that there is no such edit.
	ErrNoEdit = errors.New("no edit of the policy file waits for an answer")
	// ErrNoLease says that an entry cannot be used (any more).
	ErrNoLease = errors.New("the entry is gone, or its lease is over")
)

// Options say where the store is and what it needs.
type Options struct {
	State paths.State
	Home  string           // what ~ stands for, absolute
	Now   func() time.Time // nil: the clock
	Log   *slog.Logger     // nil: none
	// Vault keeps the hash of what was accepted last; nil: nobody does.
	Vault Vault
}

// Store is the policy of one host.
type Store struct {
	opt      Options
	path     string
	backups  backups
	socket   Socket // as it was at the start
	digest   string // the hash that the vault holds, "" before it is known
	current  atomic.Pointer[Snapshot]
	changed  chan struct{}
	watcher  *fsnotify.Watcher
	usage    usage
	turn     chan struct{} // holds one value while it is somebody's turn to edit
	barred   bool          // nobody here could take the file lock; belongs to the turn
	stop     chan struct{}
	running  sync.WaitGroup
	stopOnce sync.Once
	exchange func(a, b string) error // lets two files change places

	// mu guards what follows. Whoever needs the file lock takes it first.
	mu       sync.Mutex
	accepted version    // what holds; an outside edit is compared with it
	waiting  version    // what is held, while something is
	seen     string     // hash of what the file held, or why it could not be read
	unkept   bool       // what holds came from outside and has no backup
	proposed bool       // what holds was proposed, and so is the newest backup
	rejected turnedDown // the last proposal that a person turned down
	pressing bool       // who has the file open to write is not waited for any more
	used     uint64     // generations so far
	// federated are the policies that came from gateways, by the key that signed
	// them. The map is never changed.
	federated map[string]federated

	looked atomic.Pointer[stamp] // the file when it was last read; nil: read it again
}

// version is one text of the file.
type version struct {
	text []byte
	hash string
	doc  *Document
}

// Open opens the store of a state folder, makes what is missing, and starts
// to watch. A file that is broken is not an error: Snapshot tells.
func Open(o Options) (*Store, error) {
	if !filepath.IsAbs(o.Home) || !filepath.IsAbs(o.State.Dir) {
		return nil, fmt.Errorf("cannot open the policy: home %q and state folder %q must be absolute", o.Home, o.State.Dir)
	}
	if err := privateFolder(o.State.Dir); err != nil {
		return nil, fmt.Errorf("cannot open the policy: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{
		opt:     o,
		path:    o.State.Approvals(),
		backups: backups{o.State.Backups()},
		changed: make(chan struct{}, 1),
		usage:   usage{last: map[useKey]use{}, kick: make(chan struct{}, 1)},
		turn:    make(chan struct{}, 1),
		stop:    make(chan struct{}),

		exchange: exchange,
	}
	var err error
	if s.watcher, err = fsnotify.NewWatcher(); err != nil {
		return nil, fmt.Errorf("cannot watch the policy file: %w", err)
	}
	// Watching begins before the first look, so that nothing falls between.
	if err = s.watcher.Add(o.State.Dir); err == nil {
		err = s.start()
	}
	if err != nil {
		s.watcher.Close()
		return nil, fmt.Errorf("cannot open the policy: %w", err)
	}
	s.running.Add(2)
	go s.watch()
	go s.writeUsage()
	return s, nil
}

// start takes the first look at the file.
func (s *Store) start() (err error) {
	unlock, err := s.lock(lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.barred {
		sweep(s.opt.State.Dir)
		sweep(s.backups.dir)
	}
	return s.insist(saveTries, s.firstLook)
}

func (s *Store) firstLook() error {
	s.readFederated()
	text, err := readPrivate(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		doc := firstDocument()
		s.fillSocket(doc)
		s.socket = doc.Socket
		_, err := s.save(doc, savedEdit)
		return err
	}
	backup, kept, behind := s.lastAccepted(text)
	if !kept { // the first start with this file, which is taken as it is
		backup = text
	}
	s.accepted = s.startingPoint(backup)
	isNew := s.judge(text, err) || !kept || behind
	s.socket = s.accepted.doc.Socket
	snap := s.current.Load()
	switch {
	case snap.Broken != nil:
	case snap.Held != nil:
		if next := s.waiting.doc.Socket; next.Token != "" && next.Path != "" {
			s.socket = next
		}
	case s.socket.Token == "" || s.socket.Path == "":
		doc, err := s.parse(text)
		if err != nil {
			return err
		}
		s.fillSocket(doc)
		s.socket = doc.Socket
		_, err = s.save(doc, savedEdit)
		return err
	case isNew:
		s.record(savedEdit)
	}
	s.publish(s.last()) // once more, with the socket
	return nil
}

// firstDocument is the policy where there is none yet.
func firstDocument() *Document {
	return &Document{Defaults: Rules{
		Security: approval.SecurityDeny, Ask: approval.AskOnMiss, AskFallback: approval.SecurityDeny,
	}}
}

// startingPoint is what the file is compared with at the start: the version
// that was accepted last or, if that cannot be read, the strictest policy.
func (s *Store) startingPoint(text []byte) version {
	if doc, err := s.parse(text); err == nil {
		return version{text, hashOf(text), doc}
	}
	return version{doc: firstDocument()} // without a text: nobody has accepted it
}

// fillSocket adds what the local socket needs and the document lacks.
func (s *Store) fillSocket(d *Document) {
	if d.Socket.Path == "" {
		d.Socket.Path = s.opt.State.Socket()
	}
	if d.Socket.Token == "" {
		d.Socket.Token = newToken()
	}
}

// newToken returns 24 random bytes as base64url.
func newToken() string {
	b := make([]byte, 24)
	rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

func (s *Store) parse(text []byte) (*Document, error) {
	return Parse(filepath.Base(s.path), text, s.opt.Home)
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// lock takes the file lock, so that edits of our own programs come one after the
// other. Those who wait within this process get it in their order; with the file
// alone, luck would decide.
//
// Whoever holds the lock keeps nobody out: an edit that does not get it in time
// goes on without. It loses nothing, because write compares before it changes
// anything. Only the first one waits then; the next try once.
func (s *Store) lock(wait time.Duration) (unlock func(), err error) {
	select {
	case s.turn <- struct{}{}:
	case <-time.After(turnWait):
		return nil, fmt.Errorf("cannot lock %s: too many edits wait; try again", s.path)
	}
	if s.barred {
		wait = 0
	}
	release, err := lock(s.path, time.Now().Add(wait))
	switch starts := s.current.Load() == nil; {
	case err == nil:
	case starts && !errors.Is(err, ownfile.ErrLocked): // a person has to see that first
		<-s.turn
		return nil, err
	case !s.barred:
		s.opt.Log.Error("edits of the policy go on without their lock", "error", err)
		fallthrough
	default:
		release = func() {}
	}
	s.barred = err != nil
	return func() { release(); <-s.turn }, nil
}

// Close writes what is left to write and stops. The store must not be used
// afterwards.
func (s *Store) Close() error {
	s.stopOnce.Do(func() { close(s.stop) })
	s.running.Wait()
	err := s.watcher.Close()

	unlock, lockErr := s.lock(lockWait)
	if lockErr != nil {
		return errors.Join(err, lockErr)
	}
	defer unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record(savedUsage)
	return err
}

// Snapshot returns what held when the file was last looked at, which is soon
// after each change. It never waits and never reads the disk.
func (s *Store) Snapshot() Snapshot { return *s.current.Load() }

// Changed receives a value after a change; several changes may be one value.
// It has one reader.
func (s *Store) Changed() <-chan struct{} { return s.changed }
