package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/link"
)

// execParams are those of exec.run.
type execParams struct {
	// Command is a text for the shell, or a list of words that needs none.
	Command    words             `json:"command"`
	Workdir    string            `json:"workdir"`
	Env        map[string]string `json:"env"`
	Host       approval.Host     `json:"host"`
	Security   approval.Security `json:"security"`
	Ask        approval.Ask      `json:"ask"`
	Node       string            `json:"node"`
	Timeout    float64           `json:"timeout"` // seconds
	Background bool              `json:"background"`
	sessionParams
}

// words is a command: what runs, and whether a shell reads it.
type words struct {
	Argv []string
	Text string // for the shell; empty if there is none
}

func (w *words) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, &w.Argv)
	}
	return json.Unmarshal(text, &w.Text)
}

// argv is the command as a machine of a platform runs it.
func (w words) argv(platform string) []string {
	switch {
	case w.Text == "":
		return w.Argv
	case plain(platform) == "windows":
		return []string{"cmd.exe", "/d", "/s", "/c", w.Text}
	case plain(platform) == "macos":
		return []string{"/bin/sh", "-c", w.Text}
	}
	return []string{"/bin/sh", "-lc", w.Text}
}

func (w words) String() string {
	if w.Text != "" {
		return w.Text
	}
	return strings.Join(w.Argv, " ")
}

const (
	// maxTimeout is the longest time that a command may run.
	maxTimeout = config.MaxTimeout
	// asking is how long a person may take to answer, and grace what an answer may
	// take to come back.
	asking = 10 * time.Minute
	grace  = 10 * time.Second
)

// timeout is how long the command may run: what the call says, but not longer
// than what is configured.
func (q *execParams) timeout(most time.Duration) (time.Duration, error) {
	switch {
	case q.Timeout == 0:
		return most, nil
	case math.IsNaN(q.Timeout) || q.Timeout < 0.001 || q.Timeout > maxTimeout.Seconds():
		return 0, link.Refuse(link.CodeInvalid, "invalid params: timeout must be from 0.001 to %.0f seconds", maxTimeout.Seconds())
	}
	return min(time.Duration(q.Timeout*float64(time.Second)), most), nil
}

// execRun runs a command of an agent where it belongs.
func execRun(p *peer, ctx context.Context, params json.RawMessage) (any, error) {
	var q execParams
	if err := read(params, &q); err != nil {
		return nil, err
	}
	key, err := q.key()
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(q.Command.String()) == "" {
		return nil, link.Refuse(link.CodeInvalid, "invalid params: command is missing")
	}
	r, err := resolve(p.configuration().For(key.Agent), p.sessions.settings(key), config.Override{Host: q.Host, Security: q.Security, Ask: q.Ask, Node: q.Node})
	if err != nil {
		return nil, err
	}
	if err := r.denied(); err != nil {
		return nil, err
	}
	if r.Timeout, err = q.timeout(r.Timeout); err != nil {
		return nil, err
	}
	u := &run{ID: uuid.NewString(), key: key, Host: r.Host, Command: q.Command.String(), loud: q.Background}
	start, err := p.starter(u, r, q)
	if err != nil {
		return nil, err
	}
	if q.Background {
		ctx = context.WithoutCancel(ctx)
	}
	if err := p.runs.begin(ctx, u, p.Gateway, start); err != nil {
		return nil, err
	}
	if q.Background {
		return u.view(), nil
	}
	<-u.done
	if err := u.refused(); err != nil {
		return nil, err
	}
	return u.result(), nil
}

// starter is the way to the host of a route. It returns what came of the
// command; an error says that it did not run.
func (p *peer) starter(u *run, r route, q execParams) (func(context.Context) (outcome, error), error) {
	switch r.Host {
	case approval.HostNode:
		n, err := choose(r.Node, r.Bound, p.known())
		if err != nil {
			return nil, err
		}
		node := p.node(n.ID)
		if node == nil {
			return nil, errNodeGone
		}
		if err := r.heeded(node); err != nil {
			return nil, err
		}
		u.NodeID = n.ID
		return func(ctx context.Context) (outcome, error) { return p.onNode(ctx, node, u, r, q) }, nil
	case approval.HostGateway:
		return func(ctx context.Context) (outcome, error) { return p.onGateway(ctx, u, r, q) }, nil
	}
	if r.Sandbox == nil {
		return nil, link.Refuse(link.CodeUnavailable, "no sandbox is configured here, and nothing runs outside of it instead: name another host, or set tools.exec.sandbox in gateway.json5")
	}
	return func(ctx context.Context) (outcome, error) { return p.inSandbox(ctx, u, r, q) }, nil
}

// outcome is what came of a command.
type outcome struct{ link.RunResult }

// onNode has a node run a command.
func (p *peer) onNode(ctx context.Context, node *peer, u *run, r route, q execParams) (outcome, error) {
	asked := link.RunParams{
		Command: q.Command.argv(node.device.Platform), Cwd: q.Workdir, Env: q.Env, TimeoutMs: max(r.Timeout.Milliseconds(), 1),
		AgentID: u.key.Agent, SessionKey: u.key.Session, RunID: u.ID, SuppressNotify: !u.loud, Security: r.Security, Ask: r.Ask,
	}
	payload, err := p.invoke(ctx, node, call{
		Command: link.CommandRun, Params: asked, Timeout: r.Timeout + asking + grace, SessionKey: u.key.Session, Progress: func(state string) { u.told(p.Gateway, state) },
	})
	if err != nil {
		return outcome{}, err
	}
	var o outcome
	if err := json.Unmarshal(payload, &o); err != nil {
		return outcome{}, link.Refuse(link.CodeUnavailable, "the answer of the node cannot be read")
	}
	return o, nil
}

// onGateway has the exec host of this machine run a command.
func (p *peer) onGateway(ctx context.Context, u *run, r route, q execParams) (outcome, error) {
	x := ipc.Exec{Request: approval.Request{
		Who: approval.Ours, Command: q.Command.argv(""), Cwd: q.Workdir, Env: q.Env, Timeout: r.Timeout, AgentID: u.key.Agent, SessionKey: u.key.Session,
		Deadline: time.Now().Add(r.Timeout + asking + grace), Claim: approval.Claim{Security: r.Security, Ask: r.Ask},
		Progress: func(state approval.EventKind) { u.told(p.Gateway, string(state)) },
	}}
	ctx, cancel := context.WithDeadline(ctx, x.Request.Deadline)
	defer cancel()
	a, err := p.road.Exec(ctx, x)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{link.RunResult{ExitCode: a.ExitCode, TimedOut: a.TimedOut, Success: a.Success, Stdout: a.Stdout, Stderr: a.Stderr}}
	if a.Error != "" {
		o.Error = &a.Error
	}
	return o, nil
}

// sanitize is what a node is told of a system.run that an operator invokes
// itself: what belongs there, and as much caution as is configured for the
// agent. What it says of approvals is what was answered, or nothing.
func (p *peer) sanitize(node *peer, params json.RawMessage) (link.RunParams, error) {
	var asked link.RunParams
	if err := read(params, &asked); err != nil {
		return asked, err
	}
	asked.Decision, asked.Source, asked.Operator = "", "", ""
	if len(asked.Command) == 0 {
		return asked, link.Refuse(link.CodeInvalid, "MISSING_COMMAND: command required")
	}
	if err := p.approved(node, params, &asked); err != nil {
		return asked, err
	}
	key, err := sessionParams{asked.AgentID, asked.SessionKey}.key()
	if err != nil {
		return asked, err
	}
	r, err := resolve(p.configuration().For(key.Agent), p.sessions.settings(key), config.Override{Security: asked.Security, Ask: asked.Ask})
	if err != nil {
		return asked, err
	}
	r.Host = approval.HostNode
	asked.Security, asked.Ask = r.Security, r.Ask
	if err := r.denied(); err != nil {
		return asked, err
	}
	return asked, r.heeded(node)
}

// errReason is why a command did not run, as events name it.
func errReason(err error) string {
	var ours *ipc.Error
	var theirs *link.Error
	switch {
	case errors.As(err, &ours):
		return string(ours.Reason)
	case errors.As(err, &theirs):
		var d struct {
			Reason string `json:"reason"`
		}
		if json.Unmarshal(theirs.Details, &d) == nil && d.Reason != "" {
			return d.Reason
		}
		return theirs.Message
	}
	return refusal(err).Message
}
