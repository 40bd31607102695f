package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"time"

	"github.com/countersign-app/countersign/backend/agents/hook"
)

const (
	// patience is how long a self-test waits for a hook before it says that the
	// agent would wait.
	patience = 5 * time.Second
	// maxAnswer bounds what is read of a hook, in bytes.
	maxAnswer = 1 << 20
)

// Trial is a self-test: what an agent would do with a harmless command, event
// by event.
type Trial struct {
	Agent string `json:"agent"`
	Title string `json:"title"`
	// Live is with the host as it is now, and Gone with none.
	Live []Answer `json:"live,omitempty"`
	Gone []Answer `json:"gone,omitempty"`
	// Note says why there is none.
	Note string `json:"note,omitempty"`
}

// Answer is what one event came to.
type Answer struct {
	Event string `json:"event"`
	Would Would  `json:"would"`
	// Code is how the hook ended, -1 where it did not.
	Code int `json:"code"`
	// Millis is how long it took.
	Millis int64 `json:"millis"`
}

// Try starts e.Program as the agent would start its hook, with a harmless
// command to judge, and tells what the agent would make of its answer. What
// stands in the settings file is not started: anybody could have written it.
// With a host that has to ask, a question appears.
func Try(ctx context.Context, e Env, agent string) (Trial, error) {
	t, a, err := find(agent)
	if err != nil {
		return Trial{}, err
	}
	trial := Trial{Agent: agent, Title: a.Title}
	if t.handler == nil {
		trial.Note = t.advice
		return trial, nil
	}
	nowhere, err := os.MkdirTemp("", "countersign-self-test-")
	if err != nil {
		return trial, err
	}
	defer os.RemoveAll(nowhere)
	gone := e
	gone.State.Dir = nowhere
	for _, ev := range t.events {
		for _, one := range []struct {
			env  Env
			list *[]Answer
		}{{gone, &trial.Gone}, {e, &trial.Live}} {
			limited, cancel := context.WithTimeout(ctx, patience)
			answer, err := one.env.try(limited, t, a, ev)
			cancel()
			if err != nil {
				return trial, err
			}
			*one.list = append(*one.list, answer)
		}
	}
	return trial, nil
}

// try runs the hook once. It is taken to wait when ctx ends first.
func (e Env) try(ctx context.Context, t target, a hook.Agent, ev event) (Answer, error) {
	c, err := e.call(t, a.Capability)
	if err != nil {
		return Answer{}, err
	}
	argv := c.argv
	if !t.exec() {
		argv = []string{"/bin/sh", "-c", "exec " + c.line} // so that the hook is what is ended
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = e.Home
	cmd.Stdin = bytes.NewReader(sample(t.agent, ev.name, e.Home))
	stdout := &limited{left: maxAnswer}
	cmd.Stdout = stdout
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Second
	start := time.Now()
	err = cmd.Run()
	answer := Answer{Event: ev.name, Millis: time.Since(start).Milliseconds()}
	if ctx.Err() != nil {
		answer.Code, answer.Would = -1, Wait
		return answer, nil
	}
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		answer.Code, answer.Would = -1, broken(ev, a.Capability)
		return answer, nil
	}
	answer.Code = cmd.ProcessState.ExitCode()
	answer.Would = would(ev, a.Capability, answer.Code, stdout.text)
	return answer, nil
}

// exec reports whether the agent starts programs without a shell.
func (t target) exec() bool { return t.agent == "claude-code" || t.agent == "copilot" }

// limited keeps the begin of what is written to it.
type limited struct {
	text []byte
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.text, l.left = append(l.text, p[:n]...), l.left-n
	return len(p), nil
}

// would reads an answer as the agents do: exit code 2 refuses everywhere, any
// other but 0 means that the hook broke.
func would(ev event, c hook.Capability, code int, stdout []byte) Would {
	switch {
	case code == 2:
		return Refuse
	case code != 0:
		return broken(ev, c)
	}
	said := withoutProgress(stdout)
	if len(said) == 0 {
		return silent(ev, c)
	}
	var a struct {
		Continue *bool           `json:"continue"`
		Decision json.RawMessage `json:"decision"`   // a word of Gemini CLI
		Cursor   string          `json:"permission"` // Cursor
		Behavior string          `json:"behavior"`   // Copilot's permissionRequest
		Copilot  string          `json:"permissionDecision"`
		Specific struct {
			PreToolUse        string `json:"permissionDecision"`
			PermissionRequest struct {
				Behavior string `json:"behavior"`
			} `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal(said, &a) != nil {
		return broken(ev, c)
	}
	if a.Continue != nil && !*a.Continue {
		return Refuse
	}
	decision := ""
	_ = json.Unmarshal(a.Decision, &decision) // others have something else there
	for _, word := range []string{decision, a.Cursor, a.Behavior, a.Copilot, a.Specific.PreToolUse, a.Specific.PermissionRequest.Behavior} {
		switch word {
		case "allow", "approve":
			return Run
		case "deny", "block", "reject":
			return Refuse
		case "ask", "ask_user", "defer":
			return AskSelf
		}
	}
	return silent(ev, c)
}

// silent is what an agent does where the hook says nothing.
func silent(ev event, c hook.Capability) Would {
	switch {
	case ev.noOnly:
		return OwnRules
	case c.AsksOnlyWhenNeeded:
		return AskSelf
	}
	return Run
}

// broken is what an agent does where the hook does not work.
func broken(ev event, c hook.Capability) Would {
	switch {
	case ev.closed:
		return Refuse
	case ev.noOnly:
		return OwnRules
	}
	return failing(c.FailMode)
}

// withoutProgress takes out the lines by which a hook tells how it goes on.
func withoutProgress(stdout []byte) []byte {
	var kept [][]byte
	for line := range bytes.Lines(stdout) {
		var p struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(line, &p) != nil || p.Type != "progress" {
			kept = append(kept, line)
		}
	}
	return bytes.TrimSpace(bytes.Join(kept, nil))
}
