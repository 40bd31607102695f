package main

import (
	"cmp"
	"context"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/app/mac"
	"github.com/countersign-app/countersign/app/menubar"
	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/store"
)

// menuChanged asks for a new menu.
func (a *app) menuChanged() {
	select {
	case a.refresh <- struct{}{}:
	default:
	}
}

// keepMenu keeps the menu of the status item true: after every change and,
// while something on it counts seconds, every second.
func (a *app) keepMenu(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	tick.Stop()
	defer tick.Stop()
	reminded := reminders{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.refresh:
		case <-tick.C:
		}
		f := a.facts(ctx)
		a.remind(reminded, f)
		mac.StayAwake(len(f.Waiting)+len(f.Running) > 0)
		switch {
		case len(f.Waiting)+len(f.Running) > 0 || f.Paused:
			tick.Reset(time.Second)
		case len(f.Leases) > 0:
			tick.Reset(time.Minute)
		default:
			tick.Stop()
		}
		a.mu.Lock()
		bar := a.bar
		a.mu.Unlock()
		if bar != nil {
			bar.Show(menubar.Build(f))
		}
		select { // what changes often is told a few times a second
		case <-ctx.Done():
		case <-time.After(menuPause):
		}
	}
}

const menuPause = 250 * time.Millisecond

func (a *app) facts(ctx context.Context) menubar.Facts {
	f := menubar.Facts{Now: time.Now(), Login: opensAtLogin(a.state, a.person.Home), Replaced: a.program.replaced(), Touched: len(a.host.Troubles()) > 0}
	f.Until, f.Paused = a.host.Paused()
	a.hooks.mu.Lock()
	f.Hooks = a.hooks.lost.rows()
	a.hooks.mu.Unlock()
	in := a.names()
	waiting := a.host.Waiting()
	for _, p := range waiting {
		if !p.CallerGone {
			f.Waiting = append(f.Waiting, menubar.Question{
				ID: p.ID, Agent: shown.NewAgent(p.AgentID, in.Agents[p.AgentID]).Name,
				Command: p.Plan.Text, Expires: time.UnixMilli(p.Expires),
			})
		}
	}
	for _, row := range shown.Agents(a.host.Policy(), waiting, in) {
		f.Agents = append(f.Agents, menubar.Agent{ID: row.Agent.ID, Name: row.Agent.Name, Mode: string(row.Mode), Custom: row.Custom})
	}
	running, _ := a.host.Running(ctx) // without the history nothing new runs
	for _, r := range running {
		f.Running = append(f.Running, menubar.Run{
			ID: r.ID, Agent: shown.NewAgent(r.AgentID, in.Agents[r.AgentID]).Name,
			Command: r.Command, Started: time.UnixMilli(r.Started),
		})
	}
	f.Leases = leases(a.host.Policy(), in, f.Now)
	recent, _ := a.host.Recent(ctx)
	for _, r := range recent {
		f.Recent = append(f.Recent, menubar.Recent{
			ID: r.ID, Agent: shown.NewAgent(r.AgentID, in.Agents[r.AgentID]).Name,
			Command: r.Command, Verdict: outcomes[r.Outcome], CanUndo: r.CanUndo,
		})
	}
	return f
}

// leases are the entries that end, that which ends first in front.
func leases(policy store.Snapshot, in shown.Person, now time.Time) (list []menubar.Lease) {
	if policy.Document == nil {
		return nil
	}
	for id, agent := range policy.Document.Agents {
		for _, e := range agent.Allowlist {
			if !e.Leased() || e.Disabled || e.Ended(now) {
				continue
			}
			l := menubar.Lease{
				ID: e.ID, Agent: shown.NewAgent(id, in.Agents[id]).Name, Uses: -1,
				Command: strings.Join(append([]string{path.Base(e.Pattern)}, e.Args...), " "),
			}
			if e.UsesLeft != nil {
				l.Uses = *e.UsesLeft
			}
			if ends := e.Ends(); e.SessionKey == "" && ends != 0 {
				l.Ends = time.UnixMilli(ends)
			}
			list = append(list, l)
		}
	}
	slices.SortFunc(list, func(x, y menubar.Lease) int {
		return cmp.Or(cmp.Compare(endOf(x), endOf(y)), cmp.Compare(x.ID, y.ID))
	})
	return list
}

// endOf orders leases: those that end at a time first.
func endOf(l menubar.Lease) int64 {
	if l.Ends.IsZero() {
		return math.MaxInt64
	}
	return l.Ends.UnixMilli()
}

// outcomes are the words for what became of a request.
var outcomes = map[host.Outcome]string{
	host.Passed: "Passed", host.AllowedOnce: "Allowed once", host.AllowedAlways: "Always allowed",
	host.DeniedByYou: "Denied by you", host.DeniedByRule: "Denied by rule", host.Denied: "Denied",
	host.TimeRanOut: "Time ran out", host.CallerHungUp: "Caller hung up",
}

// press does what a row of the menu says.
func (a *app) press(id string) {
	switch verb, subject, detail := menubar.Parse(id); verb {
	case "question":
		a.show(subject)
	case "mode":
		a.setMode(subject, detail)
	case "stop":
		a.host.Stop(subject)
	case "pause":
		_ = a.pause(subject) // one that is longer stays
	case "resume":
		a.resume()
	case "stop-everything":
		if subject == "now" {
			_ = a.stopEverything() // it has been told
		}
	case "end-lease":
		_, err := a.host.EndLeases(func(_ string, e approval.Entry) bool { return e.ID == subject })
		a.orSettings(err)
	case "undo":
		a.orSettings(a.host.Undo(subject))
	case "login":
		a.orSettings(openAtLogin(a.state, a.person.Home))
		a.menuChanged()
	case "hooks":
		a.openPage(hooksPage)
	case "restart":
		a.update()
	case "settings":
		a.openSettings()
	case "quit":
		a.quit()
	}
}

// setMode sets a mode from the menu, where it can be taken back like an edit
// in the settings. Where other programs can press the rows of the menu, one
// that loosens leads to the settings instead.
func (a *app) setMode(agentID, mode string) {
	snap := a.host.Policy()
	if snap.Document == nil || menuIsOpen && a.loosens(snap.Document, agentID, mode) {
		a.openAgent(agentID)
		return
	}
	saved := a.settings.apply(agentID, shown.Rev(snap.Document, agentID), func(d *store.Document) error {
		return setMode(d, agentID, shown.Mode(mode))
	})
	if !saved.OK {
		a.openAgent(agentID)
	}
	a.tell(eventPolicy)
}

// loosens reports whether a mode permits what the policy does not, or may.
func (a *app) loosens(now *store.Document, agentID, mode string) bool {
	if shown.Mode(mode) == shown.ModeDeny {
		return false
	}
	text, err := now.Encode()
	if err != nil {
		return true
	}
	next, err := store.Parse("the policy", text, a.person.Home)
	if err != nil || setMode(next, agentID, shown.Mode(mode)) != nil {
		return true
	}
	return len(store.Loosens(now, next)) > 0
}
