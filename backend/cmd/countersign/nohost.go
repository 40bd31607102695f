package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"github.com/countersign-app/countersign/backend/agents/hook"
	"github.com/countersign-app/countersign/backend/agents/setup"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/proc"
)

const (
	// hostLook is how often a hook looks for a host that is there and does not
	// listen yet.
	hostLook = 100 * time.Millisecond
	// hostEnds is how long a host that hung up may take to let go of its lock.
	hostEnds = time.Second
)

// hostMissing reports whether an error says that there is no host, or that none was
// proven: it is the one place where that is decided. A refusal comes from a host,
// and who holds the lock and is silent, or was replaced, is there.
func hostMissing(err error) bool {
	var refused *ipc.Error
	return err != nil && !errors.As(err, &refused) && !isThere(err) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled)
}

// isThere reports whether an error says that a host is there and cannot be asked.
func isThere(err error) bool { return errors.Is(err, ipc.ErrSilent) || errors.Is(err, ipc.ErrReplaced) }

// decide asks the host. One that hung up may take a moment to let go of its lock;
// whoever holds it longer is there.
func (c *hookCommand) decide(ctx context.Context, call approval.ToolCall, askers []proc.ID) (o approval.Outcome, err error) {
	state, err := paths.Find(c.stateDir, os.Getenv)
	if err != nil {
		return o, err
	}
	for start := time.Now(); ; {
		o, err = askHost(ctx, state, call, askers)
		switch {
		case !hostMissing(err) || !ipc.Held(state.Lock()):
			return o, err
		case time.Since(start) > hostEnds:
			return o, fmt.Errorf("%w (%w)", ipc.ErrSilent, err)
		}
		select {
		case <-time.After(hostLook):
		case <-ctx.Done():
			return o, ctx.Err()
		}
	}
}

// undecided is the answer where the host gave none that counts. Where it is there
// and silent, or failed at the call, that is denied; else it is judged without it.
func (c *hookCommand) undecided(ctx context.Context, deadline time.Time, e hook.Event, input []byte, err error) hook.Answer {
	why := unanswered(err)
	var refused *ipc.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return e.Deny(approval.ReasonTimeout, why)
	case isThere(err):
		return e.Deny(approval.ReasonCompanion, why)
	case errors.Is(err, errHookFailed), errors.As(err, &refused) && refused.Reason == approval.ReasonInternal:
		return e.Deny(approval.ReasonInternal, why)
	}
	a, err := inTime(ctx, deadline, func(ctx context.Context) (hook.Answer, error) { return c.goOn(ctx, input, why) })
	if err != nil {
		return e.Deny(approval.ReasonCompanion, why+", and this cannot be judged without it: "+err.Error())
	}
	return a
}

// maxWhy bounds what a hook is told of why there is no host, in bytes.
const maxWhy = 1000

// goOn has the whole program judge the event without a host: a hook has no more in
// it than it needs to ask one.
func (c *hookCommand) goOn(ctx context.Context, input []byte, why string) (a hook.Answer, err error) {
	self, err := os.Executable()
	if err != nil {
		return a, err
	}
	words := []string{"hook", c.For, "--no-host=" + why[:min(len(why), maxWhy)]}
	if c.Agent != "" {
		words = append(words, "--agent="+c.Agent)
	}
	if c.stateDir != "" {
		words = append(words, "--state-dir="+c.stateDir)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, self, words...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &stdout, &stderr
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() == exitUsage { // with which input is refused
		return hook.Answer{Stdout: stdout.Bytes(), Stderr: stderr.String(), Code: exitUsage}, nil
	}
	return hook.Answer{Stdout: stdout.Bytes(), Stderr: stderr.String()}, err
}

// alone answers an event without a host: with a denial, or as if nobody could be
// asked, so that the agent asks by itself.
func (c *hookCommand) alone(ctx context.Context, e hook.Event, call approval.ToolCall) (hook.Answer, error) {
	home, err := paths.Home(os.Getenv)
	if err != nil {
		return hook.Answer{}, err
	}
	state, err := paths.Find(c.stateDir, os.Getenv)
	if err != nil {
		return hook.Answer{}, err
	}
	settings := setup.Env{Home: home, Getenv: os.Getenv}
	unasked := e.Unasked || call.JudgeOnly && settings.Unasked(c.For, e.Tool, call.Cwd)
	name, shell := host.Person()
	o, err := host.Alone(ctx, host.Options{
		State: state, Home: home, User: name, Shell: shell, Environ: os.Environ(), Programs: host.Neighbours(),
		Log: slog.New(slog.DiscardHandler),
	}, call, unasked)
	switch {
	case err != nil:
		return hook.Answer{}, err
	case o.Verdict == approval.VerdictDeny:
		return e.Reply(o, ""), nil
	}
	return e.Silent(c.NoHost), nil
}
