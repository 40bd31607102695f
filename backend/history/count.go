package history

import (
	"context"
	"fmt"
	"time"
)

// Count is how many requests an agent made in one span of time, and about how
// many of them a question was put.
type Count struct {
	AgentID string
	// Span is the place of the time with which the span begins.
	Span            int
	Requests, Asked int64
}

// Count counts the requests of each agent in the spans between the times, which
// are unix milliseconds and grow. The last time ends the last span.
func (d *DB) Count(ctx context.Context, times []int64) ([]Count, error) {
	f, err := d.synced(ctx)
	if err != nil {
		return nil, err
	}
	var counts []Count
	for i := 0; i+1 < len(times); i++ {
		span, err := f.count(ctx, i, times[i], times[i+1])
		if err != nil {
			return nil, fmt.Errorf("cannot count in the history: %w", err)
		}
		counts = append(counts, span...)
	}
	return counts, nil
}

// count reads nothing but the index.
func (f *file) count(ctx context.Context, span int, since, until int64) ([]Count, error) {
	found, err := f.reader.QueryContext(ctx, `SELECT agent_id, count(*), count(asked) FROM runs INDEXED BY runs_time
		WHERE parent = '' AND queued >= ? AND queued < ? GROUP BY agent_id`, since, until)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var counts []Count
	for found.Next() {
		c := Count{Span: span}
		if err := found.Scan(&c.AgentID, &c.Requests, &c.Asked); err != nil {
			return nil, err
		}
		counts = append(counts, c)
	}
	return counts, found.Err()
}

// firstSince returns the n of the first row that was queued at or after a time,
// by n and not by the clock, which may have been set back. It never changes
// once it is known, because later rows have a higher n; the last one is kept.
func (f *file) firstSince(ctx context.Context, since int64) (n int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.since == since {
		return f.sinceN, nil
	}
	err = f.reader.QueryRowContext(ctx, `SELECT coalesce(min(n), (SELECT coalesce(max(n), 0) FROM runs) + 1)
		FROM runs INDEXED BY runs_time WHERE queued >= ?`, since).Scan(&n)
	if err == nil {
		f.since, f.sinceN = since, n
	}
	return n, err
}

// lastBetween returns the highest n of the rows that were queued between two
// times, and 0 for none. It reads no more of the index than firstSince.
func (f *file) lastBetween(ctx context.Context, since, until int64) (n int64, err error) {
	err = f.reader.QueryRowContext(ctx, `SELECT coalesce(max(n), 0)
		FROM runs INDEXED BY runs_time WHERE queued >= ? AND queued < ?`, since, until).Scan(&n)
	return n, err
}

// maxAgentIDs bounds the answer of AgentIDs.
const maxAgentIDs = 1000

// AgentIDs returns who is in the history, in the order of their ids: the first
// thousand of them.
func (d *DB) AgentIDs(ctx context.Context) ([]string, error) {
	f, err := d.synced(ctx)
	if err != nil {
		return nil, err
	}
	// Each step goes from one id to the next in the index.
	found, err := f.reader.QueryContext(ctx, `WITH RECURSIVE ids(id) AS (
		SELECT min(agent_id) FROM runs
		UNION ALL SELECT (SELECT min(agent_id) FROM runs WHERE agent_id > ids.id) FROM ids WHERE ids.id IS NOT NULL
	) SELECT ids.id FROM ids WHERE ids.id IS NOT NULL LIMIT ?`, maxAgentIDs)
	if err != nil {
		return nil, fmt.Errorf("cannot read the history: %w", err)
	}
	defer found.Close()
	var ids []string
	for found.Next() {
		var id string
		if err := found.Scan(&id); err != nil {
			return nil, fmt.Errorf("cannot read the history: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, found.Err()
}

// Size is how much the history holds, and how much it may hold.
type Size struct {
	Rows, Bytes       int64
	Oldest            time.Time // zero for none
	MaxRows, MaxBytes int64
	MaxAge            time.Duration
}

// Size returns how much the history holds.
func (d *DB) Size(ctx context.Context) (Size, error) {
	s := Size{MaxRows: d.opt.MaxRows, MaxBytes: d.opt.MaxBytes, MaxAge: time.Duration(d.age.Load())}
	f, err := d.synced(ctx)
	if err != nil {
		return s, err
	}
	var oldest int64
	err = f.reader.QueryRowContext(ctx, `SELECT count(*), coalesce(min(queued), 0),
		(SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size)
		FROM runs INDEXED BY runs_time`).Scan(&s.Rows, &oldest, &s.Bytes)
	if err != nil {
		return s, fmt.Errorf("cannot measure the history: %w", err)
	}
	if s.Rows > 0 {
		s.Oldest = time.UnixMilli(oldest)
	}
	return s, nil
}
