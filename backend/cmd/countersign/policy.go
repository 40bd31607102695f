package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/store"
	"github.com/countersign-app/countersign/backend/vault"
)

type policyCommands struct {
	Show    policyShow    `cmd:"" help:"What holds for an agent, and where each value comes from."`
	Set     policySet     `cmd:"" help:"Set security, ask, askFallback, autoAllowSkills or presence."`
	Start   policyStart   `cmd:"" help:"Take a start, as the first run of the app does; or print its entries."`
	Explain policyExplain `cmd:"" help:"Judge a command without running it, or a tool call without making it."`
	Test    policyTest    `cmd:"" help:"Judge the cases of a file on the machine it invents, running nothing."`
	Diff    policyDiff    `cmd:"" help:"List the cases of a file that two policy files judge differently."`
	Stops   policyStops   `cmd:"" help:"Count the stops of this machine, or the questions that lists of commands would bring, running nothing."`
	Accept  policyAccept  `cmd:"" help:"Accept an edit of the policy file that waits."`
	Reject  policyReject  `cmd:"" help:"Take an edit of the policy file back."`

	Skills skillsCommands `cmd:"" help:"Programs of skills, which run without a question as they were accepted."`

	Follow   policyFollow   `cmd:"" help:"Have the policies that a gateway signs hold here too, as far as they tighten."`
	Unfollow policyUnfollow `cmd:"" help:"Have them hold here no more."`
}

type policyShow struct {
	Agent string `help:"Agent id." default:"main" placeholder:"ID"`
}

func (c policyShow) Run(p *program) error {
	got, err := p.policyOf(c.Agent)
	if err != nil {
		return err
	}
	skills := skillRows(got.Policy.Skills)
	shown := struct {
		host.Policy
		Skills []skillRow `json:"skills"`
	}{got, skills}
	return p.print(shown, func(w io.Writer) {
		row := func(name, value string) {
			fmt.Fprintf(w, "%-12s %-10s from %s\n", name, value, cmp.Or(got.Policy.Origins[name], "built in"))
		}
		row("security", string(got.Policy.Security))
		row("ask", string(got.Policy.Ask))
		row("askFallback", string(got.Policy.AskFallback))
		fmt.Fprintf(w, "%-12s %d\n%-12s %d\n", "entries", len(got.Policy.Allowlist), "deny rules", len(got.Policy.Denylist))
		if len(skills) > 0 {
			asked := "each is asked about"
			if got.Policy.AutoAllowSkills {
				asked = fmt.Sprintf("%d to accept", unaccepted(skills))
			}
			fmt.Fprintf(w, "%-12s %d, %s\n", "skills", len(skills), asked)
			writeSkills(w, skills)
		}
		if got.Broken == "" && got.Policy.Broken != "" {
			fmt.Fprintln(w, "Nothing runs:", display.Escape(got.Policy.Broken))
		}
		if got.Broken != "" {
			fmt.Fprintln(w, "The file is broken, so everything is denied:", display.Escape(got.Broken))
		}
		writeHeld(w, got.Held)
	})
}

// policyOf is what holds for an agent.
func (p *program) policyOf(agent string) (got host.Policy, err error) {
	err = p.read("policy.get", map[string]string{"agentId": agent}, &got)
	if errors.Is(err, errNoHost) {
		return p.policyFromFile(agent)
	}
	return got, err
}

// policyFromFile resolves the policy where no host runs.
func (p *program) policyFromFile(agent string) (host.Policy, error) {
	snap, err := p.policyHere()
	if err != nil {
		return host.Policy{}, err
	}
	got := host.Policy{Hash: snap.Hash, Policy: snap.Policy(agent)}
	if snap.Broken != nil {
		got.Broken = snap.Broken.Error()
	}
	if snap.Held != nil {
		got.Held = snap.Held.Loosens
	}
	return got, nil
}

// policyHere is the policy where no host runs.
func (p *program) policyHere() (store.Snapshot, error) {
	lock, err := p.hold()
	if err != nil {
		return store.Snapshot{}, err
	}
	defer lock.Close()
	s, err := store.Open(store.Options{State: p.state, Home: p.home, Vault: vault.Open(p.state.Dir)})
	if err != nil {
		return store.Snapshot{}, err
	}
	return s.Snapshot(), s.Close()
}

type policySet struct {
	Agent string `help:"Agent id, or * for all; without it the defaults are set." placeholder:"ID"`
	Field string `arg:"" enum:"security,ask,askFallback,autoAllowSkills,presence" help:"security, ask, askFallback, autoAllowSkills or presence."`
	Value string `arg:"" help:"The value; an empty one lets the next layer decide."`
}

func (c policySet) Run(p *program) error {
	return p.change("policy.set", map[string]any{"agentId": c.Agent, "field": c.Field, "value": c.Value}, func(d *store.Document) error {
		return d.Set(c.Agent, c.Field, c.Value)
	})
}

type policyExplain struct {
	Agent   string   `help:"Agent id." default:"main" placeholder:"ID"`
	Session string   `help:"Session key." placeholder:"KEY"`
	Cwd     string   `help:"Working directory (default: this one)." placeholder:"DIR"`
	Env     []string `help:"Set a variable; may be repeated." placeholder:"K=V" sep:"none"`
	Tool    string   `help:"Judge a call of this tool, whose arguments stand in the place of a command as a JSON object; SERVER/TOOL is one of an MCP server." placeholder:"NAME"`
	Command []string `arg:"" optional:"" passthrough:"partial" help:"The command and its words; a single one with blanks that names no file is a text for bash. With --tool the arguments."`
}

func (c policyExplain) Run(p *program) error {
	method, params, err := c.call()
	if err != nil {
		return exit{exitUsage, err.Error()}
	}
	var got host.Explanation
	if err := p.read(method, params, &got); err != nil {
		return err
	}
	return p.print(got, func(w io.Writer) {
		fmt.Fprintf(w, "%s", got.Judgement.Verdict)
		if got.Judgement.Reason != "" {
			fmt.Fprintf(w, ": %s (%s)", display.Escape(got.Judgement.Sentence), got.Judgement.Reason)
		}
		fmt.Fprintln(w)
		writeSegments(w, got.Plan, got.Judgement)
		writeFolder(w, got.Plan)
	})
}

// call is what the host is asked.
func (c policyExplain) call() (method string, params any, err error) {
	run := &runCommand{Cwd: c.Cwd, Agent: c.Agent, Session: c.Session, Env: c.Env, Command: c.Command}
	if c.Tool == "" {
		req, err := run.request()
		return "explain", map[string]any{
			"command": req.Command, "cwd": req.Cwd, "env": req.Env, "agentId": req.AgentID, "sessionKey": req.SessionKey,
		}, err
	}
	args := givenWords(c.Command)
	switch {
	case len(args) > 1:
		return "", nil, errors.New("the arguments of a tool are one JSON object: put it in quotes")
	case len(args) == 0:
		args = []string{"{}"}
	case !json.Valid([]byte(args[0])):
		return "", nil, errors.New("the arguments of a tool are one JSON object, which this is not")
	}
	run.Command = []string{c.Tool} // its folder and environment are read as those of a command
	req, err := run.request()
	call := approval.ToolCall{
		Tool: c.Tool, Args: json.RawMessage(args[0]), Cwd: req.Cwd, Env: req.Env, AgentID: req.AgentID, SessionKey: req.SessionKey,
	}
	if server, tool, ok := strings.Cut(c.Tool, "/"); ok {
		call.Server, call.Tool = server, tool
	}
	return "tool.explain", call, err
}

// policyAccept takes the edit that the person was shown, by its hash: what waits
// when they come to answer may be another one. Without a hash it only shows what
// waits.
type policyAccept struct {
	Hash string `arg:"" optional:"" help:"Hash of the edit, which this command shows without one."`
}

func (c policyAccept) Run(p *program) error {
	if c.Hash == "" {
		return p.showHeld()
	}
	if err := p.operate("policy.accept", map[string]string{"hash": c.Hash}, nil); err != nil {
		return err
	}
	return p.done()
}

// showHeld shows the edit that waits, and takes nothing.
func (p *program) showHeld() error {
	var s host.Status
	if err := p.read("status", nil, &s); err != nil {
		return err
	}
	if s.HeldHash == "" {
		return store.ErrNoEdit
	}
	err := p.print(map[string]any{"hash": s.HeldHash, "loosens": s.Held}, func(w io.Writer) {
		for _, what := range s.Held {
			fmt.Fprintln(w, display.Escape(what))
		}
	})
	if err != nil {
		return err
	}
	return fmt.Errorf("nothing is accepted yet; for what is shown here: %s policy accept %s", p.self(), s.HeldHash)
}

type policyReject struct{}

func (policyReject) Run(p *program) error {
	if err := p.operate("policy.reject", nil, nil); err != nil {
		return err
	}
	return p.done()
}
