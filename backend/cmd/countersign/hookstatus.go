package main

import (
	"fmt"
	"io"
	"time"

	"github.com/countersign-app/countersign/backend/agents/setup"
	"github.com/countersign-app/countersign/backend/display"
)

type hookStatusCommand struct {
	Agent string      `arg:"" optional:"" help:"Which agent (default: all)."`
	All   bool        `help:"All agents, also those that are not found here."`
	Scope setup.Scope `help:"Only what is set for all that you do (user), or for the project of this folder (project)." enum:",user,project" default:""`
	Test  bool        `help:"Start each hook with a harmless command, and say what the agent would do. With a host, a question may appear."`
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
