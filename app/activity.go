package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/history"
)

// Activity is what the page may see of the history. All its methods can be
// called by whatever runs in the page.
type Activity struct {
	app *app

	mu sync.Mutex
	// suggested are the entries that the page shows as suggestions, by their ID.
	suggested map[string]suggested
	// offered is the recorded request that the page shows as a possible entry.
	offered offered
}

// Exported says what became of an export.
type Exported struct {
	OK bool `json:"ok"`
	// Rows were written to File. Without a file nobody chose one.
	Rows    int    `json:"rows"`
	File    string `json:"file,omitempty"`
	Message string `json:"message,omitempty"`
}

const (
	// activityPage is how many rows a page has, activityTime how long one look at
	// the history may take.
	activityPage = 200
	activityTime = 20 * time.Second
	// maxPrograms bounds the programs of a record.
	maxPrograms = 1000
)

func (a *Activity) look() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), activityTime)
}

// List returns the requests that pass a filter, newest first, from behind the
// row with this number on; 0 is for the newest.
func (a *Activity) List(f shown.ActivityFilter, before int64) shown.ActivityPage {
	ctx, cancel := a.look()
	defer cancel()
	q, none := f.Query(time.Now()), ""
	q.Before, q.Limit, q.Parent = before, activityPage, &none
	rows, err := a.app.host.History(ctx, q)
	page := shown.ActivityPage{Rows: []shown.ActivityRow{}, More: len(rows) == activityPage}
	if err != nil {
		page.Problem = sentence(err)
	}
	in := a.app.names()
	for _, r := range rows {
		page.Rows = append(page.Rows, shown.NewActivity(r, in))
	}
	return page
}

// Record returns all that is known of a request.
func (a *Activity) Record(id string) shown.Record {
	ctx, cancel := a.look()
	defer cancel()
	found, err := a.app.host.History(ctx, history.Query{ID: id, Limit: 1})
	if err != nil || id == "" || len(found) == 0 {
		gone := shown.NewRecord(history.Row{}, nil, a.app.names())
		gone.Problem = "This request is not in the history any more."
		if err != nil {
			gone.Problem = sentence(err)
		}
		return gone
	}
	programs, err := a.app.host.History(ctx, history.Query{Parent: &id, Limit: maxPrograms})
	for i, j := 0, len(programs)-1; i < j; i, j = i+1, j-1 { // they come newest first
		programs[i], programs[j] = programs[j], programs[i]
	}
	record := shown.NewRecord(found[0], programs, a.app.names())
	if err != nil {
		record.Problem = sentence(err)
	}
	return record
}

// Rates returns how often a person was asked in the last two weeks.
func (a *Activity) Rates() shown.Rates {
	ctx, cancel := a.look()
	defer cancel()
	times := shown.RateTimes(time.Now())
	counts, err := a.app.host.CountHistory(ctx, times)
	rates := shown.NewRates(counts, times, a.app.names())
	if err != nil {
		rates.Problem = sentence(err)
	}
	return rates
}

// Stops returns how many of the requests of the last days did not simply run, and why.
func (a *Activity) Stops() shown.Stops {
	ctx, cancel := a.look()
	defer cancel()
	found, err := a.app.host.Stops(ctx, shown.StopsSince(time.Now()))
	stops := shown.NewStops(found)
	if err != nil {
		stops.Problem = sentence(err)
	}
	return stops
}

// Agents returns those who are in the history, to choose one from.
func (a *Activity) Agents() []shown.Agent {
	ctx, cancel := a.look()
	defer cancel()
	agents := []shown.Agent{}
	ids, err := a.app.host.HistoryAgents(ctx)
	if err != nil {
		return agents // the list says why
	}
	in := a.app.names()
	for _, id := range ids {
		if id != "" {
			agents = append(agents, shown.NewAgent(id, in.Agents[id]))
		}
	}
	return agents
}

// Export writes what passes a filter, and its programs, to a file that the
// person chooses: the same lines as `countersign history export`.
func (a *Activity) Export(f shown.ActivityFilter) Exported {
	if !a.app.edits() {
		return Exported{Message: sentence(errNotOpen)}
	}
	at, err := a.app.chooseFile(fmt.Sprintf("countersign-history-%s.jsonl", time.Now().Format(time.DateOnly)))
	if at == "" || err != nil {
		return Exported{OK: err == nil, Message: said(err)}
	}
	rows := 0
	err = replace(at, func(w io.Writer) error {
		q := f.Query(time.Now())
		rows, err = history.WriteLines(w, func(before int64, limit int) ([]history.Row, error) {
			q.Before, q.Limit = before, limit
			return a.app.host.History(context.Background(), q)
		})
		return err
	})
	if err != nil {
		return Exported{Message: said(err)}
	}
	return Exported{OK: true, Rows: rows, File: display.Escape(at)}
}

// said is the sentence of an error, "" for none.
func said(err error) string {
	if err == nil {
		return ""
	}
	return sentence(err)
}

// replace makes a private file in one step, or leaves what is there.
func replace(at string, fill func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(at), ".countersign-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing is there when it was renamed
	out := bufio.NewWriter(f)
	if err := fill(out); err != nil {
		f.Close()
		return err
	}
	if err := errors.Join(out.Flush(), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), at)
}
