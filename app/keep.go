package main

import (
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/store"
)

// offered is what the page shows of a recorded request that may become an entry.
type offered struct {
	id, rev string // of the request, and of the settings when it was shown
	judge.Offered
}

// Offered returns how what a recorded request ran can be allowed from now on.
func (a *Activity) Offered(id string) shown.Offered {
	ctx, cancel := a.look()
	defer cancel()
	doc := a.app.host.Policy().Document
	found, err := a.app.host.Offered(ctx, id)
	if err != nil || doc == nil {
		return shown.NewOffered(found.Offers, len(found.Leases), said(err), a.app.names())
	}
	a.mu.Lock()
	a.offered = offered{id, shown.Rev(doc, found.AgentID), found}
	a.mu.Unlock()
	page := shown.NewOffered(found.Offers, len(found.Leases), "", a.app.names())
	page.Replay = a.app.replay(found.AgentID, found.Offers)
	return page
}

// KeepOffered saves one of the widths in which a recorded request was offered,
// exactly as it was shown, for as long as keep says. It takes the place of the
// leases that let the request pass.
func (s *Settings) KeepOffered(id, width string, here bool, keep string) Saved {
	s.app.activity.mu.Lock()
	one := s.app.activity.offered
	s.app.activity.mu.Unlock()
	choice := approval.Choice{Here: here}
	if choice.Width.UnmarshalText([]byte(width)) != nil || choice.Keep.UnmarshalText([]byte(keep)) != nil {
		return Saved{Message: unknown}
	}
	entries, there := approval.Judgement{Offers: one.Offers}.Chosen(choice, "")
	if one.id != id || !there {
		return s.failed(errChanged, one.AgentID)
	}
	return s.edit(one.AgentID, one.rev, func(d *store.Document) error {
		gate.Keep(d, one.Offered, entries, choice.Keep, time.Now())
		return nil
	})
}
