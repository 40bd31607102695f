package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/preview"
	"github.com/countersign-app/countersign/backend/rescue"
	"github.com/countersign-app/countersign/backend/store"
)

// What follows is for the program that runs the host in its own process and
// shows its questions to a person: it is the panel, and needs no key.

// Watch waits until the questions changed since cursor, then returns them and
// the next cursor.
func (h *Host) Watch(ctx context.Context, cursor uint64) (uint64, []approval.Prompt) {
	return h.pending.Watch(ctx, cursor)
}

// Waiting returns the questions, those that somebody waits for first.
func (h *Host) Waiting() []approval.Prompt { return h.pending.List() }

// Preview looks at what a plan would do to which files. It takes preview.Limit at
// most; what a yes means does not hang on it.
func (h *Host) Preview(plan *approval.Plan) preview.Preview {
	return h.looker.Look(plan, preview.Limit)
}

// Answer gives a question a person's answer. Its errors are those of package
// pending, and of Options.Confirm.
func (h *Host) Answer(id string, shown pending.Shown, a approval.Answer) error {
	if a.Decision != approval.DecisionDeny {
		if err := h.confirm(id); err != nil {
			return err
		}
	}
	return h.pending.Answer(id, shown, a)
}

// AnswerMany gives several small questions of one agent a person's answers.
// The errors are in the order of the replies.
func (h *Host) AnswerMany(replies []pending.Reply, a approval.Answer) []error {
	var allowed []string
	for _, r := range replies {
		if r.Decision != approval.DecisionDeny {
			allowed = append(allowed, r.ID)
		}
	}
	if err := h.confirm(allowed...); err != nil {
		return slices.Repeat([]error{err}, len(replies))
	}
	return h.pending.AnswerMany(replies, a)
}

// AnswerShared gives a person's yes to the questions of several agents that were
// shown as one, or to none of them.
func (h *Host) AnswerShared(shown map[string]pending.Shown, a approval.Answer) error {
	if err := h.confirm(slices.Sorted(maps.Keys(shown))...); err != nil {
		return err
	}
	return h.pending.AnswerShared(shown, a)
}

// AllowOne lets one of the requests that share a question run once, and denies
// the others.
func (h *Host) AllowOne(id string, shown pending.Shown, a approval.Answer) error {
	if err := h.confirm(id); err != nil {
		return err
	}
	return h.pending.AllowOne(id, shown, a)
}

// confirm has the person show that it is them, if that is needed for a yes to
// one of these questions. What they see then is not what the answer is bound
// to: that is still what they were shown before.
func (h *Host) confirm(ids ...string) error {
	var agents []string
	what := ""
	for _, id := range ids {
		if p, _, ok := h.pending.Find(id); ok && h.Confirms(p) {
			agents = append(agents, p.AgentID)
			what = fmt.Sprintf("allow “%s”", excerpt(p.Plan.Text))
		}
	}
	switch {
	case len(agents) == 0:
		return nil
	case len(agents) > 1:
		what = fmt.Sprintf("allow %d commands", len(agents))
	}
	return h.present(what, agents...)
}

// Confirms reports whether a yes to a question needs the person to show that it
// is them.
func (h *Host) Confirms(p approval.Prompt) bool {
	return h.store.Snapshot().Policy(p.AgentID).Presence.For(p.Judgement.Risk.Level)
}

// present has the person show that it is them.
func (h *Host) present(what string, agents ...string) error {
	if h.opt.Confirm == nil {
		return ErrNoPresence
	}
	return h.opt.Confirm(what, agents)
}

// excerpt is the beginning of a text, for a place with little room.
func excerpt(text string) string {
	if runes := []rune(text); len(runes) > 80 {
		text = string(runes[:80]) + "…"
	}
	return display.Line(text)
}

// ErrNoPresence refuses what nobody can confirm.
var ErrNoPresence = errors.New("this needs Touch ID or your password, and this host cannot ask for them: deny it, or end the host and run `countersign policy set presence never`")

// Present reports whether the policy wants the person themselves for some yes.
// Then it wants them for what loosens it, too: else an entry would be a yes that
// nobody confirmed.
func (h *Host) Present() bool {
	return h.store.Snapshot().Present()
}

// errConfirm ends an edit that has to be confirmed first.
type errConfirm struct{ loosens []string }

func (errConfirm) Error() string { return "this edit has to be confirmed" }

// edit edits the policy, once the person confirmed what it loosens where that
// is needed, and lets the new one answer the questions that it covers.
func (h *Host) edit(baseHash string, by maker, edit func(*store.Document) error) (store.Snapshot, error) {
	var confirmed []string
	for {
		var before store.Snapshot
		snap, err := h.store.Update(baseHash, func(d *store.Document) error {
			before = h.store.Snapshot()
			if err := edit(d); err != nil || !h.Present() {
				return err
			}
			loosens := store.Loosens(h.store.Snapshot().Document, d)
			if len(loosens) > 0 && !slices.Equal(loosens, confirmed) {
				return errConfirm{loosens}
			}
			return nil
		})
		var first errConfirm
		if !errors.As(err, &first) {
			if err == nil {
				h.tightened.add(before, snap, by, time.Now())
				h.gate.Recheck()
			}
			return snap, err
		}
		if err := h.present("loosen the policy", store.Every); err != nil {
			return snap, err
		}
		confirmed = first.loosens
	}
}

// Hold stops the clock of a question as far as its callers wait, or lets it
// run on. Its errors are those of package pending.
func (h *Host) Hold(id string, on bool) error { return h.pending.Hold(id, on) }

// Policy returns the policy of this moment.
func (h *Host) Policy() store.Snapshot { return h.store.Snapshot() }

// Update edits the policy on a person's word and lets the new one answer the
// questions that it covers. Its errors are those of store.Update.
func (h *Host) Update(edit func(*store.Document) error) (store.Snapshot, error) {
	return h.edit("", theWindow, edit)
}

// EndLeases takes back the leases that which picks and returns how many there
// were.
func (h *Host) EndLeases(which func(agentID string, e approval.Entry) bool) (n int, err error) {
	_, err = h.store.Update("", func(d *store.Document) error {
		n = d.EndLeases(which)
		return nil
	})
	return n, err
}

// Replay tells what entries would have meant for the latest requests of an
// agent.
func (h *Host) Replay(ctx context.Context, agentID string, sets [][]approval.Entry) ([]judge.Replay, error) {
	return h.gate.Judge().Replay(ctx, agentID, sets)
}

// Suggest returns entries that an agent should have, by what it was allowed, and
// that are not unwanted.
func (h *Host) Suggest(ctx context.Context, agentID string, unwanted func([]approval.Entry) bool) ([]judge.Suggestion, error) {
	return h.gate.Judge().Suggest(ctx, agentID, unwanted)
}

// Offered returns how a recorded request can be allowed from now on. Its errors
// say for a person why it cannot.
func (h *Host) Offered(ctx context.Context, id string) (judge.Offered, error) {
	return h.gate.Judge().Offered(ctx, id)
}

// ScreenAway tells that nobody who may answer is in front of the screen, or that
// they are back. Nothing is answered meanwhile; with endSessions leases of the
// length of a session end.
func (h *Host) ScreenAway(away, endSessions bool) error {
	h.pending.Lock(away)
	if !away || !endSessions {
		return nil
	}
	_, err := h.EndLeases(func(_ string, e approval.Entry) bool { return e.SessionKey != "" })
	return err
}

// AcceptEdit takes the edit of the policy file that waits, if it is still the
// one with this hash (see store.Held), and gives store.ErrChanged where not.
func (h *Host) AcceptEdit(hash string) error {
	if h.Present() {
		if err := h.present("accept an edit of the policy", store.Every); err != nil {
			return err
		}
	}
	return h.store.Accept(hash)
}

// RejectEdit puts the accepted policy back in the place of an edit that waits,
// if it is still the one with this hash.
func (h *Host) RejectEdit(hash string) error { return h.store.Reject(hash) }

// Status tells how the host is.
func (h *Host) Status() Status { return h.status() }

// Running returns what runs now.
func (h *Host) Running(ctx context.Context) ([]Run, error) { return h.running(ctx) }

// Stop ends a running command and reports whether there was one.
func (h *Host) Stop(id string) bool { return h.runner.Stop(id) }

// LastRequest returns the latest request in the history, nil if there is none.
func (h *Host) LastRequest(ctx context.Context) (*history.Row, error) {
	none := ""
	rows, err := h.history.List(ctx, history.Query{Parent: &none, Limit: 1})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// Find returns the program that a name leads to, nil for none.
func (h *Host) Find(ctx context.Context, name string) (*approval.Segment, error) {
	plan, _, err := h.gate.Judge().Explain(ctx, approval.Request{Command: []string{name}, Who: approval.Ours})
	if err != nil || len(plan.Segments) == 0 || plan.Segments[0].Program == nil {
		return nil, err
	}
	return &plan.Segments[0], nil
}

// Explain judges a request as it would be judged now, and neither asks, runs
// nor records anything.
func (h *Host) Explain(ctx context.Context, req approval.Request) (Explanation, error) {
	plan, judgement, err := h.gate.Judge().Explain(ctx, req)
	return Explanation{plan, judgement}, err
}

// Told is what an agent would be told of a judgement that is not a yes.
func (e Explanation) Told() string { return judge.Message(*judge.Denied(e.Plan, e.Judgement)) }

// Suppose tells what another policy would conclude about a command.
func (h *Host) Suppose(ctx context.Context, p approval.Policy, argv ...string) (approval.Verdict, error) {
	j, err := h.gate.Judge().Suppose(ctx, p, approval.Request{Command: argv, Who: approval.Ours})
	return j.Verdict, err
}

// SearchPath returns the folders in which programs are looked for.
func (h *Host) SearchPath(ctx context.Context) ([]string, error) {
	m, err := h.ready(ctx)
	if err != nil {
		return nil, err
	}
	return m.Env.Path(), nil
}

// follow judges the waiting questions again after every change of the policy,
// and tells whoever shows it.
func (h *Host) follow(ctx context.Context, was store.Snapshot) {
	whole := was // the last one that could be read
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.store.Changed():
		}
		now := h.store.Snapshot()
		if now.Generation != whole.Generation && now.Broken == nil {
			h.byFile(whole, now)
			whole = now
		}
		h.changed(now.Generation != was.Generation)
		was = now
	}
}

// byFile takes what nobody said to this host for an edit of the file.
func (h *Host) byFile(was, now store.Snapshot) {
	defer rescue.Catch(h.log, "what an edit of the policy tightened", nil)
	h.tightened.add(was, now, theFile, time.Now())
}

func (h *Host) changed(policy bool) {
	defer rescue.Catch(h.log, "a change of the policy", nil)
	if policy {
		h.gate.Recheck()
	}
	if h.opt.PolicyChanged != nil {
		h.opt.PolicyChanged()
	}
}

// KeepHistory changes how long a row of the history is kept at most, from the
// next write on.
func (h *Host) KeepHistory(age time.Duration) { h.history.Keep(age) }
