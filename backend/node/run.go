package node

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/link"
)

// command is one system.run.
type command struct{ link.RunParams }

// systemRun has the exec host judge, ask and run, and tells the gateway's
// session how it ended.
func systemRun(n *Node, ctx context.Context, i invocation, params []byte) (any, error) {
	var p command
	if err := read(params, &p.RunParams); err != nil {
		return nil, err
	}
	if p.RunID == "" {
		p.RunID = uuid.NewString()
	}
	x, err := p.exec(n.gateway)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		x.Request.Deadline = deadline
	}
	var started atomic.Bool
	tell := n.outbox.put
	if p.SuppressNotify { // its session would be told nothing of it
		tell = func(string, any) {}
	}
	x.Request.Progress = func(state approval.EventKind) {
		i.progress(state)
		if state == approval.EventStarted && started.CompareAndSwap(false, true) {
			tell("exec.started", p.event())
		}
	}
	answer, err := n.road.Exec(ctx, x)
	var refused *ipc.Error
	switch {
	case err != nil && !errors.As(err, &refused) && !started.CompareAndSwap(false, true): // it ran, and was ended or lost
		a := ipc.ExecAnswer{TimedOut: errors.Is(ctx.Err(), context.DeadlineExceeded)}
		if ctx.Err() == nil {
			a.Error = "the host ended while this ran"
		}
		tell("exec.finished", p.finished(a))
		return nil, err
	case err != nil:
		tell("exec.denied", p.denied(err))
		return nil, err
	}
	if started.CompareAndSwap(false, true) { // it was over before that was told
		tell("exec.started", p.event())
	}
	tell("exec.finished", p.finished(answer))
	r := link.RunResult{ExitCode: answer.ExitCode, TimedOut: answer.TimedOut, Success: answer.Success, Stdout: answer.Stdout, Stderr: answer.Stderr}
	if answer.Error != "" {
		r.Error = &answer.Error
	}
	return r, nil
}

// exec is the request as the local socket takes it, from a gateway.
func (p *command) exec(gateway string) (ipc.Exec, error) {
	x := ipc.Exec{Request: approval.Request{
		Who: approval.Ours, Command: p.Command, RawCommand: p.RawCommand, Cwd: p.Cwd, Env: p.Env,
		Timeout: time.Duration(p.TimeoutMs) * time.Millisecond, NeedsScreenRecording: p.NeedsScreenRecording,
		AgentID: p.AgentID, SessionKey: p.SessionKey,
		Claim: approval.Claim{Decision: p.Decision, Source: p.Source, Security: p.Security, Ask: p.Ask},
	}}
	if len(p.Plan) > 0 {
		if err := read(p.Plan, &x.Request.Prepared); err != nil { // null is none
			return x, err
		}
	}
	if plan := x.Request.Prepared; plan != nil && plan.Policy != nil {
		x.PolicySnapshot, _ = json.Marshal(plan.Policy) // it was read from JSON
	}
	c := &x.Request.Claim
	if c.Decision != "" {
		c.Gateway, c.Operator = gateway, p.Operator
	}
	if x.PolicySnapshot == nil { // a grant that names no policy says nothing
		if c.Decision != approval.DecisionDeny {
			c.Decision = ""
		}
		if c.Source == "auto-review" {
			c.Source = ""
		}
	}
	return x, nil
}

// execEvent is what a session is told about a run.
type execEvent struct {
	SessionKey     string `json:"sessionKey"`
	RunID          string `json:"runId"`
	Host           string `json:"host"`
	Command        string `json:"command"`
	ExitCode       *int   `json:"exitCode,omitempty"`
	TimedOut       bool   `json:"timedOut,omitempty"`
	Success        bool   `json:"success,omitempty"`
	Output         string `json:"output,omitempty"`
	Reason         string `json:"reason,omitempty"`
	SuppressNotify bool   `json:"suppressNotifyOnExit,omitempty"`
}

func (p *command) event() execEvent {
	command := p.RawCommand
	if command == "" {
		command = strings.Join(p.Command, " ")
	}
	return execEvent{SessionKey: p.SessionKey, RunID: p.RunID, Host: string(approval.HostNode), Command: command, SuppressNotify: p.SuppressNotify}
}

func (p *command) finished(a ipc.ExecAnswer) execEvent {
	e := p.event()
	e.ExitCode, e.TimedOut, e.Success = a.ExitCode, a.TimedOut, a.Success
	parts := slices.DeleteFunc([]string{a.Stdout, a.Stderr, a.Error}, func(s string) bool { return s == "" })
	e.Output = tail(strings.TrimSpace(strings.Join(parts, "\n")))
	return e
}

// reasons are those that gateways know; every other one is told as
// approval-required.
var reasons = []approval.Reason{
	"security=deny", approval.ReasonApprovalRequired, "allowlist-miss", "execution-plan-miss", approval.ReasonCompanion, "cwd-unavailable", "permission:screenRecording",
}

func (p *command) denied(err error) execEvent {
	e := p.event()
	e.Reason = string(approval.ReasonApprovalRequired)
	var refused *ipc.Error
	switch {
	case errors.As(err, &refused) && slices.Contains(reasons, refused.Reason):
		e.Reason = string(refused.Reason)
	case !errors.As(err, &refused) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded):
		e.Reason = string(approval.ReasonCompanion)
	}
	return e
}

// maxTail is how much of an output an event carries, in characters.
const maxTail = 20_000

const cut = "... (truncated) "

// tail is the end of a text.
func tail(text string) string {
	runes := []rune(text)
	if len(runes) <= maxTail {
		return text
	}
	return cut + string(runes[len(runes)-maxTail+len(cut):])
}

// systemPrepare says what a command is now, for an approval that is given
// elsewhere.
func systemPrepare(n *Node, ctx context.Context, _ invocation, params []byte) (any, error) {
	var p link.RunParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	var plan approval.Prepared
	err := n.road.Call(ctx, "prepare", map[string]any{
		"command": p.Command, "cwd": p.Cwd, "env": p.Env, "agentId": p.AgentID, "sessionKey": p.SessionKey,
	}, &plan)
	if err != nil {
		return nil, err
	}
	// Nothing that a gateway remembers lets anything run here.
	return map[string]any{
		"plan": plan, "execPolicy": plan.Policy,
		"allowAlwaysCoverage": map[string]any{"complete": false, "patterns": []string{}},
	}, nil
}

// approvalsGet tells the policy of this machine, and approvalsSet proposes
// another one. What that loosens waits for the person.
func approvalsGet(n *Node, ctx context.Context, _ invocation, _ []byte) (any, error) {
	var file host.PolicyFile
	return &file, n.road.Call(ctx, "policy.file", struct{}{}, &file)
}

func approvalsSet(n *Node, ctx context.Context, _ invocation, params []byte) (any, error) {
	var p struct {
		File     json.RawMessage `json:"file"`
		BaseHash string          `json:"baseHash"`
	}
	if err := read(params, &p); err != nil {
		return nil, err
	}
	var file host.PolicyFile
	return &file, n.road.Call(ctx, "policy.propose", p, &file)
}

// systemWhich finds programs as the exec host would.
func systemWhich(n *Node, ctx context.Context, _ invocation, params []byte) (any, error) {
	var p struct {
		Bins []string `json:"bins"`
	}
	if err := read(params, &p); err != nil {
		return nil, err
	}
	var found struct {
		Bins map[string]string `json:"bins"`
	}
	if err := n.road.Call(ctx, "which", p, &found); err != nil {
		return nil, err
	}
	return found, nil
}
