package host

import (
	"context"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/pending"
)

// Elicit is what `pending.own` returns: the question of a caller's tool call, and
// what its MCP client may answer to it, nothing where nobody switched that on.
type Elicit struct {
	Prompt  approval.Prompt     `json:"prompt"`
	Choices []approval.Decision `json:"choices"`
}

// pendingOwn waits until a question waits for the tool call that the caller gave
// this ticket.
func pendingOwn(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		Ticket string `json:"ticket"`
	}](c)
	if err != nil {
		return nil, err
	}
	for cursor := uint64(0); ctx.Err() == nil; {
		cursor, _ = h.pending.Watch(ctx, cursor)
		if p, ok := h.pending.Own(c.Peer, params.Ticket); ok {
			may := []approval.Decision{approval.DecisionDeny, approval.AllowOnce}
			return Elicit{p, slices.DeleteFunc(may, func(d approval.Decision) bool { return h.gate.MayElicit(p, d) != nil })}, nil
		}
	}
	return nil, ctx.Err()
}

// pendingElicited takes what the MCP client of an agent answered to the question
// of its own tool call.
func pendingElicited(h *Host, _ context.Context, c ipc.Call) (any, error) {
	said, err := decode[struct {
		ID       string            `json:"id"`
		Digest   string            `json:"digest"` // of the question as it was shown
		Ticket   string            `json:"ticket"`
		Decision approval.Decision `json:"decision"`
	}](c)
	if err != nil {
		return nil, err
	}
	p, ok := h.pending.Own(c.Peer, said.Ticket)
	if !ok {
		return nil, pending.ErrUnknown
	}
	if err := h.gate.MayElicit(p, said.Decision); err != nil {
		return nil, err
	}
	a := approval.Answer{Decision: said.Decision, By: approval.ByClient + display.Escape(p.AgentID)}
	if said.Decision == approval.DecisionDeny {
		a.Finding = approval.Finding{Reason: approval.ReasonUserDenied, Sentence: "the MCP client said no"}
	}
	return struct{}{}, h.pending.AnswerOwn(c.Peer, said.Ticket, said.ID, said.Digest, a)
}
