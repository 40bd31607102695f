package history

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
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
	// Trimmed is the link that says what the bounds removed, nil for nothing.
	Trimmed *Trim `json:"trimmed,omitempty"`
	// Head is the hash of the last link, in hex.
	Head string `json:"head"`
	// Held tells that the head that was asked for is that of a link that is there.
	Held bool `json:"held,omitempty"`
	// Aside are the files of histories that were broken and lie beside this one.
	// Their rows are not in it.
	Aside []string `json:"aside,omitempty"`
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
	if err == nil {
		report.Aside, err = d.Broken()
	}
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
	what, err := odd(ctx, tx, len(migrations()))
	if err != nil {
		return Report{}, err
	}
	if what != "" {
		return Report{Broken: &Break{Why: what}}, nil
	}
	e, err := readEnds(tx)
	if err != nil {
		return Report{}, err
	}
	r := Report{Head: hex.EncodeToString(e.last.hash[:])}
	w := walk{ends: e, at: e.removed, head: head, report: &r}
	w.see(e.removed)
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM runs WHERE state IN ('waiting', 'running')").Scan(&r.Open); err != nil {
		return Report{}, err
	}
	if w.trims, err = readTrims(tx); err != nil {
		return Report{}, err
	}
	if r.Broken, err = w.rows(ctx, tx); err != nil || r.Broken != nil {
		return r, err
	}
	if r.Broken = w.end(); r.Broken != nil {
		return r, nil
	}
	if r.Broken, err = unchained(ctx, tx); err != nil || r.Broken != nil {
		return r, err
	}
	r.Broken, err = untexted(ctx, tx)
	return r, err
}

// walk goes along the chain.
type walk struct {
	ends
	at     end        // the link before the next one
	trims  []trimLink // those that were not reached yet
	head   string     // a hash to look for
	report *Report
}

// see notes a link that fits.
func (w *walk) see(link end) {
	w.at = link
	w.report.Held = w.report.Held || w.head != "" && w.head == hex.EncodeToString(link.hash[:])
}

// rows walks all rows, and the links of trimming between them.
func (w *walk) rows(ctx context.Context, tx *sql.Tx) (*Break, error) {
	found, err := tx.QueryContext(ctx, "SELECT link, chain, n, queued, "+strings.Join(columnNames(), ", ")+" FROM runs WHERE link IS NOT NULL ORDER BY link")
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		if b, err := w.row(found); b != nil || err != nil {
			return b, err
		}
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	return w.trimsBefore(math.MaxInt64)
}

// row reads the next row and says what does not fit the link before it.
func (w *walk) row(found *sql.Rows) (*Break, error) {
	var row stored
	var link, queued int64
	var hash []byte
	to := []any{&link, &hash, &row.N, &queued}
	for _, c := range row.columns() {
		to = append(to, c.value)
	}
	if err := found.Scan(to...); err != nil {
		return nil, err
	}
	if b, err := w.trimsBefore(link); b != nil || err != nil {
		return b, err
	}
	b := Break{N: row.N, ID: row.ID, Link: link}
	want, err := w.at.next(&row, queued)
	if w.at.link < w.placed.link {
		want, err = w.at.unplaced(&row)
	}
	if b.Why = w.fits(link, hash, want); err != nil || b.Why != "" {
		return &b, err
	}
	w.see(want)
	w.report.Links++
	return nil, nil
}

// trimsBefore walks the links of trimming that come before a link.
func (w *walk) trimsBefore(link int64) (*Break, error) {
	for ; len(w.trims) > 0 && w.trims[0].link < link; w.trims = w.trims[1:] {
		t := w.trims[0]
		want, err := t.next(w.at)
		if err != nil {
			return nil, err
		}
		if why := w.fits(t.link, t.chain, want); why != "" {
			return &Break{Link: t.link, Why: why}, nil
		}
		w.see(want)
		w.report.Trimmed, w.report.Removed = &t.Trim, t.Count
	}
	return nil, nil
}

// fits says why a link is not the one that belongs there, "" if it is.
func (w *walk) fits(link int64, hash []byte, want end) string {
	switch {
	case link != want.link:
		return fmt.Sprintf("rows are missing before it: link %d follows link %d", link, w.at.link)
	case !bytes.Equal(hash, want.hash[:]):
		return "it is not what was written: it, or its hash, was changed"
	case link > w.last.link:
		return "it was put in behind the end of the chain"
	}
	return ""
}

// end says what is missing at the ends of the chain.
func (w *walk) end() *Break {
	said := Trim{Hash: hex.EncodeToString(make([]byte, sha256.Size))} // of a chain from its beginning on
	if t := w.report.Trimmed; t != nil {
		said = *t
	}
	switch {
	case w.at != w.last:
		return &Break{Link: w.at.link + 1, Why: fmt.Sprintf("rows are missing at the end: the chain has %d links, the last one here is %d", w.last.link, w.at.link)}
	case said.Last != w.removed.link || said.Hash != hex.EncodeToString(w.removed.hash[:]):
		return &Break{Link: said.Last + 1, Why: fmt.Sprintf("rows are missing at the beginning: the bounds removed links to %d, and the first %d are gone", said.Last, w.removed.link)}
	}
	return nil
}

// unchained finds a row that nobody here writes: one that is over and no link, or
// a request that is over and not among the words, so that no search finds it.
func unchained(ctx context.Context, tx *sql.Tx) (*Break, error) {
	return firstOf(ctx, tx, []look{
		{"SELECT n, id, 0 FROM runs WHERE link IS NULL AND state NOT IN ('waiting', 'running') LIMIT 1", "it was put in or changed: it is over and not in the chain"},
		{"SELECT n, id, 0 FROM runs WHERE link IS NOT NULL AND parent = '' AND n NOT IN (SELECT rowid FROM words) LIMIT 1", "it was taken out of what a search looks in"},
	})
}

// untexted finds a text that is not what rows say by its hash, and a row that lacks
// one of its own.
func untexted(ctx context.Context, tx *sql.Tx) (*Break, error) {
	found, err := tx.QueryContext(ctx, "SELECT hash, text FROM texts ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var hash, text string
		if err := found.Scan(&hash, &text); err != nil {
			return nil, err
		}
		if hashOf(text) == hash {
			continue
		}
		b, err := firstOf(ctx, tx, []look{{"SELECT runs.n, runs.id, coalesce(link, 0)" + named + "WHERE named.value = ? ORDER BY runs.n LIMIT 1", "a text of it is not what was written: it, or its hash, was changed"}}, hash)
		if b == nil && err == nil {
			b = &Break{Why: "a text that no row has was put in"}
		}
		return b, err
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	return firstOf(ctx, tx, []look{
		{"SELECT runs.n, runs.id, coalesce(link, 0)" + named + "WHERE NOT EXISTS (SELECT 1 FROM texts WHERE hash = named.value) ORDER BY runs.n LIMIT 1", "a text of it is missing"},
		{"SELECT runs.n, runs.id, coalesce(link, 0)" + named + "JOIN texts ON hash = named.value WHERE NOT EXISTS (SELECT 1 FROM needs WHERE needs.n = runs.n AND needs.text = texts.id) ORDER BY runs.n LIMIT 1", "a text of it would go before it does"},
		{"SELECT runs.n, runs.id, coalesce(link, 0)" + named + "JOIN texts ON hash = named.value WHERE link IS NOT NULL AND runs.parent = '' AND named.key NOT IN ('argv', 'env_names') AND texts.id NOT IN (SELECT rowid FROM textwords) ORDER BY runs.n LIMIT 1", "a text of it was taken out of what a search looks in"},
		{"SELECT 0, '', 0 FROM texts WHERE hash NOT IN (SELECT named.value" + named + ") LIMIT 1", "a text that no row has was put in"},
	})
}

// named are the rows that have texts kept apart, with the hash of each.
const named = " FROM runs JOIN json_each(runs.texts) AS named "

// look is a query for n, id and link of what nobody here writes.
type look struct{ query, why string }

func firstOf(ctx context.Context, tx *sql.Tx, looks []look, args ...any) (*Break, error) {
	for _, l := range looks {
		b := Break{Why: l.why}
		if err := tx.QueryRowContext(ctx, l.query, args...).Scan(&b.N, &b.ID, &b.Link); !errors.Is(err, sql.ErrNoRows) {
			return &b, err
		}
	}
	return nil, nil
}
