package host

import (
	"context"
	"fmt"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/ipc"
)

// Run is one row of `running.list`.
type Run struct {
	ID         string `json:"id"`
	Started    int64  `json:"started"` // unix milliseconds
	Background bool   `json:"background,omitempty"`
	Command    string `json:"command,omitempty"`
	AgentID    string `json:"agentId,omitempty"`
}

func runningList(h *Host, ctx context.Context, _ ipc.Call) (any, error) { return h.running(ctx) }

func (h *Host) running(ctx context.Context) ([]Run, error) {
	none := ""
	rows, err := h.history.List(ctx, history.Query{State: history.Running, Parent: &none, Limit: 1000})
	if err != nil {
		return nil, err
	}
	known := map[string]history.Row{}
	for _, row := range rows {
		known[row.ID] = row
	}
	list := []Run{}
	for _, r := range h.runner.Running() {
		row := known[r.ID]
		list = append(list, Run{r.ID, r.Started.UnixMilli(), r.Background, row.Command, row.AgentID})
	}
	return list, nil
}

func runningStop(h *Host, _ context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		ID string `json:"id"`
	}](c)
	if err != nil {
		return nil, err
	}
	if !h.runner.Stop(params.ID) {
		return nil, fmt.Errorf("nothing called %s is running: see `countersign running list`", display.Escape(params.ID))
	}
	return struct{}{}, nil
}
