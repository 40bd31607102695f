package main

import (
	"slices"
	"sync"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

// maxUndos bounds how many edits can be taken back.
const maxUndos = 50

// undo is one edit that can be taken back: whose settings it changed, how
// they were named after it, and the whole policy before it.
type undo struct {
	agentID, rev string
	before       []byte
	// whole tells that it may have changed all of the policy: rev is what it means
	// after it then.
	whole bool
}

// stands reports whether what the edit made still is what holds.
func (u undo) stands(d *store.Document) bool {
	if !u.whole {
		return shown.Rev(d, u.agentID) == u.rev
	}
	meaning, err := d.Meaning()
	return err == nil && meaning == u.rev
}

// accepted keeps how to take back a change that a terminal made, all of it at once.
func (s *Settings) accepted(before, after *store.Document) {
	text, err := before.Encode()
	if err != nil {
		return // there is nothing to go back to
	}
	if meaning, err := after.Meaning(); err == nil {
		s.undos.push(undo{agentID: shown.Every, rev: meaning, before: text, whole: true})
	}
}

type undos struct {
	mu   sync.Mutex
	list []undo
}

func (u *undos) push(one undo) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.list = append(u.list, one); len(u.list) > maxUndos {
		u.list = u.list[1:]
	}
}

func (u *undos) last() (undo, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.list) == 0 {
		return undo{}, false
	}
	return u.list[len(u.list)-1], true
}

// drop takes an edit out that was taken back, or cannot be any more.
func (u *undos) drop(one undo) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.list = slices.DeleteFunc(u.list, func(have undo) bool { return have.rev == one.rev && have.agentID == one.agentID })
}

func (u *undos) any() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.list) > 0
}

// restore puts back what shown.Rev compares, and nothing else. What an entry
// was used for since stays with it, so that no lease is had twice.
func (u undo) restore(d, old *store.Document) {
	if u.whole {
		for id, was := range old.Agents {
			if is := d.Agents[id]; is != nil {
				keepUse(was.Allowlist, is.Allowlist)
			}
		}
		d.Defaults, d.Agents, d.Projects, d.Extra = old.Defaults, old.Agents, old.Projects, old.Extra
		return
	}
	for _, id := range []string{u.agentID, shown.Every} {
		was, is := old.Agents[id], d.Agents[id]
		switch {
		case was == nil && is == nil:
		case was == nil && is.DisplayName == "" && is.Color == "":
			delete(d.Agents, id)
		case was == nil:
			is.Rules, is.Allowlist, is.AcceptAnswersFrom = store.Rules{}, nil, nil
		default:
			now := d.Agent(id)
			keepUse(was.Allowlist, now.Allowlist)
			now.Rules, now.Allowlist, now.AcceptAnswersFrom = was.Rules, was.Allowlist, was.AcceptAnswersFrom
		}
	}
	d.Defaults = old.Defaults
	others := slices.DeleteFunc(slices.Clone(d.Projects), func(p approval.Project) bool { return p.About(u.agentID) })
	for _, p := range old.Projects {
		if p.About(u.agentID) {
			others = append(others, p)
		}
	}
	d.Projects = others
}

func keepUse(was, is []store.Entry) {
	now := map[string]store.Entry{}
	for _, e := range is {
		now[e.ID] = e
	}
	for i := range was {
		if e, ok := now[was[i].ID]; ok {
			was[i].UsesLeft, was[i].LastUsedAt = e.UsesLeft, e.LastUsedAt
			was[i].LastUsedCommand, was[i].LastResolvedPath = e.LastUsedCommand, e.LastResolvedPath
		}
	}
}
