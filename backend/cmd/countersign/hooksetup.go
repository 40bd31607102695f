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

type hookStatusCommand struct {
	Agent string      `arg:"" optional:"" help:"Which agent (default: all)."`
	All   bool        `help:"All agents, also those that are not found here."`
	Scope setup.Scope `help:"Only what is set for all that you do (user), or for the project of this folder (project)." enum:",user,project" default:""`
	Test  bool        `help:"Start each hook with a harmless command, and say what the agent would do. With a host, a question may appear."`
}

// hookRounds is how often a file is looked at again that others keep changing.
const hookRounds = 3

func (c hookInstallCommand) Run(p *program) error   { return c.run(p, setup.Plan) }
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

// hookState is one line of status, for --json.
type hookState struct {
	setup.State
	Test *setup.Trial `json:"test,omitempty"`
}

func (c hookStatusCommand) Run(p *program) error {
	env, err := p.hookEnv()
	if err != nil {
		return err
	}
	if c.Scope == setup.ScopeProject && env.Project == "" {
		return setup.ErrNoProject
	}
	states := setup.Look(env)
	if c.Agent != "" {
		if states = setup.LookAt(env, c.Agent); len(states) == 0 {
			return noSuchAgent(c.Agent)
		}
	}
	list := []hookState{}
	wrong := false
	for _, s := range states {
		if !c.shows(s) {
			continue
		}
		one := hookState{State: s}
		if c.Test && (s.Scope == setup.ScopeUser || c.Scope != "") { // once for each agent
			trial, err := setup.Try(p.ctx, env, s.Agent)
			if err != nil {
				return err
			}
			one.Test = &trial
		}
		list = append(list, one)
		switch s.Condition {
		case setup.Changed, setup.Vanished, setup.OtherProgram, setup.Unreadable:
			wrong = true
		}
	}
	err = p.print(list, func(w io.Writer) {
		for _, s := range list {
			writeHookState(w, s)
		}
		switch {
		case len(list) > 0:
		case c.Agent != "":
			fmt.Fprintf(w, "%s has no settings file for the scope %s.\n", states[0].Title, c.Scope)
		default:
			fmt.Fprintln(w, "No agent was found here. With --all, all that can be asked are shown.")
		}
	})
	if err == nil && wrong {
		return exit{exitError, ""}
	}
	return err
}

// shows reports whether a state is worth a place: agents that are here or were
// asked for, and projects that were asked for or have something of ours.
func (c hookStatusCommand) shows(s setup.State) bool {
	quiet := s.Condition == setup.NotInstalled || s.Condition == setup.ByHand
	if c.Scope != "" && s.Scope != c.Scope {
		return false
	}
	if s.Scope == setup.ScopeProject && c.Scope == "" {
		return !quiet
	}
	return c.All || c.Agent != "" || s.Found.Here() || !quiet
}

func writeHookState(w io.Writer, s hookState) {
	esc := display.Escape
	fmt.Fprintf(w, "%s (%s), %s: %s\n", esc(s.Title), s.Agent, s.Scope, inHookWords(s.State))
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "  %-8s %s\n", name, esc(text))
		}
	}
	line("found", foundLine(s.Found))
	line("file", s.File)
	line("link to", s.Follows)
	line("starts", s.Program)
	line("problem", s.Problem)
	for _, can := range s.Can {
		line("can", can)
	}
	line("if gone", fmt.Sprintf("without the app %s %s; without our program it %s", s.Title, s.WithoutApp, s.WithoutProgram))
	if s.WithoutApp == setup.AskSelf {
		line("", "what policy denies stays denied without the app, and where its mode asks nobody only what an entry allows is done")
	}
	for _, spot := range s.BlindSpots {
		line("blind", spot)
	}
	for _, note := range s.Notes {
		line("to do", note)
	}
	if s.Test != nil {
		writeTrial(w, *s.Test)
	}
	fmt.Fprintln(w)
}

func foundLine(f setup.Found) string {
	switch {
	case f.Program != "" && f.Version != "":
		return f.Program + ", version " + f.Version
	case f.Program != "":
		return f.Program
	case f.Folder != "":
		return f.Folder + ", and no program in PATH"
	}
	return "neither a program in PATH nor a settings folder"
}

func inHookWords(s setup.State) string {
	switch s.Condition {
	case setup.NotInstalled:
		return "not installed"
	case setup.Installed:
		if s.Old {
			return "installed, by an older version: install it again"
		}
		return "installed"
	case setup.Changed:
		return "changed: somebody edited our hook; install it again"
	case setup.Vanished:
		return "vanished: it was written, and is not there any more; install it again, or uninstall it so that it is not missed"
	case setup.OtherProgram:
		if s.Missing {
			return "it starts another countersign, which is not there: install it again"
		}
		return "it starts another countersign: install it again, or leave it to that one"
	case setup.ByHand:
		return "there is no file to write it into"
	}
	return "cannot be told"
}

func writeTrial(w io.Writer, t setup.Trial) {
	show := func(name string, answers []setup.Answer) {
		for _, a := range answers {
			fmt.Fprintf(w, "  %-8s %s: %s %s, after %s\n", "test", name, display.Escape(a.Event), a.Would, time.Duration(a.Millis)*time.Millisecond)
		}
	}
	show("as it is now", t.Live)
	show("without a host", t.Gone)
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
