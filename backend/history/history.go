// Package history keeps what was asked, what was decided and how it ended, in
// history.db.
//
// It touches that file and its companions (-wal, -shm, and broken ones that
// it set aside) and nothing else. A row that Put took is on disk within a
// second; a row that it could not take is an error, and then nothing may run.
// It stores what it is given: secrets are redacted by the caller, and the
// output of a command never comes here. A long text is kept once, however many
// rows have it (see inRow).
package history

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds for an Options that does not say otherwise.
const (
	defaultRows  = 1_000_000
	defaultBytes = 1 << 30
	defaultAge   = 400 * 24 * time.Hour
)

// ErrFull says that the queue cannot take the row. Nothing may run then.
var ErrFull = errors.New("the history cannot keep up: try again when it has written what is queued")

// ErrClosed says that the history was closed.
var ErrClosed = errors.New("the history is closed")

// Options says where the history lives and how much of it is kept.
type Options struct {
	// Path is the database, absolute.
	Path string
	// Now is the clock that the age of rows is counted by; time.Now if nil.
	Now func() time.Time
	// Log gets failures and recoveries; nothing is logged if nil.
	Log *slog.Logger
	// MaxRows, MaxBytes and MaxAge bound what is kept, oldest first. Zero
	// means the defaults of this package.
	MaxRows  int64
	MaxBytes int64
	MaxAge   time.Duration
}

// DB is an open history. All methods may be called at any time from anywhere.
type DB struct {
	opt Options
	age atomic.Int64 // MaxAge, which can change

	wake  chan struct{} // the queue is no longer empty
	flush chan struct{} // somebody waits: write now
	stop  chan struct{} // closed by Close
	done  chan struct{} // closed when the writer has ended

	asides int // broken files since Open; the writer's own

	mu       sync.Mutex
	file     *file         // nil until it is open
	opened   bool          // whether it ever was
	quota    quota         // what was denied today
	queue    queue         // what no write has begun with
	batch    queue         // what is being written, kept until it is
	puts     uint64        // rows that were ever taken
	begun    uint64        // of these, how many left the queue
	written  uint64        // of these, how many are durable
	attempts uint64        // writes that ended, well or not
	changed  chan struct{} // closed and replaced when attempts grows
	failed   error         // why the last attempt failed
	closing  bool
}

// Open returns at once; the file is opened, and made or migrated, in the
// background. Put need not wait for that, reads do. It fails when the path is
// a link or anything else that is not a plain file; what fails later comes
// out of Put, Sync and Err. A file that is broken or not ours is set aside
// and a new one begun (see Broken).
func Open(opt Options) (*DB, error) {
	if !filepath.IsAbs(opt.Path) {
		return nil, fmt.Errorf("cannot open the history at %q: the path must be absolute", opt.Path)
	}
	if _, err := lookAt(opt.Path); err != nil {
		return nil, err
	}
	d := newDB(opt)
	go d.run()
	return d, nil
}

func newDB(opt Options) *DB {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.MaxRows <= 0 {
		opt.MaxRows = defaultRows
	}
	if opt.MaxBytes <= 0 {
		opt.MaxBytes = defaultBytes
	}
	if opt.MaxAge <= 0 {
		opt.MaxAge = defaultAge
	}
	d := &DB{
		opt:     opt,
		wake:    make(chan struct{}, 1),
		flush:   make(chan struct{}, 1),
		stop:    make(chan struct{}),
		done:    make(chan struct{}),
		changed: make(chan struct{}),
	}
	d.age.Store(int64(opt.MaxAge))
	return d
}

// Keep changes how long rows are kept at most, from the next write on.
func (d *DB) Keep(age time.Duration) { d.age.Store(int64(age)) }

// Put queues a row, to be inserted or to replace the one with the same ID,
// and does not wait for the disk. If it returns an error, nothing may run:
// the row was malformed, the queue is full (ErrFull), the history is closed
// (ErrClosed), or the last write failed and none has succeeded since.
//
// While writes fail, a row that says that something begins is not taken. A
// row in state done or denied is still kept for later, so that the history
// does not say forever that something runs; the error comes back all the same.
//
// Of what was denied without a person's answer only so much is kept one by one of
// a day; more is counted (see quota).
func (d *DB) Put(row Row) error {
	if err := row.check(); err != nil {
		return fmt.Errorf("cannot record run %q: %w", row.ID, err)
	}
	now := d.opt.Now().UnixMilli()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		return ErrClosed
	}
	if d.failed != nil && !row.State.over() {
		return d.failed
	}
	beyond, counting := d.quota.take(&row, now)
	for _, c := range counting {
		d.queuePut(c, now, false)
	}
	if beyond {
		row = row.slim()
	}
	if !d.queuePut(row, now, beyond) {
		signal(d.flush)
		return ErrFull
	}
	return d.failed
}

// queuePut queues a row, and reports whether there was place for it. The caller
// holds the lock.
func (d *DB) queuePut(row Row, now int64, beyond bool) bool {
	if !d.queue.put(row, now, d.batch) {
		return false
	}
	d.queue.entries[d.queue.at[row.ID]].beyond = beyond
	d.puts++
	if len(d.queue.entries) == 1 {
		signal(d.wake)
	}
	if d.queue.heavy() {
		signal(d.flush)
	}
	return true
}

// Sync waits until all rows that were put before are on disk. It returns the
// error of the write if that fails, and ctx's error if that ends first.
func (d *DB) Sync(ctx context.Context) error {
	d.mu.Lock()
	target, since := d.puts, d.attempts
	d.mu.Unlock()
	for {
		durable, changed, err := d.progress(target, since)
		if durable || err != nil {
			return err
		}
		signal(d.flush)
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("cannot wait for the history to be written: %w", ctx.Err())
		case <-d.done:
			if durable, _, err = d.progress(target, 0); durable || err != nil {
				return err
			}
			return ErrClosed
		}
	}
}

// progress reports whether the first target rows are durable, or else why an
// attempt after since failed, and what to wait for if there was none.
func (d *DB) progress(target, since uint64) (durable bool, changed <-chan struct{}, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opened && d.written >= target {
		return true, nil, nil
	}
	if d.attempts > since {
		err = d.failed
	}
	return false, d.changed, err
}

// Err returns why the last write failed, which is what Put refuses with, and
// nil while the history can be written.
func (d *DB) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

// Broken lists the files that once were set aside because they were damaged
// or not ours, for a person to look at; they are never deleted by us.
func (d *DB) Broken() ([]string, error) { return Broken(d.opt.Path) }

// Close writes what is queued and closes the file. It returns an error when
// rows could not be written; they are lost then.
func (d *DB) Close() error {
	d.mu.Lock()
	first := !d.closing
	d.closing = true
	if first {
		now := d.opt.Now().UnixMilli()
		for _, c := range d.quota.rest(now) {
			d.queuePut(c, now, false)
		}
	}
	d.mu.Unlock()
	if first {
		close(d.stop)
	}
	<-d.done
	d.release() // one that was only read
	d.mu.Lock()
	defer d.mu.Unlock()
	if left := len(d.batch.entries) + len(d.queue.entries); left > 0 {
		return fmt.Errorf("%d rows of history are lost: %w", left, d.failed)
	}
	return nil
}

// signal never blocks: one waiting signal is as good as many.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
