package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/app/stage"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/node"
	"github.com/countersign-app/countersign/backend/store"
)

// Settings is what the page may do about the policy and the app. All its
// methods can be called by whatever runs in the page.
type Settings struct {
	app     *app
	undos   undos
	imports imported
	hashes  machine.Hashes // of skills
}

// Saved says what became of an edit, and what holds now.
type Saved struct {
	OK bool `json:"ok"`
	// Conflict tells that what was edited had changed meanwhile, so that
	// nothing was saved.
	Conflict bool          `json:"conflict"`
	Message  string        `json:"message,omitempty"`
	Policy   *shown.Policy `json:"policy,omitempty"`
	// CanUndo tells that the last edit can be taken back.
	CanUndo bool `json:"canUndo"`
}

// Agents returns everybody who is named in the policy or waits.
func (s *Settings) Agents() []shown.AgentRow {
	return shown.Agents(s.app.host.Policy(), s.app.host.Waiting(), s.app.names())
}

const (
	// firstRows is more entries than a window shows, so that a long list holds
	// up nothing, and moreRows how many follow at once.
	firstRows = 200
	moreRows  = 2500
)

// Policy returns what holds for an agent, with the first entries of a long
// list.
func (s *Settings) Policy(agentID string) shown.Policy {
	return shown.Beginning(s.app.host.Policy(), agentID, s.app.names(), firstRows)
}

// Entries returns further entries, from the one at first on, and none if rev
// is not what holds any more.
func (s *Settings) Entries(agentID, rev string, first int) []shown.EntryRow {
	snap := s.app.host.Policy()
	if first < 0 || snap.Document == nil || shown.Rev(snap.Document, agentID) != rev {
		return []shown.EntryRow{}
	}
	return shown.EntryRows(snap, agentID, s.app.names(), first, moreRows)
}

// whole returns what holds for an agent, with all entries.
func (s *Settings) whole(agentID string) shown.Policy {
	return shown.NewPolicy(s.app.host.Policy(), agentID, s.app.names())
}

// SetMode gives an agent, or every agent, one of the five modes.
func (s *Settings) SetMode(agentID, rev, mode string) Saved {
	return s.edit(agentID, rev, func(d *store.Document) error { return setMode(d, agentID, shown.Mode(mode)) })
}

// SetWord gives "security", "ask", "askFallback" or "autoAllowSkills" a value;
// an empty one lets the settings of every agent decide.
func (s *Settings) SetWord(agentID, rev, field, value string) Saved {
	return s.edit(agentID, rev, func(d *store.Document) error { return d.SetFor(agentID, field, value) })
}

func setMode(d *store.Document, agentID string, mode shown.Mode) error {
	security, ask, ok := mode.Words()
	if !ok {
		return errors.New("there is no such mode")
	}
	return errors.Join(d.SetFor(agentID, "security", string(security)), d.SetFor(agentID, "ask", string(ask)))
}

// AddEntry adds an entry to an agent's allowlist.
func (s *Settings) AddEntry(agentID, rev string, e shown.EntryEdit) Saved {
	return s.edit(agentID, rev, func(d *store.Document) error {
		entry := approval.Entry{AddedAt: time.Now().UnixMilli(), AddedBy: "settings"}
		if err := s.write(&entry, e); err != nil {
			return err
		}
		d.Add(agentID, entry)
		return nil
	})
}

// ChangeEntry gives an entry another text. What else it holds stays.
func (s *Settings) ChangeEntry(agentID, rev, id string, e shown.EntryEdit) Saved {
	return s.change(agentID, rev, id, func(entry *approval.Entry) error { return s.write(entry, e) })
}

// SwitchEntry turns an entry on or off.
func (s *Settings) SwitchEntry(agentID, rev, id string, on bool) Saved {
	return s.change(agentID, rev, id, func(entry *approval.Entry) error { entry.Disabled = !on; return nil })
}

// RemoveEntry takes an entry out of an agent's allowlist.
func (s *Settings) RemoveEntry(agentID, rev, id string) Saved {
	return s.edit(agentID, rev, func(d *store.Document) error {
		if len(d.Remove(agentID, id)) == 0 {
			return errChanged
		}
		return nil
	})
}

func (s *Settings) change(agentID, rev, id string, f func(*approval.Entry) error) Saved {
	return s.edit(agentID, rev, func(d *store.Document) (err error) {
		if !d.Change(agentID, id, func(e *approval.Entry) { err = f(e) }) {
			return errChanged
		}
		return err
	})
}

// write puts what a person wrote into an entry, and notes what it means now.
func (s *Settings) write(entry *approval.Entry, e shown.EntryEdit) error {
	if err := checkFolder(e.Cwd, s.app.person.Home); err != nil {
		return err
	}
	if entry.Pattern != e.Pattern {
		entry.Identity, entry.Interpreters, entry.Links = nil, nil, nil
		entry.Env = nil // for that program they were said
	}
	entry.Pattern, entry.Args, entry.ArgsExact = e.Pattern, slices.Clone(e.Args), e.ArgsExact
	entry.Cwd, entry.Note = e.Cwd, e.Note
	entry.AddedFor = "" // it is no more what an answer wrote
	host.RecordIdentity(entry, s.app.person.Home)
	return nil
}

// AddDeny adds a rule to an agent's denylist.
func (s *Settings) AddDeny(agentID, rev string, e shown.DenyEdit) Saved {
	return s.edit(agentID, rev, func(d *store.Document) error {
		d.Deny(defaultsFor(agentID), denyRule(e))
		return nil
	})
}

// RemoveDeny takes a rule out of an agent's denylist.
func (s *Settings) RemoveDeny(agentID, rev string, e shown.DenyEdit) Saved {
	return s.edit(agentID, rev, func(d *store.Document) error {
		found := d.Undeny(defaultsFor(agentID), denyRule(e))
		if agentID == shown.Every && d.Agents[shown.Every] != nil {
			found = d.Undeny(shown.Every, denyRule(e)) || found
		}
		if !found {
			return errChanged
		}
		return nil
	})
}

func denyRule(e shown.DenyEdit) approval.DenyRule {
	return approval.DenyRule{Pattern: e.Pattern, Args: slices.Clone(e.Args), Reason: e.Reason}
}

// defaultsFor is where what holds for every agent is kept, but for its
// allowlist: the defaults.
func defaultsFor(agentID string) string {
	if agentID == shown.Every {
		return ""
	}
	return agentID
}

// errChanged says that what was edited is not what is there.
var errChanged = errors.New("this was changed meanwhile, so nothing was saved: look at it again")

// edit saves an edit of one agent's settings, if they are still those that
// were shown.
func (s *Settings) edit(agentID, rev string, f func(*store.Document) error) Saved {
	if !s.app.edits() {
		return s.failed(errNotOpen, agentID)
	}
	return s.apply(agentID, rev, f)
}

// errNotOpen says that an edit does not come from what a person sees.
var errNotOpen = errors.New("nothing was saved: the settings are not in sight, or a question covers them")

// apply saves an edit on a person's word.
func (s *Settings) apply(agentID, rev string, f func(*store.Document) error) Saved {
	if agentID == "" {
		return s.failed(errors.New("an agent without a name has no settings of its own: use those of every agent"), agentID)
	}
	var before []byte
	var after string
	_, err := s.app.host.Update(func(d *store.Document) (err error) {
		if rev == "" || shown.Rev(d, agentID) != rev {
			return errChanged
		}
		if before, err = d.Encode(); err != nil {
			return err
		}
		if err := f(d); err != nil {
			return err
		}
		after = shown.Rev(d, agentID)
		return nil
	})
	if err != nil {
		return s.failed(err, agentID)
	}
	s.undos.push(undo{agentID: agentID, rev: after, before: before})
	return s.saved(agentID)
}

func (s *Settings) saved(agentID string) Saved {
	p := s.whole(agentID)
	return Saved{OK: true, Policy: &p, CanUndo: s.undos.any()}
}

func (s *Settings) failed(err error, agentID string) Saved {
	p := s.whole(agentID)
	return Saved{
		Conflict: errors.Is(err, errChanged) || errors.Is(err, store.ErrChanged), Message: sentence(err),
		Policy: &p, CanUndo: s.undos.any(),
	}
}

// Undo takes the last edit back, unless its agent's settings have changed
// since. The answer holds the settings of that agent.
func (s *Settings) Undo() Saved {
	u, ok := s.undos.last()
	if !ok {
		return Saved{Message: "There is nothing to undo."}
	}
	if !s.app.edits() {
		return s.failed(errNotOpen, u.agentID)
	}
	old, err := store.Parse("the version before", u.before, s.app.person.Home)
	if err == nil {
		_, err = s.app.host.Update(func(d *store.Document) error {
			if !u.stands(d) {
				return errChanged
			}
			u.restore(d, old)
			return nil
		})
	}
	if err == nil || errors.Is(err, errChanged) {
		s.undos.drop(u)
	}
	if err != nil {
		return s.failed(err, u.agentID)
	}
	return s.saved(u.agentID)
}

// Preview says what an entry of an agent would mean on this machine, and would
// have meant for what the agent asked for lately.
func (s *Settings) Preview(agentID string, e shown.EntryEdit) shown.Preview {
	ctx, cancel := context.WithTimeout(context.Background(), previewTime)
	defer cancel()
	p := s.app.preview(ctx, e)
	if p.Problem != "" || agentID == store.Every {
		return p
	}
	ctx, cancel = context.WithTimeout(context.Background(), replayTime)
	defer cancel()
	entry := approval.Entry{Pattern: e.Pattern, Args: e.Args, ArgsExact: e.ArgsExact, Cwd: e.Cwd}
	if told, err := s.app.host.Replay(ctx, agentID, [][]approval.Entry{{entry}}); err == nil {
		r := told[0]
		p.Replay = &shown.Replayed{Looked: r.Looked, Allowed: r.Allowed, Denied: r.Denied, Riskiest: shown.Excerpt(r.Riskiest), Complete: r.Complete}
	}
	return p
}

// Start returns what the first-run page shows.
func (s *Settings) Start() shown.Start {
	return s.app.startingPoints(context.Background())
}

// Choose takes one of the three starting points: "deny-all", "ask-me" or
// "developer-tools". It counts only while nobody has chosen.
func (s *Settings) Choose(start string) Saved { return s.choose(start) }

// LeaveFirstRun ends the first run, whatever was made of the agents in it.
func (s *Settings) LeaveFirstRun() {
	if s.app.edits() {
		s.app.offerHooks(false)
	}
}

// Host returns the state of the host and its socket.
func (s *Settings) Host() shown.Host {
	now := s.app.host.Status()
	h := shown.Host{
		Version: now.Version, PID: now.PID, Started: now.Started, StateDir: display.Escape(now.StateDir), Socket: display.Escape(now.Socket),
		Waiting: now.Waiting, Running: now.Running, Environment: now.Environment, Broken: display.Escape(now.Broken), PassphraseChanged: now.PassphraseChanged, CanUndo: s.undos.any(),
		Held: []string{}, HeldHash: now.HeldHash, Bindings: []shown.Binding{}, Replaced: s.app.program.replaced(),
	}
	if c, err := config.Load(s.app.state.Gateway()); err != nil {
		h.BindingsProblem = sentence(fmt.Errorf("the configuration cannot be used: %w", err))
	} else {
		h.Bindings = shown.NewBindings(c, s.app.names())
	}
	if n, err := node.ReadStatus(s.app.state.NodeStatus()); err == nil && n.State != node.Stopped {
		h.NodeService = &shown.NodeService{State: string(n.State), Gateway: display.Escape(n.Gateway), Since: n.Since, Called: n.Called, Error: display.Escape(n.Error)}
	}
	if now.History != "" {
		h.History = sentence(errors.New(now.History))
	}
	for _, at := range now.HistoryAside {
		h.HistoryAside = append(h.HistoryAside, display.Escape(at))
	}
	for _, loosens := range now.Held {
		h.Held = append(h.Held, display.Escape(loosens))
	}
	s.app.on(stage.EditShown{ID: editID(h.HeldHash)})
	if row, err := s.app.host.LastRequest(context.Background()); err == nil && row != nil {
		h.LastRequest, h.LastPeer, h.LastAgent = row.Arrived.UnixMilli(), display.Escape(row.PeerExe), row.AgentID
	}
	return h
}

// ReadEnvironment has the host read the login environment again, which takes
// as long as the person's shell.
func (s *Settings) ReadEnvironment() Saved {
	err := errNotOpen
	if s.app.edits() {
		err = s.app.host.ReadEnvironment(context.Background())
	}
	if err != nil {
		return Saved{Message: sentence(err)}
	}
	return Saved{OK: true}
}

// Restart ends the app and starts the version that is in its place now.
func (s *Settings) Restart() Saved {
	if !s.app.edits() {
		return Saved{Message: sentence(errNotOpen)}
	}
	s.app.restart()
	return Saved{OK: true}
}

// Ready says that the settings are on the page. The window is shown then.
func (s *Settings) Ready() { s.app.settingsReady() }
