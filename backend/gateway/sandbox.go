package gateway

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/sandbox"
)

// inSandbox runs a command in the sandbox of its session. There the denylist, what
// the rules for tools refuse, and the floor of this machine hold, and nothing else
// of its policy.
func (p *peer) inSandbox(ctx context.Context, u *run, r route, q execParams) (outcome, error) {
	writable := p.configuration().Workspaces()
	dir, err := p.sandbox.Folder(*r.Sandbox, writable, q.Workdir)
	if err != nil {
		return outcome{}, boxed(err)
	}
	argv := q.Command.argv("")
	if q.Command.Text != "" {
		argv = []string{"/bin/sh", "-c", q.Command.Text} // no profile of a person is in there
	}
	if err := p.denylisted(ctx, u.key, argv, dir); err != nil {
		return outcome{}, err
	}
	// The history is the host's, which has no part in this: here is what is kept.
	p.opt.Log.Info("a command goes to a sandbox", "run", u.ID, "agent", u.key.Agent, "session", u.key.Session, "command", shortened(u.Command))
	got, err := p.sandbox.Run(ctx, *r.Sandbox, sandbox.Job{
		Session: u.key.String(), ID: u.ID, Writable: writable, Argv: argv, Dir: dir, Env: q.Env, Path: r.Path, Timeout: r.Timeout, Started: func() { u.told(p.Gateway, string(approval.EventStarted)) },
	})
	p.opt.Log.Info("a command in a sandbox ended", "run", u.ID, "exit", got.ExitCode, "timeout", got.TimedOut, "error", err)
	if err != nil {
		return outcome{}, boxed(err)
	}
	o := outcome{link.RunResult{TimedOut: got.TimedOut, Stdout: got.Stdout, Stderr: got.Stderr}}
	if !got.TimedOut {
		o.ExitCode, o.Success = &got.ExitCode, got.ExitCode == 0
	}
	return o, nil
}

// maxLogged is how much of a command is logged, in bytes.
const maxLogged = 1000

// shortened is a command as it may be logged: in one line, its secrets taken
// out before it is cut.
func shortened(command string) string {
	line := display.Line(command)
	return strings.ToValidUTF8(line[:min(len(line), maxLogged)], "")
}

// boxed is a problem of a sandbox as agents are told of it.
func boxed(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &link.Error{Code: link.CodeUnavailable, Message: err.Error(), Details: []byte(`{"reason":"sandbox"}`)}
}

// denylisted asks the exec host of this machine what forbids a command wherever it
// runs. No answer is no yes.
func (p *peer) denylisted(ctx context.Context, key sessionID, argv []string, dir string) error {
	var found approval.Finding
	err := p.road.Call(ctx, "denylist", map[string]any{"command": argv, "cwd": dir, "agentId": key.Agent, "sessionKey": key.Session}, &found)
	if err != nil || found.Reason == approval.ReasonNone {
		return err
	}
	return &link.Error{Code: link.CodeUnavailable, Message: "SYSTEM_RUN_DENIED: " + found.Sentence, Details: []byte(`{"reason":"` + string(found.Reason) + `"}`)}
}

// sweepTime is how long the engines may take to tell what an earlier life of
// this gateway left.
const sweepTime = time.Minute

// sweep removes the sandboxes that an earlier life of this gateway could not
// remove.
func (g *Gateway) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	g.sandbox.Sweep(ctx, g.configuration().Engines())
}
