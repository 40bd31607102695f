package host

import (
	"context"

	"github.com/countersign-app/countersign/backend/history"
)

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
