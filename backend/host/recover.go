package host

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/runner"
)

// recoverLimit bounds the look for what an earlier host left behind.
const recoverLimit = 30 * time.Second

// tidy ends what a host that died left running, and closes its rows:
// questions that waited were denied by its death, commands ended with it.
// While the history cannot be read the host judges and runs nothing; what was
// left is ended by its mark alone then, and its rows are closed later.
func (h *Host) tidy() error {
	ctx, cancel := context.WithTimeout(context.Background(), recoverLimit)
	defer cancel()
	rows, err := h.history.Unfinished(ctx)
	if err != nil {
		h.log.Error("cannot read what an earlier host left, and nothing runs until that can be", "error", err)
		h.untidy = true
	}
	var groups []runner.Process
	for _, row := range rows {
		if row.PGID != 0 {
			groups = append(groups, runner.Process{PID: row.PGID, PGID: row.PGID, Started: row.PStarted})
		}
	}
	ended, err := h.runner.EndLeftovers(ctx, h.tag(), groups)
	if err != nil {
		return fmt.Errorf("cannot end what an earlier host left running: %w", err)
	}
	for _, name := range ended {
		h.log.Warn("ended a command that an earlier host left running", "program", name)
	}
	return h.closeRows(rows)
}

// tidyLater closes the rows of an earlier host once the history can be read.
func (h *Host) tidyLater(ctx context.Context) {
	for {
		rows, err := h.history.Unfinished(ctx)
		if err == nil {
			rows = slices.DeleteFunc(rows, func(r history.Row) bool { return !r.Arrived.Before(h.started) }) // those are ours
			err = h.closeRows(rows)
		}
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(tidyAgain):
		}
	}
}

// tidyAgain is how long a host waits between looks at a history that cannot be
// read.
const tidyAgain = 2 * time.Second

func (h *Host) closeRows(rows []history.Row) error {
	for _, row := range rows {
		row.Ended = time.Now()
		if row.State == history.Waiting {
			row.State, row.Verdict, row.Reason = history.Denied, approval.VerdictDeny, approval.ReasonApprovalCancelled
			row.Sentence = "app ended"
		} else {
			row.State, row.Error = history.Done, "app ended"
		}
		if err := h.history.Put(row); err != nil {
			return fmt.Errorf("cannot close the row of a run that an earlier host left: %w", err)
		}
	}
	return nil
}
