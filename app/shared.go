package main

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/app/stage"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
)

// sharing is which questions are one on the panel: agents that ask the same. Who is
// there together stays so: another that comes, or comes again, is a question of its
// own until the panel goes to another question and back. Else an agent could have
// what is in sight change all the time, so that no answer to it ever counts.
type sharing struct {
	mu  sync.Mutex
	ids []string // of the question on the panel
	// settled tells that it was once that of several.
	settled bool
	// apart are those that a person took out.
	apart map[string]bool
	// seen is what the page was given to answer, since when.
	seen  string
	since time.Time
}

// with returns those that share the panel with a question, in the order in which
// they came, itself among them. Some may have ended. join lets others come to one
// that is on the panel alone, unless a person has stopped its clock to think.
func (s *sharing) with(p approval.Prompt, all []approval.Prompt, in shown.Person, join bool) []approval.Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(all)
	rows := s.still(all)
	there := slices.ContainsFunc(rows, func(o approval.Prompt) bool { return o.ID == p.ID })
	s.settled = s.settled && there
	switch live := liveOf(rows); {
	case !there || len(live) == 0, len(rows) == 1 && join && !p.Held && !s.settled:
		rows = s.same(p, all, in)
	case len(live) > 1 && !canShare(live, in):
		rows = []approval.Prompt{p}
	}
	s.settled = s.settled || len(rows) > 1
	s.ids = nil
	for _, o := range rows {
		s.ids = append(s.ids, o.ID)
	}
	return rows
}

// still are those of the panel that are not answered, in the order of its rows.
func (s *sharing) still(all []approval.Prompt) (rows []approval.Prompt) {
	for _, id := range s.ids {
		if i := slices.IndexFunc(all, func(p approval.Prompt) bool { return p.ID == id }); i >= 0 {
			rows = append(rows, all[i])
		}
	}
	return rows
}

// same are those that may share the panel with a question, itself among them, the
// oldest first.
func (s *sharing) same(p approval.Prompt, all []approval.Prompt, in shown.Person) []approval.Prompt {
	rows := []approval.Prompt{p}
	for _, o := range all {
		if o.Plan.Text != p.Plan.Text || s.apart[p.ID] || s.apart[o.ID] {
			continue
		}
		if more := append(slices.Clone(rows), o); canShare(more, in) {
			rows = more
		}
	}
	if len(rows) == 1 {
		return rows
	}
	if q := shown.NewQuestion(p, in); !q.Small() || q.Command.Hidden {
		return rows[:1]
	}
	place := func(p approval.Prompt) int {
		return slices.IndexFunc(all, func(o approval.Prompt) bool { return o.ID == p.ID })
	}
	slices.SortFunc(rows, func(x, y approval.Prompt) int { return cmp.Compare(place(x), place(y)) })
	return rows
}

// canShare reports whether questions can be one, of agents that are told apart by
// what they are called.
func canShare(list []approval.Prompt, in shown.Person) bool {
	names := map[string]bool{}
	for _, p := range list {
		names[shown.NewAgent(p.AgentID, in.Agents[p.AgentID]).Name] = true
	}
	return len(names) == len(list) && pending.CanShare(list)
}

// firsts leaves those out that would share the panel of one before them, but never
// the one with this id.
func (s *sharing) firsts(list []approval.Prompt, id string, in shown.Person) (firsts []approval.Prompt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	covered := map[string]bool{}
	for _, p := range list {
		if covered[p.ID] && p.ID != id {
			continue
		}
		firsts = append(firsts, p)
		if p.ID == id {
			continue
		}
		for _, o := range s.same(p, list, in) {
			covered[o.ID] = true
		}
	}
	return firsts
}

// forget drops those taken out that are over.
func (s *sharing) forget(all []approval.Prompt) {
	for id := range s.apart {
		if !slices.ContainsFunc(all, func(p approval.Prompt) bool { return p.ID == id }) {
			delete(s.apart, id)
		}
	}
}

// given notes what the page is given to answer.
func (s *sharing) given(seen string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen != seen {
		s.seen, s.since = seen, now
	}
}

// looked reports whether the page has had exactly this for long enough.
func (s *sharing) looked(seen string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen == seen && now.Sub(s.since) >= stage.Guard
}

// takeOut makes a question one of its own for good.
func (s *sharing) takeOut(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.apart == nil {
		s.apart = map[string]bool{}
	}
	s.apart[id] = true
	s.ids = slices.DeleteFunc(s.ids, func(one string) bool { return one == id })
}

func liveOf(rows []approval.Prompt) []approval.Prompt {
	return slices.DeleteFunc(slices.Clone(rows), func(p approval.Prompt) bool { return p.CallerGone })
}

// shared makes the question on the panel, of all who ask the same, and returns who
// they are. One that has ended gives its place to one that waits.
func (a *app) shared(p approval.Prompt, in shown.Person, join bool) (shown.Question, []approval.Prompt) {
	rows := a.sharing.with(p, a.host.Waiting(), in, join)
	if live := liveOf(rows); p.CallerGone && len(live) > 0 {
		p = live[0]
	}
	q := shown.NewQuestion(p, in).WithDenials(a.host.DenyRules(p), in)
	if len(rows) > 1 {
		q = q.SharedBy(rows, in)
		for i, row := range rows {
			q.Sharers[i].Confirms = a.host.Confirms(row)
		}
	}
	a.sharing.given(q.Seen, a.clock())
	return q, rows
}

// places are the questions that have a place on the page each: the one that is whole,
// and others that do not share its panel or that of one before them.
func (a *app) places(v stage.View, whole int, rows []approval.Prompt, in shown.Person) []approval.Prompt {
	id := v.Waiting[whole].ID
	list := slices.DeleteFunc(slices.Clone(v.Waiting), func(p approval.Prompt) bool {
		return p.ID != id && slices.ContainsFunc(rows, func(row approval.Prompt) bool { return row.ID == p.ID })
	})
	if !v.Visible {
		return list // a hidden window comes to the front for each that is new
	}
	return a.sharing.firsts(list, id, in)
}

// TakeOut makes the question of one agent one of its own, of those that share the
// panel.
func (a *Approvals) TakeOut(id string) {
	if _, found := a.waiting(id); found {
		a.app.sharing.takeOut(id)
	}
}

// give gives the question on the panel an answer, for all that it was shown for.
func (a *Approvals) give(id, seen string, answer approval.Answer) Answered {
	parts := shown.SeenParts(seen)
	if parts == nil {
		return a.answer(id, seen, answer.Decision, func(shown pending.Shown) error { return a.app.host.Answer(id, shown, answer) })
	}
	switch {
	case len(parts) > pending.MaxShared:
		return Answered{Message: unknown}
	case answer.Decision == approval.DecisionDeny:
		return a.denyEach(parts, answer)
	case !a.app.looked(id) || !a.app.sharing.looked(seen, a.app.clock()):
		return Answered{Message: tooEarly}
	}
	in, saw := a.app.names(), map[string]pending.Shown{}
	for one, part := range parts {
		p, found := a.waiting(one)
		if !found {
			return Answered{Message: sentence(pending.ErrApart)}
		}
		digest, count := in.Unseen(part, p)
		saw[one] = pending.Shown{Digest: digest, Count: count}
	}
	answer.For = id
	return answered(a.app.host.AnswerShared(saw, answer))
}

// denyEach denies those of several questions that still wait.
func (a *Approvals) denyEach(parts map[string]string, answer approval.Answer) Answered {
	said := Answered{Message: sentence(pending.ErrUnknown)}
	for id := range parts {
		if one := answered(a.app.host.Answer(id, pending.Shown{}, answer)); one.OK || !said.OK {
			said = one
		}
	}
	return said
}
