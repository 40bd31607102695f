package history

import (
	"database/sql"
	"encoding/hex"
	"math"
	"time"
)

// trimStep is how many rows one step deletes at most, so that rows never
// wait long behind it.
const trimStep = 200

// unlimited is a time that every row was queued before, and more rows than
// there can be.
const unlimited = math.MaxInt64

// first are the first links of the chain. What is not over is none of them and
// stays: after a crash it says what to end.
const first = "SELECT link, chain, n, parent, queued FROM runs WHERE link IS NOT NULL ORDER BY link LIMIT ?"

// trim deletes one step of what is beyond the bounds, the first links of the
// chain, so that the rest is still a chain. It reports whether it deleted
// anything.
func (f *file) trim(opt Options) (bool, error) {
	if f.rows < 0 {
		if err := f.writer.QueryRow("SELECT count(*) FROM runs").Scan(&f.rows); err != nil {
			return false, err
		}
	}
	bytes, err := f.bytes()
	switch {
	case err != nil:
		return false, err
	case bytes > opt.MaxBytes:
		return f.drop(opt.Now(), unlimited, unlimited)
	case f.rows > opt.MaxRows:
		return f.drop(opt.Now(), unlimited, f.rows-opt.MaxRows)
	}
	return f.drop(opt.Now(), opt.Now().Add(-opt.MaxAge).UnixMilli(), unlimited)
}

// bytes is how much of the file is in use. Free pages do not count: they are
// used again before the file grows.
func (f *file) bytes() (n int64, err error) {
	err = f.writer.QueryRow(`SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&n)
	return n, err
}

// drop deletes the first links of the chain that were queued before a time,
// until that many or one step of them are gone, and says so in a link at the end.
func (f *file) drop(at time.Time, before, rows int64) (bool, error) {
	tx, err := f.writer.Begin()
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	removed, requests, dropped, err := beginning(tx, before, min(rows, trimStep))
	if err != nil || dropped == 0 {
		return false, err
	}
	left, err := leaveTexts(tx, "link <= ?", removed.link)
	if err != nil {
		return false, err
	}
	if _, err := tx.Exec("DELETE FROM runs WHERE link <= ?", removed.link); err != nil {
		return false, err
	}
	if err := dropTexts(tx, left); err != nil {
		return false, err
	}
	for _, n := range requests {
		if _, err := tx.Exec("DELETE FROM words WHERE rowid = ?", n); err != nil {
			return false, err
		}
	}
	if err := writeEnd(tx, "removed", removed); err != nil {
		return false, err
	}
	count, err := trimmedBefore(tx)
	if err != nil {
		return false, err
	}
	if _, err := tx.Exec("DELETE FROM trims WHERE link <= ?", removed.link); err != nil {
		return false, err
	}
	head, err := Trim{Last: removed.link, Count: count + dropped, At: at.UnixMilli(), Hash: hex.EncodeToString(removed.hash[:])}.write(tx, f.head)
	if err != nil {
		return false, err
	}
	if err := tx.Commit(); err != nil {
		return false, err
	}
	f.rows -= dropped
	f.head = head
	return true, nil
}

// beginning finds the first links that were queued before a time: the last of
// them, which of them are requests, and how many they are.
func beginning(tx *sql.Tx, before, rows int64) (last end, requests []int64, count int64, err error) {
	found, err := tx.Query(first, rows)
	if err != nil {
		return end{}, nil, 0, err
	}
	defer found.Close()
	for found.Next() {
		var link, n, queued int64
		var hash []byte
		var parent string
		if err := found.Scan(&link, &hash, &n, &parent, &queued); err != nil {
			return end{}, nil, 0, err
		}
		if queued >= before {
			break
		}
		last.link = link
		copy(last.hash[:], hash)
		if count++; parent == "" {
			requests = append(requests, n)
		}
	}
	return last, requests, count, found.Err()
}
