package history

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

const (
	defaultLimit = 100
	maxLimit     = 1000
)

// Query says which rows to list. What is not set does not count.
type Query struct {
	// Limit is how many rows at most: 100 if not set, 1000 at most.
	Limit int
	// Before is the N of the last row of the page before.
	Before  int64
	AgentID string
	// Parent selects the programs of one request, and with an empty text the
	// requests alone.
	Parent *string
	State  State
	// ID selects one row.
	ID string
	// SessionKey selects the requests of one session.
	SessionKey string
	// What follows finds requests that are over. Text is looked for as words, the
	// last of which may be a beginning. Verdict and Reason are what policy said or
	// what came of it.
	Text     string
	Verdict  approval.Verdict
	Reason   approval.Reason
	Decision approval.Decision
	// Since and Until bound when it was asked, in unix milliseconds; 0 does not
	// count. Until is not included.
	Since, Until int64
}

// tags are those that the rows must have; with none, and no text, the index is
// not asked.
func (q Query) tags() (tags []string) {
	for _, t := range []struct{ kind, value string }{
		{"verdict", string(q.Verdict)}, {"reason", string(q.Reason)}, {"decision", string(q.Decision)},
	} {
		if t.value != "" {
			tags = append(tags, tag(t.kind, t.value))
		}
	}
	if q.AgentID != "" && (len(tags) > 0 || q.Text != "") {
		tags = append(tags, tag("agent", q.AgentID))
	}
	return tags
}

// conditions are what rows must fulfil, with their arguments.
type conditions struct {
	where []string
	args  []any
}

func (c *conditions) only(condition string, args ...any) {
	c.where = append(c.where, condition)
	c.args = append(c.args, args...)
}

// List returns rows, newest first, those that are still queued included.
func (d *DB) List(ctx context.Context, q Query) ([]Row, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	limit = min(limit, maxLimit)
	find := searchFor(q.Text, q.tags())
	if find.match() == "" {
		if q.Text != "" {
			return nil, nil // nothing in it can be found
		}
		return d.page(ctx, q, limit, "runs", "n", conditions{})
	}
	// The index goes first and gives its rows in their order, so that a page
	// ends the search.
	var c conditions
	c.only("words MATCH ?", find.match())
	rows, err := d.page(ctx, q, limit, "words CROSS JOIN runs ON n = words.rowid", "words.rowid", c)
	if err != nil || len(find.terms) == 0 {
		return rows, err
	}
	c = conditions{}
	condition, args := find.inTexts()
	c.only(condition, args...)
	more, err := d.page(ctx, q, limit, "runs", "n", c)
	if err != nil {
		return nil, err
	}
	rows = append(rows, more...)
	slices.SortStableFunc(rows, func(x, y Row) int { return cmp.Compare(y.N, x.N) })
	rows = slices.CompactFunc(rows, func(x, y Row) bool { return x.N == y.N })
	return rows[:min(limit, len(rows))], nil
}

// page returns the rows of a query, of which n is called so here, that also fulfil
// these conditions.
func (d *DB) page(ctx context.Context, q Query, limit int, from, n string, c conditions) ([]Row, error) {
	if q.ID != "" {
		c.only("id = ?", q.ID)
	}
	if q.SessionKey != "" {
		c.only("session_key = ?", q.SessionKey)
	}
	if q.Since > 0 {
		// Rows of before are not even looked at.
		at, err := d.firstSince(ctx, q.Since)
		if err != nil {
			return nil, err
		}
		c.only(n+" >= ?", at)
		c.only("queued >= ?", q.Since)
	}
	if q.Until > 0 {
		c.only("queued < ?", q.Until)
	}
	if q.Since > 0 && q.Until > 0 {
		// Nor are those behind the last one that can be meant.
		last, err := d.lastBetween(ctx, q.Since, q.Until)
		if err != nil {
			return nil, err
		}
		c.only(n+" <= ?", last)
	}
	if q.Before > 0 {
		c.only(n+" < ?", q.Before)
	}
	if q.AgentID != "" {
		c.only("agent_id = ?", q.AgentID)
	}
	if q.Parent != nil {
		c.only("parent = ?", *q.Parent)
	}
	if q.State != "" {
		c.only("state = ?", q.State)
	}
	if len(c.where) > 0 {
		from += " WHERE " + strings.Join(c.where, " AND ")
	}
	return d.read(ctx, from+" ORDER BY "+n+" DESC LIMIT ?", append(c.args, limit)...)
}

// Unfinished returns all rows that wait or run, oldest first. Before the
// first Put these are what a crash left behind.
func (d *DB) Unfinished(ctx context.Context) ([]Row, error) {
	return d.read(ctx, "runs WHERE state IN ('waiting', 'running') ORDER BY n")
}

func (d *DB) firstSince(ctx context.Context, since int64) (int64, error) {
	f, err := d.synced(ctx)
	if err != nil {
		return 0, err
	}
	n, err := f.firstSince(ctx, since)
	if err != nil {
		return 0, fmt.Errorf("cannot read the history: %w", err)
	}
	return n, nil
}

func (d *DB) lastBetween(ctx context.Context, since, until int64) (int64, error) {
	f, err := d.synced(ctx)
	if err != nil {
		return 0, err
	}
	n, err := f.lastBetween(ctx, since, until)
	if err != nil {
		return 0, fmt.Errorf("cannot read the history: %w", err)
	}
	return n, nil
}

// synced returns the file with all rows in it that were put before.
func (d *DB) synced(ctx context.Context) (*file, error) {
	if err := d.Sync(ctx); err != nil {
		return nil, err
	}
	d.mu.Lock()
	f, failed := d.file, d.failed
	d.mu.Unlock()
	switch {
	case f == nil && failed != nil:
		return nil, failed
	case f == nil:
		return nil, ErrClosed
	}
	return f, nil
}

func (d *DB) read(ctx context.Context, rest string, args ...any) ([]Row, error) {
	f, err := d.synced(ctx)
	if err != nil {
		return nil, err
	}
	list, err := f.read(ctx, rest, args)
	if err != nil {
		return nil, fmt.Errorf("cannot read the history: %w", err)
	}
	return list, nil
}

// read returns rows with their texts, as they are at one moment.
func (f *file) read(ctx context.Context, rest string, args []any) ([]Row, error) {
	tx, err := f.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	list, err := readStored(ctx, tx, rest, args)
	if err != nil {
		return nil, err
	}
	return joined(ctx, tx, list)
}

func readStored(ctx context.Context, from rowsQuerier, rest string, args []any) ([]stored, error) {
	found, err := from.QueryContext(ctx, "SELECT n, "+strings.Join(columnNames(), ", ")+" FROM "+rest, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var list []stored
	for found.Next() {
		row, err := scan(found)
		if err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, found.Err()
}

func scan(found *sql.Rows) (stored, error) {
	var row stored
	to := []any{&row.N}
	for _, c := range row.columns() {
		to = append(to, c.value)
	}
	if err := found.Scan(to...); err != nil {
		return stored{}, err
	}
	// Words that nobody knows never get further than this.
	if err := row.checkWords(); err != nil {
		return stored{}, fmt.Errorf("row %d: %w", row.N, err)
	}
	return row, nil
}
