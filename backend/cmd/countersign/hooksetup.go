package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/agents/setup"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/paths"
)

// hookSetupCommands put our hook into the settings of other agents.
type hookSetupCommands struct {
	Install   hookInstallCommand   `cmd:"" help:"Write our hook into the settings of an agent."`
	Status    hookStatusCommand    `cmd:"" help:"Say where our hook is, whether it is as it was written, and what it cannot do."`
	Uninstall hookUninstallCommand `cmd:"" help:"Take our hook out of the settings of an agent."`
}

// hookChange is what install and uninstall are told.
type hookChange struct {
	Agent string      `arg:"" optional:"" help:"Which agent, such as claude-code."`
	All   bool        `help:"All agents that are found here."`
	Scope setup.Scope `help:"For all that you do (user), or for the project of this folder (project)." enum:"user,project" default:"user"`
	Yes   bool        `help:"Write without asking."`
}

type (
	hookInstallCommand   struct{ hookChange }
	hookUninstallCommand struct{ hookChange }
)

// hookRounds is how often a file is looked at again that others keep changing.
const hookRounds = 3

func (c hookInstallCommand) Run(p *program) error { return c.run(p, setup.Plan) }

func (c hookUninstallCommand) Run(p *program) error { return c.run(p, setup.PlanRemoval) }

// hookResult is what became of one settings file, for --json.
type hookResult struct {
	setup.Change
	Written bool   `json:"written"`
	Error   string `json:"error,omitempty"`
}

func (c hookChange) run(p *program, plan func(setup.Env, string, setup.Scope) (setup.Change, error)) error {
	env, err := p.hookEnv()
	if err != nil {
		return err
	}
	agents, err := c.agents(p, env)
	if err != nil {
		return err
	}
	results := []hookResult{}
	failed, unasked := false, false
	for _, agent := range agents {
		r := hookResult{}
		err := c.one(p, env, &r, func() (setup.Change, error) { return plan(env, agent, c.Scope) })
		switch {
		case errors.Is(err, errNotAsked):
			unasked = true
		case err != nil && len(agents) == 1 && !p.json:
			return err
		case err != nil:
			failed, r.Error = true, err.Error()
			p.say("countersign: " + r.Error)
		}
		results = append(results, r)
	}
	if p.json {
		if err := p.print(results, nil); err != nil {
			return err
		}
	}
	switch {
	case failed:
		return exit{exitError, ""}
	case unasked:
		p.say("countersign: " + errNotAsked.Error())
		return exit{exitUsage, ""}
	}
	return nil
}

// say tells a person something for which there is no place in JSON.
func (p *program) say(text string) { fmt.Fprintln(p.stderr, display.Escape(text)) }

var errNotAsked = errors.New("nothing was written, because nobody can be asked here: look at the difference, and add --yes")

// agents are those that the words name.
func (c hookChange) agents(p *program, env setup.Env) ([]string, error) {
	switch {
	case c.Agent != "" && c.All, c.Agent == "" && !c.All:
		return nil, exit{exitUsage, "name one agent, or all that are here with --all: " + strings.Join(setup.Agents(), ", ")}
	case !c.All && !slices.Contains(setup.Agents(), c.Agent):
		return nil, noSuchAgent(c.Agent)
	case !c.All:
		return []string{c.Agent}, nil
	}
	here, copilot := hooksHere(setup.Look(env), c.Scope)
	if !copilot && slices.Contains(here, "copilot") && slices.Contains(here, "vscode") {
		here = slices.DeleteFunc(here, func(agent string) bool { return agent == "copilot" })
		p.say("Copilot CLI is left out: it starts the hook of VS Code too, and would ask twice.")
	}
	if len(here) == 0 {
		return nil, errors.New("no agent was found here: name one")
	}
	return here, nil
}

func noSuchAgent(name string) error {
	return exit{exitUsage, fmt.Sprintf("no settings are known for %q: use one of %s", name, strings.Join(setup.Agents(), ", "))}
}

// hooksHere are the agents that are used here or have a hook of ours, and
// whether Copilot CLI has.
func hooksHere(states []setup.State, scope setup.Scope) (here []string, copilot bool) {
	for _, s := range states {
		ours := s.Condition != setup.NotInstalled && s.Condition != setup.ByHand
		if (ours || s.Found.Here()) && !slices.Contains(here, s.Agent) {
			here = append(here, s.Agent)
		}
		copilot = copilot || ours && s.Agent == "copilot" && s.Scope == scope
	}
	return here, copilot
}

// one shows and makes one change.
func (c hookChange) one(p *program, env setup.Env, r *hookResult, plan func() (setup.Change, error)) (err error) {
	for range hookRounds {
		r.Change, err = plan()
		if !p.json && (err == nil || errors.Is(err, setup.ErrNoFile)) {
			writeChange(p.stdout, r.Change)
		}
		if errors.Is(err, setup.ErrNoFile) {
			return nil
		}
		if err != nil {
			return err
		}
		if !r.Same() && !c.Yes {
			if yes, err := p.confirm("Write this?"); err != nil || !yes {
				return err
			}
		}
		// What is the same still comes into the record.
		if err = setup.Apply(env, r.Change); err == nil {
			r.Written = !r.Same()
		}
		if !errors.Is(err, setup.ErrChanged) || !c.Yes {
			return err
		}
	}
	return err
}

// confirm asks the person at the terminal. What is not a clear yes is a no.
func (p *program) confirm(question string) (bool, error) {
	if p.json || !foreground(p.stdin) {
		return false, errNotAsked
	}
	fmt.Fprintf(p.stdout, "%s [y/N] ", question)
	line, err := bufio.NewReader(p.stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	fmt.Fprintln(p.stdout, "Nothing was written.")
	return false, nil
}

func writeChange(w io.Writer, c setup.Change) {
	switch {
	case c.File == "":
		fmt.Fprintf(w, "%s: nothing to write.\n", display.Escape(c.Title))
	case c.Forgets:
		fmt.Fprintf(w, "%s: no hook of ours is in %s, and none is missed there any more.\n", display.Escape(c.Title), display.Escape(c.File))
	case c.Same() && c.Undo:
		fmt.Fprintf(w, "%s: no hook of ours is in %s.\n", display.Escape(c.Title), display.Escape(c.File))
	case c.Same():
		fmt.Fprintf(w, "%s: our hook is in %s already.\n", display.Escape(c.Title), display.Escape(c.File))
	default:
		fmt.Fprintf(w, "%s:\n%s", display.Escape(c.Title), c.Diff)
	}
	for _, note := range c.Notes {
		fmt.Fprintln(w, display.Escape(note))
	}
	if c.Warning != "" {
		fmt.Fprintln(w, "Warning:", display.Escape(c.Warning))
	}
}

// hookEnv is this machine, for the settings of agents.
func (p *program) hookEnv() (setup.Env, error) {
	env := setup.Env{Home: p.home, State: p.state, Denies: p.denies, Getenv: os.Getenv, Now: time.Now}
	var err error
	if env.Program, err = hookProgram(os.Getenv("PATH")); err != nil {
		return env, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return env, err
	}
	env.Project = paths.Project(cwd, p.home, func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	})
	return env, nil
}

// denies reports whether policy denies everything that an agent asks, as the one
// does that a host writes where there is none.
func (p *program) denies(agent string) bool {
	if _, err := os.Lstat(p.state.Approvals()); errors.Is(err, fs.ErrNotExist) {
		return true
	}
	got, err := p.policyOf(agent)
	return err == nil && (got.Policy.Security == approval.SecurityUnset || got.Policy.Security == approval.SecurityDeny)
}

// hookProgram is the path by which agents are to start us. A package manager
// moves the file with each version, and keeps a link to it.
func hookProgram(path string) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	for _, store := range paths.PackageStores() {
		if !strings.HasPrefix(program, store+string(filepath.Separator)) {
			continue
		}
		for _, dir := range filepath.SplitList(path) {
			link := filepath.Join(dir, filepath.Base(program))
			real, err := filepath.EvalSymlinks(link)
			if err == nil && filepath.IsAbs(dir) && real == program {
				return link, nil
			}
		}
	}
	return program, nil
}
