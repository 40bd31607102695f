package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
)

// toolDecide judges a tool call of an agent, and asks a person if that is due.
// The caller makes the call itself.
func toolDecide(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	call, err := decode[approval.ToolCall](c)
	if err != nil {
		return nil, err
	}
	if call.Ticket != "" {
		if err := approval.CheckTicket(call.Ticket); err != nil {
			return nil, err
		}
	}
	return h.gate.Evaluate(ctx, call, c.Peer)
}

// toolExplain judges a tool call as toolDecide does, and neither asks nor records
// anything.
func toolExplain(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	call, err := decode[approval.ToolCall](c)
	if err != nil {
		return nil, err
	}
	plan, judgement, err := h.gate.Judge().ExplainTool(ctx, call, c.Peer)
	return Explanation{plan, judgement}, err
}

// maxToolNames bounds how many tools one list has.
const maxToolNames = 2000

// toolsDenied tells which tools of a server an agent may not call whatever it
// tells them, so that a list can leave them out.
func toolsDenied(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		Server     string   `json:"server"`
		Tools      []string `json:"tools"`
		AgentID    string   `json:"agentId"`
		SessionKey string   `json:"sessionKey"`
	}](c)
	if err != nil {
		return nil, err
	}
	if len(params.Tools) > maxToolNames {
		return nil, fmt.Errorf("the list has more than %d tools", maxToolNames)
	}
	denied := []string{}
	for _, name := range params.Tools {
		if h.gate.Judge().DeniesTool(params.AgentID, params.SessionKey, params.Server, name) {
			denied = append(denied, name)
		}
	}
	return struct {
		Denied []string `json:"denied"`
	}{denied}, nil
}

// Ran is what `approved.run` returns: what came of the command, or why it did
// not run.
type Ran struct {
	ExitCode *int       `json:"exitCode"`
	TimedOut bool       `json:"timedOut,omitempty"`
	Success  bool       `json:"success"`
	Stdout   string     `json:"stdout"`
	Stderr   string     `json:"stderr"`
	Error    string     `json:"error,omitempty"`
	Refused  *ipc.Error `json:"refused,omitempty"`
	// Receipt says what was judged and answered.
	Receipt *approval.Receipt `json:"receipt,omitempty"`
}

// approvedRun runs what was allowed under an id. It ends with its caller.
func approvedRun(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		ID string `json:"id"`
	}](c)
	if err != nil {
		return nil, err
	}
	if params.ID == "" {
		return nil, errors.New("id is missing")
	}
	result := h.gate.RunApproved(ctx, params.ID)
	a := answerOf(result)
	receipted(&a, result)
	return Ran{a.ExitCode, a.TimedOut, a.Success, a.Stdout, a.Stderr, a.Error, a.Refused, a.Receipt}, nil
}
