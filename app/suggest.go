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

// suggested is an entry that the page shows as a suggestion.
type suggested struct {
	agentID string
	entry   approval.Entry
}

// Suggestions returns entries that would have answered many questions, the one
// that would have answered most first.
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
		found, err := a.app.host.Suggest(ctx, id)
		if err != nil {
			return list
		}
		for _, s := range found {
			if len(s.Offer.Writes) != 1 {
				continue
			}
			entry := s.Offer.Writes[0]
			one := shown.NewSuggestion(shown.NewAgent(id, in.Agents[id]), entry, s.Replay.Saved, s.Replay.Riskiest, in)
			list, known[one.ID] = append(list, one), suggested{id, entry}
		}
	}
	slices.SortStableFunc(list, func(x, y shown.Suggestion) int { return cmp.Compare(y.Saved, x.Saved) })
	list = list[:min(len(list), maxSuggestions)]
	a.mu.Lock()
	a.suggested = known
	a.mu.Unlock()
	return list
}

// AddSuggested saves an entry that was suggested, exactly as it was shown.
func (s *Settings) AddSuggested(id string) Saved {
	s.app.activity.mu.Lock()
	one, known := s.app.activity.suggested[id]
	s.app.activity.mu.Unlock()
	if !known {
		return s.failed(errChanged, "")
	}
	doc := s.app.host.Policy().Document
	if doc == nil {
		return s.failed(errChanged, one.agentID)
	}
	return s.edit(one.agentID, shown.Rev(doc, one.agentID), func(d *store.Document) error {
		e := one.entry
		e.AddedAt, e.AddedBy = time.Now().UnixMilli(), "suggestion"
		d.Add(one.agentID, e)
		return nil
	})
}
