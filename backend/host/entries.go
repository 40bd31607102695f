package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/store"
)

// Entries is what `entries.list` returns.
type Entries struct {
	// Entries are those in force, by agent.
	Entries map[string][]approval.Entry `json:"entries"`
	// Held says what an edit that waits would permit.
	Held []string `json:"held,omitempty"`
}

// EntriesOf are the entries of one state of the policy.
func EntriesOf(snap store.Snapshot) Entries {
	e := Entries{Entries: snap.Entries()}
	if snap.Held != nil {
		e.Held = snap.Held.Loosens
	}
	return e
}

func entriesList(h *Host, _ context.Context, _ ipc.Call) (any, error) {
	return EntriesOf(h.store.Snapshot()), nil
}

func entriesAdd(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		AgentID  string             `json:"agentId"`
		Entry    *approval.Entry    `json:"entry"`
		Deny     *approval.DenyRule `json:"deny"`
		BaseHash string             `json:"baseHash"`
	}](c)
	if err != nil {
		return nil, err
	}
	switch {
	case params.Deny != nil && params.Entry == nil:
		return h.update(ctx, c, params.BaseHash, func(d *store.Document) error {
			d.Deny(params.AgentID, *params.Deny)
			return nil
		})
	case params.Entry != nil && params.Deny == nil:
		entry := *params.Entry
		entry.AddedAt = time.Now().UnixMilli()
		RecordIdentity(&entry, h.opt.Home)
		return h.update(ctx, c, params.BaseHash, func(d *store.Document) error {
			d.Add(params.AgentID, entry)
			return nil
		})
	}
	return nil, errors.New("cannot add: give either an entry or a deny rule")
}

func entriesRemove(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		AgentID  string `json:"agentId"`
		Which    string `json:"which"` // id or pattern
		BaseHash string `json:"baseHash"`
	}](c)
	if err != nil {
		return nil, err
	}
	return h.update(ctx, c, params.BaseHash, func(d *store.Document) error {
		if len(d.Remove(params.AgentID, params.Which)) == 0 {
			return fmt.Errorf("no entry %s for agent %s: see `countersign approvals list`", display.Escape(params.Which), display.Escape(params.AgentID))
		}
		return nil
	})
}
