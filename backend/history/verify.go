package history

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Report is what a walk along the chain found.
//
// The chain shows what was changed, removed or put in by somebody who did not
// also make all later hashes anew. Somebody who can write the file can do that;
// then the head is another one. Who keeps a head elsewhere sees it.
type Report struct {
	// Links is how many rows were walked, Removed how many older ones went by the
	// bounds of the history, Open how many rows are not over and so not chained.
	Links   int64 `json:"links"`
	Removed int64 `json:"removed"`
	Open    int64 `json:"open"`
	// Head is the hash of the last link, in hex.
	Head string `json:"head"`
	// Held tells that the head that was asked for is that of a link that is there.
	Held bool `json:"held,omitempty"`
	// Broken is the first row that does not fit, nil if all do.
	Broken *Break `json:"broken,omitempty"`
}

// Break is where a chain is broken.
type Break struct {
	N    int64  `json:"n,omitempty"`
	ID   string `json:"id,omitempty"`
	Link int64  `json:"link,omitempty"`
	// Why is a sentence for people.
	Why string `json:"why"`
}

// Verify walks the chain of all rows that are over, as they are at one moment,
// and names the first that was changed, moved, removed or put in. head is a
// hash to look for, "" for none. Writing goes on meanwhile.
func (d *DB) Verify(ctx context.Context, head string) (Report, error) {
	f, err := d.synced(ctx)
	if err != nil {
		return Report{}, err
	}
	report, err := f.verify(ctx, strings.ToLower(head))
	if err != nil {
		return Report{}, fmt.Errorf("cannot verify the history: %w", err)
	}
	return report, nil
}

func (f *file) verify(ctx context.Context, head string) (Report, error) {
	tx, err := f.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Report{}, err
	}
	defer tx.Rollback()
	at, last, err := readEnds(tx)
	if err != nil {
		return Report{}, err
	}
	r := Report{Removed: at.link, Head: hex.EncodeToString(last.hash[:])}
	r.Held = head != "" && head == hex.EncodeToString(at.hash[:])
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM runs WHERE state IN ('waiting', 'running')").Scan(&r.Open); err != nil {
		return Report{}, err
	}
	found, err := tx.QueryContext(ctx, "SELECT link, chain, n, "+strings.Join(columnNames(), ", ")+" FROM runs WHERE link IS NOT NULL ORDER BY link")
	if err != nil {
		return Report{}, err
	}
	defer found.Close()
	for found.Next() {
		now, row, why, err := walk(found, at)
		if err != nil {
			return Report{}, err
		}
		if why == "" && now.link > last.link {
			why = "it was put in behind the end of the chain"
		}
		if why != "" {
			r.Broken = &Break{N: row.N, ID: row.ID, Link: now.link, Why: why}
			return r, nil
		}
		at = now
		r.Links++
		r.Held = r.Held || head != "" && head == hex.EncodeToString(at.hash[:])
	}
	if err := found.Err(); err != nil {
		return Report{}, err
	}
	if at != last {
		r.Broken = &Break{Link: at.link + 1, Why: fmt.Sprintf("rows are missing at the end: the chain has %d links, the last one here is %d", last.link, at.link)}
		return r, nil
	}
	r.Broken, err = unchained(ctx, tx)
	return r, err
}

// walk reads the next row and says what does not fit the link before it.
func walk(found *sql.Rows, before end) (now end, row Row, why string, err error) {
	var hash []byte
	to := []any{&now.link, &hash, &row.N}
	for _, c := range row.columns() {
		to = append(to, c.value)
	}
	if err := found.Scan(to...); err != nil {
		return end{}, Row{}, "", err
	}
	if now.link != before.link+1 {
		return now, row, fmt.Sprintf("rows are missing before it: link %d follows link %d", now.link, before.link), nil
	}
	want, err := before.next(&row)
	if err != nil {
		return end{}, Row{}, "", err
	}
	if !bytes.Equal(hash, want.hash[:]) {
		return now, row, "it is not what was written: it, or its hash, was changed", nil
	}
	return want, row, "", nil
}

// unchained finds a row that is over and no link: nobody here writes one.
func unchained(ctx context.Context, tx *sql.Tx) (*Break, error) {
	b := Break{Why: "it was put in or changed: it is over and not in the chain"}
	err := tx.QueryRowContext(ctx, "SELECT n, id FROM runs WHERE link IS NULL AND state NOT IN ('waiting', 'running') LIMIT 1").Scan(&b.N, &b.ID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &b, err
}
