package history

import (
	"database/sql"
	"errors"
)

// Trim is a link of the chain that says what the bounds of the history removed
// until then: the first links of it.
type Trim struct {
	// Last is the last link that was removed, and Hash its hash, in hex; the first
	// was 1. Of these links Count were rows.
	Last  int64  `json:"last"`
	Hash  string `json:"hash"`
	Count int64  `json:"count"`
	At    int64  `json:"at"` // unix milliseconds
}

// next is its link behind another one.
func (t Trim) next(e end) (end, error) {
	return e.over([]column{{"trimmed", t.Last}, {"count", t.Count}, {"hash", t.Hash}, {"at", t.At}})
}

// write puts it behind the last link, and returns the new one.
func (t Trim) write(tx *sql.Tx, last end) (end, error) {
	link, err := t.next(last)
	if err != nil {
		return end{}, err
	}
	if _, err := tx.Exec("INSERT INTO trims (link, chain, last, count, hash, at) VALUES (?, ?, ?, ?, ?, ?)",
		link.link, link.hash[:], t.Last, t.Count, t.Hash, t.At); err != nil {
		return end{}, err
	}
	return link, writeEnd(tx, "last", link)
}

// trimLink is a Trim in its place.
type trimLink struct {
	Trim
	link  int64
	chain []byte
}

// readTrims returns those that are there, by their links.
func readTrims(tx *sql.Tx) (list []trimLink, err error) {
	found, err := tx.Query("SELECT link, chain, last, count, hash, at FROM trims ORDER BY link")
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var t trimLink
		if err := found.Scan(&t.link, &t.chain, &t.Last, &t.Count, &t.Hash, &t.At); err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, found.Err()
}

// trimmedBefore is how many rows were removed until now.
func trimmedBefore(tx *sql.Tx) (count int64, err error) {
	err = tx.QueryRow("SELECT count FROM trims ORDER BY link DESC LIMIT 1").Scan(&count)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return count, err
}
