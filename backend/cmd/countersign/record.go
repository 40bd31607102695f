package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

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

// record opens the history. Close it.
func (p *program) record() (record, error) {
	client, _, err := p.dial()
	switch {
	case client != nil:
		client.Close()
		return record{program: p}, nil
	case !errors.Is(err, errNoHost):
		return record{}, err
	}
	if _, err := os.Stat(p.state.History()); err != nil {
		return record{}, fmt.Errorf("there is no history here, and %w", errNoHost)
	}
	lock, err := p.hold()
	if err != nil {
		return record{}, err
	}
	db, err := history.Open(history.Options{Path: p.state.History()})
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

func (r record) verify(head string) (report history.Report, err error) {
	if r.db != nil {
		return r.db.Verify(r.ctx, head)
	}
	return report, r.read("history.verify", map[string]any{"head": head}, &report)
}
