package main

import (
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/pending"
)

// Hold stops the clock of a question as far as its callers wait, or lets it
// run on.
func (a *Approvals) Hold(id string, on bool) Answered { return answered(a.app.host.Hold(id, on)) }

// denyLives are how long a denial stands; 0 is for the session.
var denyLives = map[string]time.Duration{"10-minutes": gate.DenyLife, "session": 0}

// DenyFor denies a question and each identical request to come, for
// "10-minutes" or for the "session".
func (a *Approvals) DenyFor(id, life, note string) Answered {
	d, ok := denyLives[life]
	if !ok {
		return Answered{Message: unknown}
	}
	return answered(a.app.host.DenyFor(id, approval.Answer{By: "panel", Note: shorten(note)}, d))
}

// DenyAlways denies a question and writes the nth of its Denials.
func (a *Approvals) DenyAlways(id string, n int, note string) Answered {
	if !a.app.looked(id) { // it stays until somebody takes it back
		return Answered{Message: tooEarly}
	}
	return answered(a.app.host.DenyAlways(id, n, approval.Answer{By: "panel", Note: shorten(note)}))
}

// AllowIfAsksAgain keeps one yes for ten minutes, for the identical request of
// a caller that has gone.
func (a *Approvals) AllowIfAsksAgain(id, seen string) Answered {
	return a.answer(id, seen, approval.AllowOnce, func(saw pending.Shown) error {
		return a.app.host.AllowAgain(id, saw, approval.Answer{By: "panel"})
	})
}

// Standing returns the answers that stand for requests to come, those that end
// first in front.
func (s *Settings) Standing() []shown.Standing {
	in, list := s.app.names(), []shown.Standing{}
	for _, one := range s.app.host.Standing() {
		list = append(list, shown.Standing{
			ID: one.ID, Agent: shown.NewAgent(one.AgentID, in.Agents[one.AgentID]), Command: display.Escape(one.Command),
			Allows: one.Decision == approval.AllowOnce, Until: one.Until,
		})
	}
	return list
}

// Forget ends an answer that stands: the request is asked about again.
func (s *Settings) Forget(id string) Answered {
	if !s.app.edits() {
		return Answered{Message: sentence(errNotOpen)}
	}
	s.app.host.Forget(id) // one that is gone has ended already
	return Answered{OK: true}
}
