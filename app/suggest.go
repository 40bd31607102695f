package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

const (
	// suggestTime bounds the look at the history for suggestions, and
	// suggestAgents at how many agents it looks.
	suggestTime   = 2 * time.Second
	suggestAgents = 8
	// maxSuggestions is how many are shown.
	maxSuggestions = 3
)

// suggested are entries that the page shows as one suggestion.
type suggested struct {
	agentID string
	entries []approval.Entry
}

// Suggestions returns entries that would have answered many questions, those
// that would have answered most first. What a person turned down is not among them.
func (a *Activity) Suggestions() []shown.Suggestion {
	ctx, cancel := context.WithTimeout(context.Background(), suggestTime)
	defer cancel()
	list, known := []shown.Suggestion{}, map[string]suggested{}
	ids, err := a.app.host.HistoryAgents(ctx)
	if err != nil {
		return list // the table says why
	}
	in := a.app.names()
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" }) // entries belong to an agent
	for _, id := range ids[:min(len(ids), suggestAgents)] {
		found, err := a.app.host.Suggest(ctx, id, func(list []approval.Entry) bool { return a.app.prefs.turnedDown(id, list) })
		if err != nil {
			return list
		}
		for _, s := range found {
			one := shown.NewSuggestion(shown.NewAgent(id, in.Agents[id]), s.Offer, s.Replay.Saved, s.Replay.Riskiest, in)
			list, known[one.ID] = append(list, one), suggested{id, s.Offer.Writes}
		}
	}
	slices.SortStableFunc(list, func(x, y shown.Suggestion) int { return cmp.Compare(y.Saved, x.Saved) })
	list = list[:min(len(list), maxSuggestions)]
	a.mu.Lock()
	a.suggested = known
	a.mu.Unlock()
	return list
}

// find returns a suggestion that the page shows.
func (a *Activity) find(id string) (suggested, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, known := a.suggested[id]
	return one, known
}

// AddSuggested saves the entries of a suggestion, exactly as they were shown. One
// undo takes all of them back.
func (s *Settings) AddSuggested(id string) Saved {
	one, known := s.app.activity.find(id)
	if !known {
		return s.failed(errChanged, "")
	}
	doc := s.app.host.Policy().Document
	if doc == nil {
		return s.failed(errChanged, one.agentID)
	}
	return s.edit(one.agentID, shown.Rev(doc, one.agentID), func(d *store.Document) error {
		for _, e := range one.entries {
			e.AddedAt, e.AddedBy = time.Now().UnixMilli(), "suggestion"
			d.Add(one.agentID, e)
		}
		return nil
	})
}

// TurnDown has a suggestion, and what is not wider, not come again.
func (s *Settings) TurnDown(id string) Saved {
	one, known := s.app.activity.find(id)
	switch {
	case !known:
		return s.failed(errChanged, "")
	case !s.app.edits():
		return s.failed(errNotOpen, one.agentID)
	}
	if err := s.app.prefs.turnDown(one.agentID, one.entries); err != nil {
		return s.failed(err, one.agentID)
	}
	return Saved{OK: true, CanUndo: s.undos.any()}
}
