package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/pending"
)

func pendingList(h *Host, _ context.Context, _ ipc.Call) (any, error) { return h.pending.List(), nil }

// Watch is what `pending.watch` returns: all waiting questions, and the
// cursor to ask with for the next change.
type Watch struct {
	Cursor  uint64            `json:"cursor"`
	Waiting []approval.Prompt `json:"waiting"`
}

// watchLimit is how long a watch waits for a change before it returns what
// is there.
const watchLimit = 10 * time.Minute

func pendingWatch(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		Cursor uint64 `json:"cursor"`
	}](c)
	if err != nil {
		return nil, err
	}
	if c.Operator {
		defer h.askers.look()()
	}
	ctx, cancel := context.WithTimeout(ctx, watchLimit)
	defer cancel()
	cursor, waiting := h.pending.Watch(ctx, params.Cursor)
	return Watch{cursor, waiting}, nil
}

func pendingAnswer(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		ID       string            `json:"id"`
		Digest   string            `json:"digest"` // of the question as it was shown
		Count    int               `json:"count"`  // how many requests were shown with it
		Decision approval.Decision `json:"decision"`
		Note     string            `json:"note"`
		Choice   approval.Choice   `json:"choice"`
		For      string            `json:"for"` // of a denial, see denyLife
	}](c)
	if err != nil {
		return nil, err
	}
	if params.Decision == approval.DecisionUnset {
		return nil, errors.New("cannot answer: decision is missing")
	}
	by := bySignature
	if params.Decision != approval.DecisionDeny {
		if params.For != "" {
			return nil, errors.New("cannot answer: only a denial has how long it stands")
		}
		p, _, ok := h.pending.Find(params.ID)
		if !ok {
			return nil, pending.ErrUnknown
		}
		if by, err = h.person(ctx, c, difference{lines: sentences(answerLines(p, params.Decision, params.Choice)...)}); err != nil {
			return nil, err
		}
	}
	if c.Peer.PID == os.Getpid() {
		by = byTerminal
	}
	a := approval.Answer{Decision: params.Decision, By: by, Note: params.Note, Choice: params.Choice}
	if a.Decision == approval.DecisionDeny {
		return h.denied(params.ID, a, params.For)
	}
	if err := h.Answer(params.ID, pending.Shown{Digest: params.Digest, Count: params.Count}, a); err != nil {
		return nil, fmt.Errorf("cannot answer %s: %w", display.Escape(params.ID), err)
	}
	return struct{}{}, nil
}

// Escalated is what the operators of a gateway answered to a question whose turn
// came to them.
type Escalated struct {
	ID       string            `json:"id"`
	Digest   string            `json:"digest"` // of the question as they were shown it
	Count    int               `json:"count"`
	Gateway  string            `json:"gateway"`            // HOST:PORT
	Operator string            `json:"operator,omitempty"` // who answered there, as the gateway tells
	Decision approval.Decision `json:"decision"`
}

func pendingEscalated(h *Host, _ context.Context, c ipc.Call) (any, error) {
	said, err := decode[Escalated](c)
	if err != nil {
		return nil, err
	}
	p, _, ok := h.pending.Find(said.ID)
	if !ok {
		return nil, pending.ErrUnknown
	}
	if err := h.gate.MayAnswer(p, said.Gateway, said.Decision); err != nil {
		return nil, err
	}
	a := approval.Answer{Decision: said.Decision, By: gate.ByGateway(said.Gateway, said.Operator), Remote: true}
	return struct{}{}, h.pending.Answer(said.ID, pending.Shown{Digest: said.Digest, Count: said.Count}, a)
}

func pendingHold(h *Host, _ context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		ID string `json:"id"`
		On bool   `json:"on"`
	}](c)
	if err != nil {
		return nil, err
	}
	if err := h.pending.Hold(params.ID, params.On); err != nil {
		return nil, fmt.Errorf("cannot hold %s: %w", display.Escape(params.ID), err)
	}
	return struct{}{}, nil
}
