package host

import (
	"context"
	"errors"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/ipc"
)

func historyList(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	q, err := HistoryQuery(c)
	if err != nil {
		return nil, err
	}
	return h.history.List(ctx, q)
}

// HistoryQuery reads the parameters of history.list.
func HistoryQuery(c ipc.Call) (history.Query, error) {
	params, err := decode[struct {
		Limit    int               `json:"limit"`
		Before   int64             `json:"before"`
		AgentID  string            `json:"agentId"`
		Parent   string            `json:"parent"`
		All      bool              `json:"all"` // requests and programs
		ID       string            `json:"id"`
		Text     string            `json:"text"`
		Verdict  approval.Verdict  `json:"verdict"`
		Reason   approval.Reason   `json:"reason"`
		Decision approval.Decision `json:"decision"`
		Since    int64             `json:"since"` // unix milliseconds
		Until    int64             `json:"until"` // unix milliseconds
	}](c)
	q := history.Query{
		Limit: params.Limit, Before: params.Before, AgentID: params.AgentID, Parent: &params.Parent, ID: params.ID, Text: params.Text,
		Verdict: params.Verdict, Reason: params.Reason, Decision: params.Decision, Since: params.Since, Until: params.Until,
	}
	if params.All || params.ID != "" {
		q.Parent = nil
	}
	return q, err
}

func historyVerify(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		Head string `json:"head"`
	}](c)
	if err != nil {
		return nil, err
	}
	if !h.verifying.TryLock() { // it reads a million rows, and programs may ask for it
		return nil, errors.New("the history is being read as a whole already: try again later")
	}
	defer h.verifying.Unlock()
	return h.history.Verify(ctx, params.Head)
}

func historyStops(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		Since int64 `json:"since"` // unix milliseconds
	}](c)
	if err != nil {
		return nil, err
	}
	if !h.verifying.TryLock() { // as below
		return nil, errors.New("the history is being read as a whole already: try again later")
	}
	defer h.verifying.Unlock()
	return h.Stops(ctx, time.UnixMilli(params.Since))
}

// stopsTime bounds how long stops are counted: each of the requests is looked at.
const stopsTime = 5 * time.Second

// Stops counts the requests since a time by what came of them: see history.Stops.
func (h *Host) Stops(ctx context.Context, since time.Time) (history.Stops, error) {
	ctx, cancel := context.WithTimeout(ctx, stopsTime)
	defer cancel()
	return h.history.Stops(ctx, since.UnixMilli())
}

// History returns rows of the history, for the panel.
func (h *Host) History(ctx context.Context, q history.Query) ([]history.Row, error) {
	return h.history.List(ctx, q)
}

// CountHistory counts the requests of each agent between these times: see
// history.Count.
func (h *Host) CountHistory(ctx context.Context, times []int64) ([]history.Count, error) {
	return h.history.Count(ctx, times)
}

// HistoryAgents returns the ids of those who are in the history.
func (h *Host) HistoryAgents(ctx context.Context) ([]string, error) { return h.history.AgentIDs(ctx) }

// HistorySize returns how much the history holds.
func (h *Host) HistorySize(ctx context.Context) (history.Size, error) { return h.history.Size(ctx) }
