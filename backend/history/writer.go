package history

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/rescue"
)

const (
	// commitAfter is how long a row may wait for others to share its write.
	// The rest of the second is for the disk.
	commitAfter = 250 * time.Millisecond
	retryAfter  = time.Second
	// maxAsides bounds how many broken files one host leaves behind, should
	// every new one break too.
	maxAsides = 3
)

// run is the writer: the only goroutine that opens, writes and trims the
// file. Close waits for it. It sleeps without a timer while nothing is queued.
func (d *DB) run() {
	defer close(d.done)
	for stopped := false; !stopped; {
		trimming, err := d.attempt()
		switch {
		case err != nil:
			stopped = d.pause(retryAfter)
		case trimming:
			stopped = d.pause(0)
		default:
			stopped = d.idle() || d.pause(commitAfter)
		}
	}
	for d.pending() {
		if _, err := d.attempt(); err != nil {
			break
		}
	}
	d.release()
}

// idle waits until something is queued or somebody waits, and reports
// whether it is time to stop.
func (d *DB) idle() (stopped bool) {
	select {
	case <-d.wake:
	case <-d.flush:
		signal(d.flush) // for the pause that follows
	case <-d.stop:
		return true
	}
	return false
}

// pause waits, at most until somebody waits for the rows, and reports whether
// it is time to stop.
func (d *DB) pause(length time.Duration) (stopped bool) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-d.flush:
	case <-d.stop:
		return true
	}
	return false
}

func (d *DB) pending() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.batch.entries)+len(d.queue.entries) > 0
}

// errFailed is why nothing was written where a mistake of ours was caught. The rows
// are kept, and tried again.
var errFailed = errors.New("Countersign failed at it: its log says where")

// attempt opens the file if it must, writes what is queued, tells those who
// wait how that went, and then trims one step. It reports whether there may
// be more to trim.
func (d *DB) attempt() (trimming bool, err error) {
	defer rescue.Catch(d.opt.Log, "the writing of the history", func() {
		trimming, err = false, errFailed
		d.settle(err)
	})
	err = d.write()
	if broken(err) && d.asides < maxAsides {
		if err = d.setAside(err); err == nil {
			err = d.write()
		}
	}
	d.settle(err)
	if err != nil {
		return false, err
	}
	bounds := d.opt
	bounds.MaxAge = time.Duration(d.age.Load())
	trimmed, err := d.file.trim(bounds)
	if err != nil {
		// The rows are safe, and the next write tries again.
		d.opt.Log.Warn("cannot trim the history", "path", d.opt.Path, "error", err)
	}
	return trimmed && err == nil, nil
}

func (d *DB) write() error {
	if err := d.open(); err != nil {
		return err
	}
	d.mu.Lock()
	if len(d.batch.entries) == 0 {
		d.batch, d.queue = d.queue, queue{}
		d.begun = d.puts
	}
	entries := d.batch.entries
	d.mu.Unlock()
	return d.file.put(entries)
}

// open makes sure that the file is open and still the one at the path: rows
// in a file that somebody removed would be gone with the next start.
func (d *DB) open() error {
	if d.file != nil {
		if now, err := os.Lstat(d.opt.Path); err == nil && os.SameFile(now, d.file.seen) {
			return nil
		}
		d.opt.Log.Error("the history was removed or replaced while in use: beginning again", "path", d.opt.Path)
		d.release()
	}
	f, err := openFile(d.opt.Path)
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.file, d.opened = f, true
	d.mu.Unlock()
	return nil
}

func (d *DB) release() {
	d.mu.Lock()
	f := d.file
	d.file = nil
	d.mu.Unlock()
	if f == nil {
		return
	}
	if err := f.close(); err != nil {
		d.opt.Log.Warn("cannot close the history", "path", d.opt.Path, "error", err)
	}
}

func (d *DB) setAside(why error) error {
	d.release()
	d.asides++
	to, err := setAside(d.opt.Path, d.opt.Now())
	if err != nil {
		return fmt.Errorf("it is broken (%w) and cannot be set aside: %w", why, err)
	}
	d.opt.Log.Error("the history was broken: it is kept aside and a new one begins", "aside", to, "error", why)
	return nil
}

// settle records how an attempt ended and wakes those who wait for it.
func (d *DB) settle(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err == nil:
		if d.failed != nil {
			d.opt.Log.Info("the history can be written again", "path", d.opt.Path)
		}
		d.failed, d.batch, d.written = nil, queue{}, d.begun
	default:
		if d.failed == nil {
			d.opt.Log.Error("the history cannot be written: nothing runs", "path", d.opt.Path, "error", err)
		}
		d.failed = fmt.Errorf("cannot write the history %s: %w", d.opt.Path, err)
	}
	d.attempts++
	close(d.changed)
	d.changed = make(chan struct{})
}

// put writes the entries in one transaction: all of them or none.
func (f *file) put(entries []entry) error {
	if len(entries) == 0 {
		return nil
	}
	last, rows, head := f.last, f.rows, f.head
	f.rows = -1 // until it is committed
	tx, err := f.writer.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	w := writing{tx: tx, known: tx.Stmt(f.known), upsert: tx.Stmt(f.upsert)}
	found := map[int64]*stored{} // by n, the requests to be found from now on
	for i := range entries {
		row, err := w.put(&entries[i], last+1, &head)
		if err != nil {
			return err
		}
		n := row.N
		if n != 0 && row.State.over() && row.Parent == "" {
			found[n] = row
		}
		if n > last {
			last = n
			if rows >= 0 {
				rows++
			}
		}
	}
	// After all rows: each statement on another table would have the index write
	// out what it gathers.
	index := tx.Stmt(f.index)
	for _, n := range slices.Sorted(maps.Keys(found)) {
		if _, err := index.Exec(n, wordsOf(&found[n].Row), tagsOf(&found[n].Row)); err != nil {
			return err
		}
	}
	for _, n := range slices.Sorted(maps.Keys(found)) {
		if err := indexTexts(tx, found[n]); err != nil {
			return err
		}
	}
	if err := dropTexts(tx, w.left); err != nil {
		return err
	}
	if head != f.head {
		if err := writeEnd(tx, "last", head); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	f.last, f.rows, f.head = last, rows, head
	return nil
}

// writing is one transaction of rows.
type writing struct {
	tx            *sql.Tx
	known, upsert *sql.Stmt
	left          []int64 // texts that rows needed which were replaced
}

// put writes one row, a new one with this n, and a row that is over as the next
// link of the chain. It returns what was written, with n 0 for a row that was over
// before, which stays as it is, and for a new one beyond the quota.
func (w *writing) put(e *entry, n int64, head *end) (*stored, error) {
	at, queued, over, apart := n, e.queued, false, false
	if err := w.known.QueryRow(e.row.ID).Scan(&at, &queued, &over, &apart); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	if over || e.beyond && at == n {
		return &stored{}, nil
	}
	row, texts, err := split(e.row)
	if err != nil {
		return nil, err
	}
	row.N = at
	var link, chain any
	next := *head
	if row.State.over() {
		if next, err = head.next(&row, queued); err != nil {
			return nil, err
		}
		link, chain = next.link, next.hash[:]
	}
	if apart {
		left, err := leaveTexts(w.tx, "n = ?", row.N)
		if err != nil {
			return nil, err
		}
		w.left = append(w.left, left...)
	}
	args := []any{row.N, queued, link, chain}
	for _, c := range row.columns() {
		args = append(args, c.value)
	}
	if _, err := w.upsert.Exec(args...); err != nil {
		return nil, err
	}
	*head = next
	return &row, keepTexts(w.tx, row.N, texts)
}

const index = "INSERT INTO words (rowid, text, tags) VALUES (?, ?, ?)"

// upsert is the statement that inserts a row or replaces all of it but its
// place and age. A row that is in the chain is not replaced.
func upsert() string {
	names := columnNames()
	sets := make([]string, len(names))
	for i, name := range names {
		sets[i] = name + " = excluded." + name
	}
	return "INSERT INTO runs (n, queued, link, chain, " + strings.Join(names, ", ") + ")" +
		" VALUES (?, ?, ?, ?" + strings.Repeat(", ?", len(names)) + ")" +
		" ON CONFLICT (id) DO UPDATE SET link = excluded.link, chain = excluded.chain, " + strings.Join(sets, ", ") +
		" WHERE runs.link IS NULL"
}

func columnNames() []string {
	columns := new(stored).columns()
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}
