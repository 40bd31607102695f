package main

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/app/stage"
	"github.com/countersign-app/countersign/backend/agents/setup"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
)

// hooks are our hooks in the settings of other agents. One change at a time is
// shown, and only that one is made.
type hooks struct {
	env     func() (setup.Env, error)
	mu      sync.Mutex
	planned map[string]setup.Change // the one that is shown, by its id
	lost    lost
}

func newHooks(a *app) *hooks { return &hooks{env: a.hookEnv} }

var errNoCommandLine = errors.New("the command line of Countersign, which hooks start, is not beside the app: build or install it")

// hookEnv says what is written into the settings of agents.
func (a *app) hookEnv() (setup.Env, error) {
	e := setup.Env{Home: a.person.Home, State: a.state, Denies: a.denies, Getenv: os.Getenv, Now: time.Now}
	if e.Program = host.CommandLine(); e.Program == "" {
		return e, errNoCommandLine
	}
	return e, nil
}

// denies reports whether policy denies everything that an agent asks.
func (a *app) denies(agent string) bool {
	security := a.host.Policy().Policy(agent).Security
	return security == approval.SecurityUnset || security == approval.SecurityDeny
}

// Hooks tells of each agent how our hook stands in its settings.
func (s *Settings) Hooks() []shown.Hook {
	e, err := s.app.hooks.env()
	lost, _ := setup.Lost(e) // what is wrong with the record is wrong with each
	list := shown.NewHooks(setup.Look(e), lost, s.app.person)
	for i := range list {
		if err != nil && list[i].Problem == "" {
			list[i].Problem = sentence(err)
		}
	}
	return list
}

// hooksToOffer reports whether an agent is here that could ask us and does not.
func (a *app) hooksToOffer() bool {
	e, err := a.hooks.env()
	return err == nil && slices.ContainsFunc(setup.Look(e), func(s setup.State) bool {
		return s.Found.Here() && s.Condition == setup.NotInstalled
	})
}

// offerHooks has the first run go on with the agents that are here, or end.
func (a *app) offerHooks(on bool) { a.on(stage.HooksOffered{On: on}) }

// PlanHook shows what putting our hook into the settings of an agent, or taking
// it out, would change. It writes nothing.
func (s *Settings) PlanHook(agent string, undo bool) shown.HookChange {
	none := shown.HookChange{Agent: agent, Undo: undo, Diff: []string{}, Notes: []string{}}
	e, err := s.app.hooks.env()
	if err != nil {
		none.Problem = sentence(err)
		return none
	}
	plan := setup.Plan
	if undo {
		plan = setup.PlanRemoval
	}
	c, err := plan(e, agent, setup.ScopeUser)
	none.Warning = display.Escape(c.Warning)
	for _, note := range c.Notes {
		none.Notes = append(none.Notes, display.Escape(note))
	}
	switch {
	case errors.Is(err, setup.ErrNoFile):
		return none // the notes say what to do
	case err != nil:
		none.Problem = sentence(err)
		return none
	case c.Same() && !c.Forgets:
		return none
	}
	none.Forgets = c.Forgets
	none.ID, none.File, none.Follows = rand.Text(), display.Escape(c.File), display.Escape(c.Follows)
	if !c.Forgets {
		none.Diff = strings.Split(strings.TrimRight(c.Diff, "\n"), "\n")
	}
	h := s.app.hooks
	h.mu.Lock()
	defer h.mu.Unlock()
	h.planned = map[string]setup.Change{none.ID: c}
	return none
}

// ApplyHook makes the change that is shown under this id.
func (s *Settings) ApplyHook(id string) Saved {
	if !s.app.edits() {
		return Saved{Message: sentence(errNotOpen)}
	}
	h := s.app.hooks
	h.mu.Lock()
	c, ok := h.planned[id]
	h.planned = nil
	h.mu.Unlock()
	if !ok {
		return Saved{Message: sentence(setup.ErrChanged)}
	}
	e, err := h.env()
	if err == nil {
		err = setup.Apply(e, c)
	}
	if err != nil {
		return Saved{Message: sentence(err)}
	}
	return Saved{OK: true}
}

// trialTime bounds the self-test of one agent.
const trialTime = time.Minute

// TryHook starts our hook as an agent would, with a harmless command, and tells
// what the agent would make of the answers.
func (s *Settings) TryHook(agent string) shown.HookTrial {
	t := shown.HookTrial{Agent: agent, Lines: []string{}}
	e, err := s.app.hooks.env()
	if err == nil && !s.app.edits() {
		err = errNotOpen
	}
	if err != nil {
		t.Problem = sentence(err)
		return t
	}
	ctx, cancel := context.WithTimeout(context.Background(), trialTime)
	defer cancel()
	trial, err := setup.Try(ctx, e, agent)
	if err != nil {
		t.Problem = sentence(err)
		return t
	}
	for _, part := range []struct {
		when string
		list []setup.Answer
	}{{"With Countersign as it is now", trial.Live}, {"If Countersign did not run", trial.Gone}} {
		for _, answer := range part.list {
			t.Lines = append(t.Lines, display.Escape(part.when+", "+trial.Title+" "+answer.Would.String()+" ("+answer.Event+")."))
		}
	}
	if trial.Note != "" {
		t.Lines = append(t.Lines, display.Escape(trial.Note))
	}
	return t
}
