package history

import (
	"encoding/json"
	"io"

	"github.com/countersign-app/countersign/backend/display"
)

// exportPage is how many rows are asked for at once. A row holds at most a
// command of 256 kB, and an answer over the socket 16 MB.
const exportPage = 50

// WriteLines writes rows as JSON, each on a line, newest first. page returns
// the rows before this one, at most so many; 0 is for the newest. How many were
// written comes back, also with an error of w or of page.
func WriteLines(w io.Writer, page func(before int64, limit int) ([]Row, error)) (rows int, err error) {
	out := json.NewEncoder(display.JSONWriter{To: w})
	out.SetEscapeHTML(false)
	for before := int64(0); ; {
		list, err := page(before, exportPage)
		if err != nil {
			return rows, err
		}
		for _, row := range list {
			if err := out.Encode(row); err != nil {
				return rows, err
			}
			rows, before = rows+1, row.N
		}
		if len(list) < exportPage {
			return rows, nil
		}
	}
}
