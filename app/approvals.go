package main

import (
	"context"
	"slices"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/starts"
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

// WouldDo looks at what a question would do to which files. It takes 50 ms at
// most, and is empty for a question that does not wait.
func (a *Approvals) WouldDo(id string) shown.WouldDo {
	p, found := a.waiting(id)
	if !found {
		return shown.WouldDo{Lines: []shown.Line{}}
	}
	return shown.NewWouldDo(p, a.app.host.Preview(&p.Plan), a.app.person)
}

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
	return a.give(id, seen, approval.Answer{Decision: d, By: "panel", Note: shorten(note)})
}

// Remember gives a question the answer allow-always in one of its widths, here
// only in its folder, for as long as keep says.
func (a *Approvals) Remember(id, seen, width string, here bool, keep string) Answered {
	choice := approval.Choice{Here: here}
	if choice.Width.UnmarshalText([]byte(width)) != nil || choice.Keep.UnmarshalText([]byte(keep)) != nil {
		return Answered{Message: unknown}
	}
	return a.give(id, seen, approval.Answer{Decision: approval.AllowAlways, By: "panel", Choice: choice})
}

func (a *Approvals) waiting(id string) (approval.Prompt, bool) {
	list := a.app.host.Waiting()
	i := slices.IndexFunc(list, func(p approval.Prompt) bool { return p.ID == id })
	if i < 0 {
		return approval.Prompt{}, false
	}
	return list[i], true
}

// Replay tells what remembering a yes to this question in each of its widths
// would have meant for the latest requests of the agent.
func (a *Approvals) Replay(id string) []shown.Replayed {
	p, found := a.waiting(id)
	if !found {
		return []shown.Replayed{}
	}
	return a.app.replay(p.AgentID, p.Judgement.Offers)
}

// StartFor tells of the start with which a question can be answered, without a name
// where there is none.
func (a *Approvals) StartFor(id string) shown.StartOffer {
	p, found := a.waiting(id)
	if !found || !slices.Contains(p.Judgement.Choices, approval.AllowAlways) {
		return shown.StartOffer{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	o, ok := a.app.host.StartFor(ctx, p)
	if !ok {
		return shown.StartOffer{}
	}
	times := 0
	if o.Suggested() {
		times = o.Yes
	}
	return shown.NewStartOffer(string(o.Start), o.Folder, len(o.Made.Entries), times, a.app.names())
}

// TakeStartFor takes that start, and with it allows the question.
func (a *Approvals) TakeStartFor(id, seen, start string) Answered {
	p, found := a.waiting(id)
	if !found {
		return Answered{Message: sentence(pending.ErrUnknown)}
	}
	return a.answer(id, seen, approval.AllowAlways, func(saw pending.Shown) error {
		if saw.Digest != p.Digest() {
			return pending.ErrOther
		}
		return a.app.host.TakeStartFor(context.Background(), p, starts.Start(start))
	})
}

// lookTime bounds how long the page waits for a look at all programs of a start.
const lookTime = 2 * time.Second

// replayTime bounds how long the page waits for what an entry would have meant.
const replayTime = 500 * time.Millisecond

// replay tells what each width would have meant for the latest requests of an
// agent, in every folder and, where that can be chosen, in its folder alone.
func (a *app) replay(agentID string, offers []approval.Offer) []shown.Replayed {
	list := []shown.Replayed{}
	var sets [][]approval.Entry
	for _, o := range offers {
		for _, here := range []bool{false, true} {
			if !here || o.Folder != "" {
				list = append(list, shown.Replayed{Width: o.Width, Here: here})
				sets = append(sets, o.Entries(here))
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), replayTime)
	defer cancel()
	told, err := a.host.Replay(ctx, agentID, sets)
	if err != nil {
		return []shown.Replayed{}
	}
	for i, r := range told {
		list[i].Looked, list[i].Allowed, list[i].Yes, list[i].Denied, list[i].Complete = r.Looked, r.Allowed, r.Yes, r.Denied, r.Complete
		list[i].Riskiest = shown.Excerpt(r.Riskiest)
		list[i].TurnedDown = r.TurnedDown() || a.prefs.turnedDown(agentID, sets[i])
	}
	return list
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
