package gate

import (
	"context"
	"encoding/json"

	"github.com/countersign-app/countersign/backend/approval"
)

// Registry makes calls of tools. It is what an orchestrator has before it has a
// gate.
type Registry interface {
	Call(ctx context.Context, call approval.ToolCall) (json.RawMessage, error)
}

// DeniedError says that a call was not made, with the receipt for the agent.
type DeniedError struct{ Receipt approval.Receipt }

func (e *DeniedError) Error() string { return e.Receipt.Message }

// Wrap returns the registry with the gate before it: what the gate does not
// allow is not called, and its error is a *DeniedError.
func (g *Gate) Wrap(r Registry) Registry { return wrapped{g, r} }

type wrapped struct {
	gate     *Gate
	registry Registry
}

func (w wrapped) Call(ctx context.Context, call approval.ToolCall) (json.RawMessage, error) {
	call.Who, call.JudgeOnly = approval.Theirs, false // the registry makes it, and a question is no yes
	o, err := w.gate.Evaluate(ctx, call, approval.Peer{})
	if err != nil {
		return nil, err
	}
	if o.Verdict != approval.VerdictAllow {
		return nil, &DeniedError{o.Receipt}
	}
	return w.registry.Call(ctx, call)
}
