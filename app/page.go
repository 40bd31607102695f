package main

import (
	"slices"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/app/stage"
	"github.com/countersign-app/countersign/backend/approval"
)

// screen is what the page shows now. Only the question that it wants, or else
// the first one, is whole: others may be many and long. Those that share its panel
// are part of it.
func (a *app) screen(want string) shown.Screen {
	s, v := a.screenNow()
	s.FirstRun = firstRunDue(a.host.Policy())
	if len(v.Waiting) == 0 {
		return s
	}
	in := a.names()
	whole := max(0, slices.IndexFunc(v.Waiting, func(p approval.Prompt) bool { return p.ID == want }))
	q, rows := a.shared(v.Waiting[whole], in, v.Visible)
	if small := smallOf(v.Waiting, q.Agent.ID, in); len(q.Sharers) == 0 && q.Small() && len(small) > 1 {
		q.Together = len(small)
	}
	for _, p := range a.places(v, whole, rows, in) {
		if p.ID == v.Waiting[whole].ID {
			s.Waiting = append(s.Waiting, q)
		} else {
			s.Waiting = append(s.Waiting, shown.NewPlace(p, in))
		}
	}
	return s
}

// screenNow is all of it but the questions, and what the stage has to show.
func (a *app) screenNow() (s shown.Screen, v stage.View) {
	a.mu.Lock()
	defer a.mu.Unlock()
	v = a.stage.View(a.now())
	s = shown.Screen{
		Settings: v.Settings, OffersHooks: v.OffersHooks, Agent: v.Agent, Page: v.Page, Turn: v.Turn, Waiting: []shown.Question{}, Theme: a.prefs.get().Theme, Now: time.Now().UnixMilli(),
	}
	if until, paused := a.host.Paused(); paused {
		s.Paused = true
		if !until.IsZero() {
			s.PausedUntil = until.UnixMilli()
		}
	}
	if held := a.host.Policy().Held; held != nil && v.Edit != "" && editID(held.Hash) == v.Edit {
		s.Edit = shown.NewEdit(*held, a.state.Approvals(), a.person)
	}
	if top := a.asked[v.Top]; top != nil {
		s.Change, s.Folder = top.change, top.folder
	}
	return s, v
}

// names adds what the policy file says about showing the agents.
func (a *app) names() shown.Person {
	in := a.person
	in.Agents = map[string]shown.Named{}
	if doc := a.host.Policy().Document; doc != nil {
		for id, agent := range doc.Agents {
			in.Agents[id] = shown.Named{Name: agent.DisplayName, Color: agent.Color}
		}
	}
	return in
}
