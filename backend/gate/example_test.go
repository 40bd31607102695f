package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/gate"
)

// tools is an orchestrator's own registry of tools.
type tools struct{}

func (tools) Call(_ context.Context, call approval.ToolCall) (json.RawMessage, error) {
	return json.RawMessage(`"called ` + call.Tool + `"`), nil
}

// An orchestrator written in Go puts the gate before its registry: what the gate does
// not allow is never called, and the error has the receipt for the agent.
func ExampleGate_Wrap() {
	call := func(g *gate.Gate) {
		registry := g.Wrap(tools{})
		result, err := registry.Call(context.Background(), approval.ToolCall{Server: "files", Tool: "read_file", Args: json.RawMessage(`{"path":"a"}`)})
		if denied := (*gate.DeniedError)(nil); errors.As(err, &denied) {
			fmt.Println(denied.Receipt.Reason, denied.Receipt.Message)
			return
		}
		fmt.Println(string(result), err)
	}
	_ = call
}
