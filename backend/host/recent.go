package host

import (
	"context"
	"errors"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/store"
)

// Recent is one of the last requests that do not wait any more.
type Recent struct {
	ID      string  `json:"id"`
	AgentID string  `json:"agentId,omitempty"`
	Command string  `json:"command"`
	At      int64   `json:"at"` // when it came, in unix milliseconds
	Outcome Outcome `json:"outcome"`
	// CanUndo tells that its answer wrote entries that are still there.
	CanUndo bool `json:"canUndo,omitempty"`
}

// Outcome is what was decided about a request, and by whom.
type Outcome string

// The outcomes. Denied is what nobody decided, such as a file that changed.
const (
	Passed        Outcome = "passed"
	AllowedOnce   Outcome = "allowed-once"
	AllowedAlways Outcome = "allowed-always"
	DeniedByYou   Outcome = "denied-by-you"
	DeniedByRule  Outcome = "denied-by-rule"
	Denied        Outcome = "denied"
	TimeRanOut    Outcome = "time-ran-out"
	CallerHungUp  Outcome = "caller-hung-up"
)

// maxRecent is how many requests Recent returns, and lookedAt how many rows it
// looks at: those that wait are not among them.
const (
	maxRecent = 5
	lookedAt  = 50
)

// Recent returns the last requests that were decided, the latest first.
func (h *Host) Recent(ctx context.Context) ([]Recent, error) {
	none := ""
	rows, err := h.history.List(ctx, history.Query{Parent: &none, Limit: lookedAt})
	if err != nil {
		return nil, err
	}
	written := h.written()
	var list []Recent
	for _, row := range rows {
		if row.State != history.Waiting && len(list) < maxRecent {
			list = append(list, Recent{row.ID, row.AgentID, row.Command, row.Arrived.UnixMilli(), outcome(row), written[row.ID]})
		}
	}
	return list, nil
}

// written are the run ids of the requests whose answers wrote entries that are
// still there.
func (h *Host) written() map[string]bool {
	ids := map[string]bool{}
	if doc := h.store.Snapshot().Document; doc != nil {
		for _, agent := range doc.Agents {
			for _, e := range agent.Allowlist {
				if e.AddedFor != "" {
					ids[e.AddedFor] = true
				}
			}
		}
	}
	return ids
}

func outcome(row history.Row) Outcome {
	if row.Verdict == approval.VerdictDeny {
		return denied(row)
	}
	switch {
	case row.AnsweredBy == "policy":
	case row.Decision == approval.AllowOnce:
		return AllowedOnce
	case row.Decision == approval.AllowAlways:
		return AllowedAlways
	}
	return Passed
}

func denied(row history.Row) Outcome {
	switch row.Reason {
	case approval.ReasonUserDenied:
		return DeniedByYou
	case approval.ReasonPromptExpired:
		return TimeRanOut
	case approval.ReasonApprovalCancelled:
		if row.AnsweredBy == pending.Nobody {
			return CallerHungUp
		}
		return Denied
	case approval.ReasonDrifted, approval.ReasonCompanion, approval.ReasonRateLimited, approval.ReasonCwdUnavailable, approval.ReasonNotFound, approval.ReasonTimeout:
		return Denied
	}
	return DeniedByRule
}

// errNothingToUndo says that no entry of the answer is there.
var errNothingToUndo = errors.New("there is nothing to undo: the answer wrote no entry, or it is gone already")

// Undo takes the entries out again that the answer to one request wrote, and
// no others. What runs goes on.
func (h *Host) Undo(id string) error {
	_, err := h.Update(func(d *store.Document) error {
		if d.Undo(id) == 0 {
			return errNothingToUndo
		}
		return nil
	})
	return err
}
