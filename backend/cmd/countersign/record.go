package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
)

// record is the history: through the host, or, where no host runs, in its file.
type record struct {
	*program
	db   *history.DB // nil with a host
	lock *ipc.Lock
}

// record opens the history. Close it. Without a host its file is enough: nothing
// else of the folder need be there, and nothing is changed.
func (p *program) record() (record, error) {
	client, _, err := p.dial()
	if client != nil {
		client.Close()
		return record{program: p}, nil
	}
	if _, missing := os.Lstat(p.state.History()); errors.Is(missing, fs.ErrNotExist) {
		return record{}, fmt.Errorf("there is no history: %s is not there", p.state.History())
	}
	lock, held := p.hold()
	switch {
	case errors.Is(held, ipc.ErrLive) && !errors.Is(err, errNoHost):
		return record{}, err // there is a host, and this is why it cannot be asked
	case held != nil:
		return record{}, held
	}
	db, err := history.OpenReading(p.state.History())
	if err != nil {
		lock.Close()
		return record{}, err
	}
	return record{p, db, lock}, nil
}

func (r record) Close() {
	if r.db != nil {
		r.db.Close()
		r.lock.Close()
	}
}

// list takes the parameters of history.list.
func (r record) list(params map[string]any) ([]history.Row, error) {
	rows := []history.Row{}
	if r.db == nil {
		err := r.read("history.list", params, &rows)
		return rows, err
	}
	text, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	q, err := host.HistoryQuery(ipc.Call{Method: "history.list", Params: text})
	if err != nil {
		return nil, err
	}
	found, err := r.db.List(r.ctx, q)
	return append(rows, found...), err
}

// stops counts requests by what came of them.
func (r record) stops(since time.Time) (s history.Stops, err error) {
	if r.db != nil {
		return r.db.Stops(r.ctx, since.UnixMilli())
	}
	return s, r.read("history.stops", map[string]int64{"since": since.UnixMilli()}, &s)
}

func (r record) verify(head string) (report history.Report, err error) {
	if r.db != nil {
		return r.db.Verify(r.ctx, head)
	}
	return report, r.read("history.verify", map[string]any{"head": head}, &report)
}

// left are rows that are not over where no host runs that could end them.
func (r record) left() ([]history.Row, error) {
	if r.db == nil {
		return nil, nil
	}
	return r.db.Unfinished(r.ctx)
}
