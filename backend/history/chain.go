package history

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"time"
)

// end is one end of the chain: the place of a link, from 1, and its hash. The
// chain begins behind the zero end.
type end struct {
	link int64
	hash [sha256.Size]byte
}

// next is the link of a row behind this one. Its hash covers the link before,
// its place, and every value of the row that is not empty, each with its name
// and behind its length, so that no two rows give the same text and a column
// that comes later changes no hash of a row without it. Of a text that is kept
// apart it covers the hash. queued is when the row came, which orders it by time
// as its n does by place.
func (e end) next(row *stored, queued int64) (end, error) {
	return e.over(append(row.columns(), column{"n", row.N}, column{"queued", queued}))
}

// unplaced is next as it was before the hash covered n and queued.
func (e end) unplaced(row *stored) (end, error) { return e.over(row.columns()) }

func (e end) over(columns []column) (end, error) {
	n := end{link: e.link + 1}
	h := sha256.New()
	h.Write(e.hash[:])
	binary.Write(h, binary.BigEndian, n.link)
	for _, c := range columns {
		value, err := driver.DefaultParameterConverter.ConvertValue(c.value)
		if err != nil {
			return end{}, fmt.Errorf("cannot chain column %s: %w", c.name, err)
		}
		switch value {
		case nil, "", int64(0), false:
			continue
		}
		measured(h, c.name)
		measured(h, fmt.Sprintf("%T %v", value, value))
	}
	h.Sum(n.hash[:0])
	return n, nil
}

func measured(h hash.Hash, text string) {
	binary.Write(h, binary.BigEndian, int64(len(text)))
	h.Write([]byte(text))
}

// ends are the last link that was removed, the last one whose hash does not cover
// its n and queued, and the last one of all.
type ends struct{ removed, placed, last end }

func readEnds(q querier) (e ends, err error) {
	for which, e := range map[string]*end{"removed": &e.removed, "placed": &e.placed, "last": &e.last} {
		var hash []byte
		if err := q.QueryRow("SELECT link, chain FROM ends WHERE which = ?", which).Scan(&e.link, &hash); err != nil {
			return ends{}, err
		}
		if copy(e.hash[:], hash) != len(e.hash) || len(hash) != len(e.hash) {
			return ends{}, fmt.Errorf("%w: an end of its chain is no hash", errForeign)
		}
	}
	return e, nil
}

func writeEnd(x executor, which string, e end) error {
	_, err := x.Exec("UPDATE ends SET link = ?, chain = ? WHERE which = ?", e.link, e.hash[:], which)
	return err
}

// chainAll makes links of the rows that were over before there was a chain.
func chainAll(tx *sql.Tx) error {
	var head end
	for after, more := int64(0), true; more; {
		rows, err := readStored(context.Background(), tx, "runs WHERE n > ? AND state NOT IN ('waiting', 'running') ORDER BY n LIMIT 1000", []any{after})
		if err != nil {
			return err
		}
		for i := range rows {
			row := &rows[i]
			if head, err = head.unplaced(row); err != nil {
				return err
			}
			if _, err := tx.Exec("UPDATE runs SET link = ?, chain = ? WHERE n = ?", head.link, head.hash[:], row.N); err != nil {
				return err
			}
			if row.Parent == "" {
				if _, err := tx.Exec(index, row.N, wordsOf(&row.Row), tagsOf(&row.Row)); err != nil {
					return err
				}
			}
			after = row.N
		}
		more = len(rows) > 0
	}
	return writeEnd(tx, "last", head)
}

// placeAll says where the links end whose hashes do not cover n and queued, and
// in a link what was removed until then.
func placeAll(tx *sql.Tx) error {
	e, err := readEnds(tx)
	if err != nil || e.last.link == 0 {
		return err
	}
	if err := writeEnd(tx, "placed", e.last); err != nil {
		return err
	}
	_, err = Trim{Last: e.removed.link, Count: e.removed.link, Hash: hex.EncodeToString(e.removed.hash[:]), At: time.Now().UnixMilli()}.write(tx, e.last)
	return err
}
