package main

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

// turnedDown is an entry that is not to be suggested for an agent. It is kept beside
// the preferences and not in the policy: it permits and forbids nothing, and an edit
// of the policy would be compared, confirmed and undone as one.
type turnedDown struct {
	Agent string         `json:"agent"`
	Entry approval.Entry `json:"entry"`
}

// turnedDownKey is where they are in countersign.json, and maxTurnedDown how many
// bytes they may take there: the oldest go first.
const (
	turnedDownKey = "turnedDown"
	maxTurnedDown = maxPlain / 2
)

// turnDown keeps that these entries are not to be suggested.
func (p *preferences) turnDown(agentID string, entries []approval.Entry) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := slices.Clone(p.turned)
	for _, e := range entries {
		e.Identity, e.Interpreters, e.Links = nil, nil, nil // another version is the same suggestion
		list = append(list, turnedDown{agentID, e})
	}
	for bytesOf(list) > maxTurnedDown {
		list = list[1:]
	}
	if len(list) < len(entries) {
		return errors.New("the suggestion is too long to be noted")
	}
	if err := p.save(p.now.Kept, list); err != nil {
		return err
	}
	p.turned = list
	return nil
}

// bytesOf is how many bytes a list takes in the file.
func bytesOf(list []turnedDown) int {
	text, _ := json.MarshalIndent(list, "  ", "  ") // plain fields cannot fail
	return len(text)
}

// turnedDown reports whether a person turned down what permits all that these
// entries would.
func (p *preferences) turnedDown(agentID string, entries []approval.Entry) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(entries) > 0 && !slices.ContainsFunc(entries, func(e approval.Entry) bool {
		return !slices.ContainsFunc(p.turned, func(down turnedDown) bool { return down.Agent == agentID && store.NoWider(down.Entry, e) })
	})
}
