package host

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/store"
)

// Policy is what `policy.get` returns.
type Policy struct {
	Hash   string          `json:"hash"`
	Broken string          `json:"broken,omitempty"`
	Held   []string        `json:"held,omitempty"`
	Agents []string        `json:"agents"`
	Policy approval.Policy `json:"policy"`
}

func policyGet(h *Host, _ context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		AgentID string `json:"agentId"`
	}](c)
	if err != nil {
		return nil, err
	}
	snap := h.store.Snapshot()
	p := Policy{Hash: snap.Hash, Policy: snap.Policy(params.AgentID)}
	if snap.Document != nil {
		p.Agents = slices.Sorted(maps.Keys(snap.Document.Agents))
	}
	if snap.Broken != nil {
		p.Broken = snap.Broken.Error()
	}
	if snap.Held != nil {
		p.Held = snap.Held.Loosens
	}
	return p, nil
}

func policySet(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		AgentID  string `json:"agentId"`
		Field    string `json:"field"`
		Value    string `json:"value"`
		BaseHash string `json:"baseHash"`
	}](c)
	if err != nil {
		return nil, err
	}
	return h.update(ctx, c, params.BaseHash, func(d *store.Document) error {
		return d.Set(params.AgentID, params.Field, params.Value)
	})
}

var (
	errOtherEdit = errors.New("this is not the edit that waits now: look at that one with `countersign policy accept`")
	// errNoEdit comes before anybody is asked: there is nothing to say yes to.
	errNoEdit = &ipc.Error{Code: ipc.CodeNothing, Message: store.ErrNoEdit.Error(), Reason: approval.ReasonInvalid}
)

func policyAccept(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		Hash string `json:"hash"`
	}](c)
	if err != nil {
		return nil, err
	}
	held := h.store.Current().Held
	switch {
	case held == nil:
		return nil, errNoEdit
	case held.Hash != params.Hash:
		return nil, errOtherEdit
	}
	d := difference{lines: h.tightened.lines(held.Lines, h.makerOf(c), time.Now()), inForce: true, result: params.Hash}
	how, err := h.person(ctx, c, d)
	if err != nil {
		return nil, err
	}
	before := h.store.Snapshot().Document
	if err := h.AcceptEdit(params.Hash); errors.Is(err, store.ErrChanged) {
		return nil, errOtherEdit
	} else if err != nil {
		return nil, err
	}
	h.accepted(how, before, h.store.Snapshot().Document)
	return struct{}{}, nil
}

func policyReject(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	held := h.store.Current().Held
	if held == nil {
		return nil, errNoEdit
	}
	// What was accepted before may be looser than what holds now.
	lines := sentences("Puts the policy that was accepted last in the place of the edit that waits")
	d := difference{lines: append(lines, h.tightened.lines(held.Back, h.makerOf(c), time.Now())...), result: held.Hash}
	if _, err := h.person(ctx, c, d); err != nil {
		return nil, err
	}
	if err := h.store.Reject(held.Hash); errors.Is(err, store.ErrChanged) {
		return nil, errOtherEdit
	} else if err != nil {
		return nil, err
	}
	return struct{}{}, nil
}
