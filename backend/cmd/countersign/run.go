package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/link"
)

// runCommand asks for the agent that it names, whoever types it: nothing tells a
// person's own run from one of an agent, so all that holds for that agent's
// commands, the rules for the tool bash_execute too, holds for a person's as well.
type runCommand struct {
	Cwd      string        `help:"Working directory (default: this one)." placeholder:"DIR"`
	Agent    string        `help:"Agent id." default:"main" placeholder:"ID"`
	Session  string        `help:"Session key." placeholder:"KEY"`
	Env      []string      `help:"Set a variable; may be repeated." placeholder:"K=V" sep:"none"`
	Timeout  time.Duration `help:"End the command after this time." placeholder:"D"`
	Screen   bool          `name:"needs-screen-recording" help:"Refuse it where commands may not record the screen."`
	Approved string        `help:"Run what was allowed under this id, once. Hooks of agents write it." placeholder:"ID"`
	Wait     time.Duration `help:"How long a question may wait for its answer." default:"10m" placeholder:"D"`

	Gateway   string        `help:"Run it through this gateway, on the host that is configured there (default: $$COUNTERSIGN_GATEWAY; without one: here)." env:"COUNTERSIGN_GATEWAY" placeholder:"URL"`
	Plaintext bool          `help:"Let the token of the gateway travel to another machine over ws://, for everybody on the way to read."`
	Host      approval.Host `help:"Host to run it on: sandbox, gateway or node. Needs --gateway." placeholder:"HOST"`
	Node      string        `help:"Node to run it on. Needs --gateway." placeholder:"NAME"`

	Command []string `arg:"" optional:"" passthrough:"partial" help:"The command and its words; a single one with blanks that names no file is a text for bash."`
}

func (c *runCommand) Run(p *program) error {
	if c.Approved != "" {
		return c.runApproved(p)
	}
	req, err := c.request()
	if err != nil {
		return exit{exitUsage, err.Error()}
	}
	if c.Gateway != "" {
		if c.Screen {
			return exit{exitUsage, "--needs-screen-recording is for this machine: a gateway's nodes are asked by its agents"}
		}
		return c.through(p, req)
	}
	if c.Host != "" || c.Node != "" {
		return exit{exitUsage, "--host and --node need --gateway"}
	}
	client, doc, err := p.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	if doc == nil {
		_, err := p.document()
		return exit{exitDenied, fmt.Sprintf("everything is denied while the policy cannot be read: %v", err)}
	}
	answer, err := client.Exec(p.ctx, doc.Socket.Token, ipc.Exec{Request: req, Receipt: p.json})
	var refused *ipc.Error
	switch {
	case errors.As(err, &refused):
		return p.refused(refused)
	case errors.Is(err, context.Canceled):
		return exit{130, "stopped"}
	case err != nil:
		return exit{exitNoHost, fmt.Sprintf("the host was lost while it worked on this: %v", err)}
	}
	return p.passOn(answer)
}

// runApproved runs what a hook was told is allowed. Everything else about it is
// known to the host.
func (c *runCommand) runApproved(p *program) error {
	if len(c.Command) > 0 {
		return exit{exitUsage, "--approved runs what was allowed: put no command behind it"}
	}
	client, doc, err := p.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	key, err := p.readingKey(doc)
	if err != nil {
		return err
	}
	var ran host.Ran
	switch err := client.Call(p.ctx, key, "approved.run", map[string]string{"id": c.Approved}, &ran); {
	case errors.Is(err, context.Canceled):
		return exit{130, "stopped"}
	case err != nil:
		return plain(err)
	case ran.Refused != nil:
		return p.refused(ran.Refused)
	}
	return p.passOn(ipc.ExecAnswer{ExitCode: ran.ExitCode, TimedOut: ran.TimedOut, Success: ran.Success, Stdout: ran.Stdout, Stderr: ran.Stderr, Error: ran.Error, Receipt: ran.Receipt})
}

// refused tells why nothing ran. The receipt stands in the same place as where
// something did.
func (p *program) refused(e *ipc.Error) error {
	if !p.json {
		return exit{exitDenied, e.Message}
	}
	plain := *e
	plain.Receipt = nil
	got := map[string]any{"ok": false, "error": plain}
	if e.Receipt != nil {
		got["receipt"] = e.Receipt
	}
	_ = p.print(got, nil)
	return exit{exitDenied, ""}
}

// through runs the command through a gateway.
func (c *runCommand) through(p *program, req approval.Request) error {
	params := map[string]any{
		"command": req.Command, "workdir": c.Cwd, "env": req.Env, "timeout": c.Timeout.Seconds(), "host": c.Host, "node": c.Node,
		"agentId": c.Agent, "sessionKey": c.Session,
	}
	for name, value := range params {
		if value == "" || value == approval.Host("") || value == float64(0) { // not said
			delete(params, name)
		}
	}
	at := gatewayAt{Gateway: c.Gateway, Plaintext: c.Plaintext}
	var got link.RunResult
	err := at.call(p, "exec.run", params, &got)
	var refused *link.Error
	switch {
	case errors.As(err, &refused) && p.json:
		_ = p.print(map[string]any{"ok": false, "error": refused}, nil)
		return exit{exitDenied, ""}
	case errors.As(err, &refused) && refused.Code == link.CodeTimeout:
		return exit{exitTimedOut, refused.Message}
	case errors.As(err, &refused):
		return exit{exitDenied, refused.Message}
	case errors.Is(err, context.Canceled):
		return exit{130, "stopped"}
	case err != nil:
		return exit{exitNoHost, err.Error()}
	}
	a := ipc.ExecAnswer{ExitCode: got.ExitCode, TimedOut: got.TimedOut, Success: got.Success, Stdout: got.Stdout, Stderr: got.Stderr}
	if got.Error != nil {
		a.Error = *got.Error
	}
	return p.passOn(a)
}

// givenWords are the words of a command as they were given, without the -- before them.
func givenWords(given []string) []string {
	if len(given) > 0 && given[0] == "--" {
		return given[1:]
	}
	return given
}

// commandOf is what the words of a command line mean: a single one with blanks is a
// text for bash, unless it is the path of a file.
func commandOf(words []string, dir string) []string {
	if len(words) != 1 || !strings.ContainsAny(words[0], " \t\n") {
		return words
	}
	at := words[0]
	if !filepath.IsAbs(at) {
		at = dir + "/" + at // as it stands: "cat x/../y" is no path of y
	}
	if _, err := os.Stat(at); err == nil && strings.Contains(words[0], "/") {
		return words
	}
	return []string{"bash", "-c", words[0]}
}

// request makes the request from the flags: the one that runs, and the one that is
// only judged (policy explain).
func (c *runCommand) request() (approval.Request, error) {
	words := givenWords(c.Command)
	if len(words) == 0 {
		return approval.Request{}, errors.New("there is no command: put it after --")
	}
	if c.Timeout < 0 || c.Wait < 0 {
		return approval.Request{}, errors.New("--timeout and --wait must be positive")
	}
	env := map[string]string{}
	for _, kv := range c.Env {
		name, value, ok := strings.Cut(kv, "=")
		if !ok {
			return approval.Request{}, fmt.Errorf("--env needs NAME=VALUE, not %q", kv)
		}
		env[name] = value
	}
	dir := c.Cwd
	if dir == "" {
		dir = "."
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return approval.Request{}, err
	}
	return approval.Request{
		NeedsScreenRecording: c.Screen,
		Command:              commandOf(words, dir), Cwd: dir, Env: env, Timeout: c.Timeout, AgentID: c.Agent, SessionKey: c.Session,
		// A host ends a question a second before its caller's deadline.
		Deadline: time.Now().Add(c.Wait + time.Second),
	}, nil
}

// passOn gives the command's output and exit code to our caller.
func (p *program) passOn(a ipc.ExecAnswer) error {
	if p.json {
		got := map[string]any{
			"ok": true, "exitCode": a.ExitCode, "timedOut": a.TimedOut, "success": a.Success,
			"stdout": a.Stdout, "stderr": a.Stderr, "error": orNull(a.Error),
		}
		if a.Receipt != nil { // a gateway tells none
			got["receipt"] = a.Receipt
		}
		if err := p.print(got, nil); err != nil {
			return err
		}
	} else {
		_, _ = io.WriteString(os.Stdout, a.Stdout)
		_, _ = io.WriteString(os.Stderr, a.Stderr)
	}
	if p.json {
		a.Error = "" // it is in what was printed
	}
	switch name, signalled := strings.CutPrefix(a.Error, approval.EndedBySignal); {
	case a.TimedOut:
		return exit{exitTimedOut, a.Error}
	case signalled:
		return exit{128 + signalNumber(name), a.Error}
	case a.ExitCode != nil && *a.ExitCode != 0:
		return exit{*a.ExitCode, a.Error}
	case a.ExitCode == nil || a.Error != "":
		return exit{exitError, a.Error}
	}
	return nil
}

// orNull is what the wire has for an error that there is not.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
