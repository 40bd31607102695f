package history

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// inRow is how many bytes a text may have that is kept in its row. A longer one
// is kept once for all rows that need it: else a few thousand requests of the
// largest size, denied ones too, would fill the history.
const inRow = 4 << 10

// apart are the columns whose long texts are kept apart. Nothing looks for a row
// by their value. A search looks in the words of those that are true.
var apart = map[string]bool{
	"command": true, "sentence": true, "judged_sentence": true, "entry": true, "note": true, "error": true,
	"argv": false, "env_names": false,
}

// refs say which text belongs in a column, by its SHA-256 in hexadecimal. In the
// table they are JSON, NULL for none.
type refs map[string]string

func (r refs) Value() (driver.Value, error) {
	if len(r) == 0 {
		return nil, nil
	}
	b, err := json.Marshal(map[string]string(r))
	return string(b), err
}

func (r *refs) Scan(v any) error {
	*r = nil
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(v), (*map[string]string)(r))
	}
	return fmt.Errorf("texts cannot be %T", v)
}

// stored is a row as it is in the table: its long texts are elsewhere. The hash of
// its link covers it like this, so it covers their hashes. A row from before texts
// were kept apart has none there, and stays as it is.
type stored struct {
	Row
	texts refs
}

func (s *stored) columns() []column { return append(s.Row.columns(), column{"texts", &s.texts}) }

// split takes the long texts out of a row, and returns them by their hash.
func split(row Row) (s stored, texts map[string]string, err error) {
	s.Row = row
	for _, c := range s.Row.columns() {
		if _, may := apart[c.name]; !may {
			continue
		}
		value, err := driver.DefaultParameterConverter.ConvertValue(c.value)
		if err != nil {
			return stored{}, nil, fmt.Errorf("cannot keep column %s: %w", c.name, err)
		}
		text, _ := value.(string)
		if len(text) <= inRow {
			continue
		}
		if texts == nil {
			s.texts, texts = refs{}, map[string]string{}
		}
		hash := hashOf(text)
		s.texts[c.name], texts[hash] = hash, text
		if err := c.set(nil); err != nil {
			return stored{}, nil, err
		}
	}
	return s, texts, nil
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// set gives a column of texts a value, nil for none.
func (c column) set(value any) error {
	switch to := c.value.(type) {
	case *string:
		*to, _ = value.(string)
		return nil
	case sql.Scanner:
		return to.Scan(value)
	}
	return fmt.Errorf("column %s holds no text", c.name)
}

// joined puts the long texts of rows back, each of which is read once.
func joined(ctx context.Context, from rowsQuerier, list []stored) ([]Row, error) {
	known := map[string]string{}
	rows := make([]Row, 0, len(list))
	for i := range list {
		s := &list[i]
		for _, c := range s.Row.columns() {
			hash, elsewhere := s.texts[c.name]
			if _, may := apart[c.name]; !elsewhere || !may {
				continue
			}
			text, seen := known[hash]
			if !seen {
				var err error
				if text, err = textOf(ctx, from, hash); err != nil {
					return nil, err
				}
				known[hash] = text
			}
			if text == "" {
				text = lost(c.name, hash)
			}
			if err := c.set(text); err != nil {
				return nil, fmt.Errorf("row %d: %w", s.N, err)
			}
		}
		rows = append(rows, s.Row)
	}
	return rows, nil
}

// lost stands for a text that is gone or changed, which does not hide its row.
func lost(column, hash string) string {
	says := fmt.Sprintf("(the text with sha256 %.64q is lost)", hash)
	if apart[column] {
		return says
	}
	list, _ := json.Marshal([]string{says}) // a list of texts has no error
	return string(list)
}

// textOf returns the text with a hash, "" where none is there that has it.
func textOf(ctx context.Context, from rowsQuerier, hash string) (text string, err error) {
	found, err := from.QueryContext(ctx, "SELECT text FROM texts WHERE hash = ?", hash)
	if err != nil {
		return "", err
	}
	defer found.Close()
	if found.Next() {
		if err := found.Scan(&text); err != nil {
			return "", err
		}
	}
	if hashOf(text) != hash {
		text = ""
	}
	return text, found.Err()
}

// keepTexts writes those that are not there, and that a row needs them all.
func keepTexts(tx *sql.Tx, n int64, texts map[string]string) error {
	for _, hash := range slices.Sorted(maps.Keys(texts)) {
		var id int64
		err := tx.QueryRow("SELECT id FROM texts WHERE hash = ?", hash).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			err = tx.QueryRow("INSERT INTO texts (hash, text) VALUES (?, ?) RETURNING id", hash, texts[hash]).Scan(&id)
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT OR IGNORE INTO needs (n, text) VALUES (?, ?)", n, id); err != nil {
			return err
		}
	}
	return nil
}

// leaveTexts says that rows need none of their texts any more, and returns these.
// which is a condition on runs.
func leaveTexts(tx *sql.Tx, which string, arg any) (left []int64, err error) {
	rows := "n IN (SELECT n FROM runs WHERE texts IS NOT NULL AND " + which + ")"
	found, err := tx.Query("SELECT DISTINCT text FROM needs WHERE "+rows, arg)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var id int64
		if err := found.Scan(&id); err != nil {
			return nil, err
		}
		left = append(left, id)
	}
	if err := found.Err(); err != nil || len(left) == 0 {
		return nil, err
	}
	_, err = tx.Exec("DELETE FROM needs WHERE "+rows, arg)
	return left, err
}

// dropTexts deletes those of these texts that no row needs.
func dropTexts(tx *sql.Tx, left []int64) error {
	for _, id := range left {
		gone, err := tx.Exec("DELETE FROM texts WHERE id = ? AND id NOT IN (SELECT text FROM needs WHERE text = id)", id)
		if err != nil {
			return err
		}
		if n, err := gone.RowsAffected(); err != nil || n == 0 {
			if err != nil {
				return err
			}
			continue
		}
		if _, err := tx.Exec("DELETE FROM textwords WHERE rowid = ?", id); err != nil {
			return err
		}
	}
	return nil
}

// indexTexts lets a search find a request by its long texts.
func indexTexts(tx *sql.Tx, s *stored) error {
	for _, name := range slices.Sorted(maps.Keys(s.texts)) {
		if !apart[name] {
			continue
		}
		if _, err := tx.Exec(`INSERT INTO textwords (rowid, text) SELECT id, text FROM texts
			WHERE hash = ? AND NOT EXISTS (SELECT 1 FROM textwords WHERE rowid = id)`, s.texts[name]); err != nil {
			return err
		}
	}
	return nil
}
