package main

import (
	"context"
	"errors"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/app/stage"
	"github.com/countersign-app/countersign/backend/store"
)

// followEdits has the panel show edits of the policy file as they come and go.
func (a *app) followEdits(ctx context.Context) {
	before := ""
	for {
		id := a.editNow()
		if id != before {
			before = id
			a.questionsChanged()
		}
		select {
		case <-ctx.Done():
			return
		case <-a.edited:
		}
	}
}

// editNow names the edit from outside that is for the panel, "" for none.
func (a *app) editNow() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stage.PanelEdit(a.now())
}

// LeaveEdit takes the edit of the policy file that waits off the panel. The
// settings still show it.
func (a *Approvals) LeaveEdit() {
	a.app.on(stage.EditLeft{})
	a.app.questionsChanged()
}

// sawEdit reports whether the settings have shown an edit from outside for long
// enough.
func (a *app) sawEdit(hash string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stage.SawEdit(editID(hash), a.clock())
}

// AnswerEdit takes an edit of the policy file that waits, or puts back what
// was there before it.
func (s *Settings) AnswerEdit(hash string, accept bool) Saved {
	onPanel := s.app.looked(shown.EditMark + hash)
	if !onPanel && !s.app.edits() {
		return Saved{Message: sentence(errNotOpen)}
	}
	if !onPanel && !s.app.sawEdit(hash) {
		return Saved{Conflict: true, Message: "This had just changed: look at it, and press again if you mean it."}
	}
	answer := s.app.host.RejectEdit
	if accept {
		answer = s.app.host.AcceptEdit
	}
	if err := answer(hash); err != nil {
		return Saved{Conflict: errors.Is(err, store.ErrChanged), Message: sentence(err)}
	}
	s.app.questionsChanged() // who follows edits may not have seen this one come
	return Saved{OK: true}
}
