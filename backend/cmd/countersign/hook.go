package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/countersign-app/countersign/backend/agents/hook"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/rescue"
	"github.com/countersign-app/countersign/backend/store"
)

type hookCommands struct {
	hookSetupCommands
	Opencode hookOpencode `cmd:"" help:"Answer the permission requests of a running opencode, until this is ended. It has no hooks, and is followed with --url."`

	Run hookCommand `cmd:"" default:"withargs" help:"Answer the hook of an agent: read one event, have it judged and asked about, print what that agent understands."`
}

// hookCommand answers one event of an agent. Nothing but the answer is printed:
// the agent reads it.
type hookCommand struct {
	For     string        `arg:"" name:"name" help:"Which agent it is, such as claude-code or codex; generic for a program of your own."`
	Agent   string        `help:"Agent id (default: the name of the agent)." placeholder:"ID"`
	Timeout time.Duration `help:"How long the agent waits for its hook (default: as long as it does by itself)." placeholder:"D"`

	NoHost string `help:"Judge without a host, which is not there for this reason. Hooks start it." placeholder:"WHY" name:"no-host"`

	stateDir string // as it was given
}

const (
	// hookMargin is how long before its agent stops waiting a hook answers, at
	// most: of a short wait half is left.
	hookMargin = 2 * time.Second
	// hookWait is how long a hook waits at most. No question lives longer.
	hookWait = 24 * time.Hour
	maxID    = 200
)

// Run is the long way, for calls that shortHook leaves over.
func (c *hookCommand) Run(p *program) error {
	if err := c.check(); err != nil {
		return exit{exitUsage, err.Error()}
	}
	c.stateDir = p.state.Dir
	return exit{c.serve(p.ctx, time.Now()), ""}
}

// shortHook answers a hook without what other commands need at their start: an
// agent waits for every call that it makes. It reports false for all that is not
// just that, for the long way to take or to refuse.
func shortHook(args []string) (code int, ok bool) {
	start := time.Now()
	c, ok := hookWords(args)
	if !ok || c.check() != nil {
		return 0, false
	}
	return c.serve(context.Background(), start), true
}

// hookWords reads the words `hook NAME` with flags around them.
func hookWords(args []string) (c hookCommand, ok bool) {
	var words []string
	for len(args) > 0 {
		name, value, joined := strings.Cut(args[0], "=")
		if !strings.HasPrefix(name, "-") {
			words, args = append(words, args[0]), args[1:]
			continue
		}
		if !joined {
			if len(args) < 2 {
				return c, false
			}
			value, args = args[1], args[1:]
		}
		if args = args[1:]; !c.flag(name, value) {
			return c, false
		}
	}
	if len(words) != 2 || words[0] != "hook" {
		return c, false
	}
	c.For = words[1]
	return c, true
}

// flag takes one flag and reports whether it is one of ours.
func (c *hookCommand) flag(name, value string) bool {
	var err error
	switch name {
	case "--agent":
		c.Agent = value
	case "--no-host":
		c.NoHost = value
	case "--state-dir":
		c.stateDir = value
	case "--timeout":
		c.Timeout, err = time.ParseDuration(value)
	default:
		return false
	}
	return err == nil && value != "" && !strings.HasPrefix(value, "-")
}

func (c *hookCommand) check() error {
	if c.Timeout < 0 {
		return errors.New("--timeout must be positive")
	}
	if len(c.Agent) > maxID || strings.ContainsFunc(c.Agent, unicode.IsControl) {
		return errors.New("--agent must be a name of at most 200 bytes without control characters")
	}
	_, err := hook.Find(c.For)
	return err
}

// serve reads the event, prints the answer and returns the exit code.
func (c *hookCommand) serve(ctx context.Context, start time.Time) int {
	agent, err := hook.Find(c.For)
	if err != nil {
		return exitUsage
	}
	a := c.answer(ctx, agent, start)
	_, wrong := os.Stdout.Write(a.Stdout)
	_, _ = io.WriteString(os.Stderr, a.Stderr)
	if wrong != nil { // half an answer may mean anything
		return exitUsage
	}
	return a.Code
}

// answer makes the answer of an agent's hook, in time. Input that makes us panic
// is refused: many agents go on where their hook breaks.
func (c *hookCommand) answer(ctx context.Context, agent hook.Agent, start time.Time) (a hook.Answer) {
	defer rescue.Catch(hookLog(), "the input of a hook", func() { a = agent.Refuse(errHookFailed) })
	wait := agent.Capability.Timeout
	if c.Timeout > 0 {
		wait = c.Timeout
	}
	deadline := hookEnd(start, wait)
	input, err := inTime(ctx, deadline, readHookInput)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("it did not end in time")
	}
	if err != nil {
		return agent.Refuse(err)
	}
	e, err := agent.Read(input)
	if err != nil {
		return agent.Refuse(err)
	}
	if e.Ignored {
		return e.Silent("")
	}
	if asked := hookEnd(start, e.Timeout); e.Timeout > 0 && asked.Before(deadline) {
		deadline = asked
	}
	call := e.Call
	call.Deadline = deadline.UnixMilli()
	if c.Agent != "" {
		call.AgentID = c.Agent
	}
	if c.NoHost != "" {
		a, err := inTime(ctx, deadline, func(ctx context.Context) (hook.Answer, error) { return c.alone(ctx, e, call) })
		if err != nil {
			return e.Deny(approval.ReasonCompanion, c.NoHost+", and this cannot be judged without it: "+err.Error())
		}
		return a
	}
	o, err := inTime(ctx, deadline, func(ctx context.Context) (approval.Outcome, error) { return c.decide(ctx, call, nil) })
	if err != nil {
		return c.undecided(ctx, deadline, e, input, err)
	}
	return e.Reply(o, c.rewritten(call, o))
}

// hookEnd is when an answer is due whose agent waits for so long.
func hookEnd(start time.Time, wait time.Duration) time.Time {
	if wait <= 0 || wait > hookWait {
		wait = hookWait
	}
	return start.Add(wait - min(hookMargin, wait/2))
}

// inTime does something until a deadline, whatever it hangs on. What is not
// ready then ends with the process.
func inTime[T any](ctx context.Context, deadline time.Time, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		defer rescue.Catch(hookLog(), "a hook", func() { done <- result{err: errHookFailed} })
		value, err := do(ctx)
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// errHookFailed refuses what a mistake of ours made us fail at.
var errHookFailed = errors.New("Countersign failed at this: please report it")

// hookLog is for mistakes: what a hook writes to its standard error can reach the
// model, so it says where, and nothing else.
func hookLog() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

func readHookInput(context.Context) ([]byte, error) {
	input, err := io.ReadAll(io.LimitReader(os.Stdin, hook.MaxInput+1))
	if err == nil && len(input) > hook.MaxInput {
		err = hook.ErrTooLarge
	}
	return input, err
}

var errHookAnswer = errors.New("the host's answer cannot be read")

// askHost asks the host of a state folder. Its connection is this call's alone:
// when it closes, the question is withdrawn.
func askHost(ctx context.Context, state paths.State, call approval.ToolCall, askers []proc.ID) (o approval.Outcome, err error) {
	socket, err := store.ReadSocket(state.Approvals())
	if err != nil {
		return o, err
	}
	client, err := ipc.Dial(state, host.Neighbours()...)
	if err != nil {
		return o, err
	}
	defer client.Close()
	if err := client.NameAskers(ctx, socket.Token, call.AgentID, askers); err != nil {
		return o, err
	}
	err = client.Call(ctx, []byte(socket.Token), "tool.decide", call, &o)
	if err == nil && o.Verdict == approval.VerdictUnset {
		err = errHookAnswer
	}
	return o, err
}

// unanswered says why nobody could be asked.
func unanswered(err error) string {
	var refused *ipc.Error
	switch {
	case errors.As(err, &refused):
		return "the host of Countersign refused: " + strings.TrimSuffix(refused.Message, ".")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "nobody answered in time"
	case errors.Is(err, ipc.ErrSilent):
		return err.Error()
	case errors.Is(err, ipc.ErrAbsent), errors.Is(err, fs.ErrNotExist): // no policy, so no host ever
		return "Countersign is not running"
	case errors.Is(err, ipc.ErrReplaced):
		return "another version of Countersign was installed while it ran: restart Countersign"
	case errors.Is(err, ipc.ErrNoAnswer):
		return "the host of Countersign ended before it answered"
	}
	return "Countersign cannot be asked: " + err.Error()
}

// rewritten is the command line that runs what was allowed, "" for what the
// agent runs itself.
func (c *hookCommand) rewritten(call approval.ToolCall, o approval.Outcome) string {
	if call.Who != approval.Ours || o.Verdict != approval.VerdictAllow || o.Approved == "" {
		return ""
	}
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	argv := []string{exe}
	if c.stateDir != "" || os.Getenv("COUNTERSIGN_STATE_DIR") != "" {
		state, err := paths.Find(c.stateDir, os.Getenv)
		if err != nil {
			return ""
		}
		argv = append(argv, "--state-dir", state.Dir)
	}
	return command.Quote(append(argv, "run", "--approved", o.Approved))
}
