package history

import (
	"database/sql"
	"errors"
	"math"
)

// trimStep is how many requests one step deletes at most, so that rows never
// wait long behind it.
const trimStep = 200

// unlimited is a time that every row was queued before, and more rows than
// there can be.
const unlimited = math.MaxInt64

// oldest finds the oldest finished request that was queued before a time. The
// row of a program goes with its request, and by itself only when that is not
// there. What is not over stays: after a crash it says what to end.
const oldest = `SELECT id FROM runs r WHERE queued < ? AND state NOT IN ('waiting', 'running')
	AND (parent = '' OR NOT EXISTS (SELECT 1 FROM runs p WHERE p.id = r.parent))
	ORDER BY queued, n LIMIT 1`

// trim deletes one step of what is beyond the bounds, oldest requests first,
// and reports whether it deleted anything.
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
		return f.drop(unlimited, unlimited)
	case f.rows > opt.MaxRows:
		return f.drop(unlimited, f.rows-opt.MaxRows)
	}
	return f.drop(opt.Now().Add(-opt.MaxAge).UnixMilli(), unlimited)
}

// bytes is how much of the file is in use. Free pages do not count: they are
// used again before the file grows.
func (f *file) bytes() (n int64, err error) {
	err = f.writer.QueryRow(`SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&n)
	return n, err
}

// drop deletes requests that were queued before a time, each with its
// programs, until that many rows or one step of requests are gone.
func (f *file) drop(before, rows int64) (bool, error) {
	tx, err := f.writer.Begin()
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	var dropped int64
	for i := 0; i < trimStep && dropped < rows; i++ {
		var id string
		err := tx.QueryRow(oldest, before).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			break
		}
		if err != nil {
			return false, err
		}
		result, err := tx.Exec("DELETE FROM runs WHERE id = ?1 OR parent = ?1", id)
		if err != nil {
			return false, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return false, err
		}
		dropped += n
	}
	if dropped == 0 {
		return false, nil
	}
	if err := tx.Commit(); err != nil {
		return false, err
	}
	f.rows -= dropped
	return true, nil
}
