package host

import (
	"context"
	"errors"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
)

func explain(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	req, err := supposed(c)
	if err != nil {
		return nil, err
	}
	return h.Explain(ctx, req)
}

// denylist tells what forbids a command that is to run in a sandbox: the floor, the
// denylist, and what the rules for tools refuse.
func denylist(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	req, err := supposed(c)
	if err != nil {
		return nil, err
	}
	return h.gate.Judge().Denylisted(ctx, req)
}

func prepare(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	req, err := supposed(c)
	if err != nil {
		return nil, err
	}
	return h.gate.Judge().Prepare(ctx, req)
}

// supposed is a request that is only spoken of.
func supposed(c ipc.Call) (approval.Request, error) {
	params, err := decode[struct {
		Command    []string          `json:"command"`
		Cwd        string            `json:"cwd"`
		Env        map[string]string `json:"env"`
		AgentID    string            `json:"agentId"`
		SessionKey string            `json:"sessionKey"`
	}](c)
	if why := ipc.Unrunnable(params.Command); err == nil && why != "" {
		err = errors.New(why)
	}
	return approval.Request{
		Command: params.Command, Cwd: params.Cwd, Env: params.Env,
		AgentID: params.AgentID, SessionKey: params.SessionKey, Who: approval.Ours,
	}, err
}

// Explanation is what `explain` returns.
type Explanation struct {
	Plan      approval.Plan      `json:"plan"`
	Judgement approval.Judgement `json:"judgement"`
}
