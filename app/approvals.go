package main

import (
	"slices"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
)

// Approvals is what the page may do about questions. All its methods can be
// called by whatever runs in the page.
type Approvals struct{ app *app }

// Answered says what became of an answer.
type Answered struct {
	OK bool `json:"ok"`
	// Message says why it did not count.
	Message string `json:"message,omitempty"`
}

// Screen returns what is to be shown now. Of the questions only the wanted one
// is whole, or the first if that is not there.
func (a *Approvals) Screen(want string) shown.Screen { return a.app.screen(want) }

// Ready says that a question is on the page, and how many points of height it
// would like to have. The window is shown then, and not before.
func (a *Approvals) Ready(id string, height int) { a.app.ready(id, height) }

// Sentences for answers that do not count.
const (
	tooEarly = "The question had just appeared: press again if you mean it."
	unknown  = "Countersign does not know this answer."
)

// Decide gives a question an answer: "allow-once", "allow-always" or "deny".
// seen is that of the question as it was shown. note is for the agent.
func (a *Approvals) Decide(id, seen, decision, note string) Answered {
	var d approval.Decision
	if d.UnmarshalText([]byte(decision)) != nil {
		return Answered{Message: unknown}
	}
	waiting := a.app.host.Waiting()
	i := slices.IndexFunc(waiting, func(p approval.Prompt) bool { return p.ID == id })
	if i < 0 {
		return Answered{Message: sentence(pending.ErrUnknown)}
	}
	if d != approval.DecisionDeny && !a.app.looked(id) {
		return Answered{Message: tooEarly}
	}
	digest, count := a.app.names().Unseen(seen, waiting[i])
	err := a.app.host.Answer(id, pending.Shown{Digest: digest, Count: count}, approval.Answer{
		Decision: d, By: "panel", Note: shorten(note),
	})
	if err != nil {
		return Answered{Message: sentence(err)}
	}
	return Answered{OK: true}
}

// LeaveEdit takes the edit of the policy file that waits off the panel. The
// settings still show it.
func (a *Approvals) LeaveEdit() {
	a.app.mu.Lock()
	a.app.leaveEdit()
	a.app.mu.Unlock()
	a.app.questionsChanged()
}

// Dismiss takes a question away that nobody waits for. One that somebody
// waits for stays.
func (a *Approvals) Dismiss(id string) {
	for _, p := range a.app.host.Waiting() {
		if p.ID == id && p.CallerGone {
			_ = a.app.host.Answer(id, pending.Shown{}, approval.Answer{Decision: approval.DecisionDeny, By: "panel"})
		}
	}
}
