package main

import (
	"context"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
)

// outsideEdit returns the edit of the policy file that is for the panel, nil
// for none: one that waits and was not left to the settings. The caller holds
// the lock.
func (a *app) outsideEdit() *shown.Edit {
	held := a.host.Policy().Held
	if held == nil || held.Hash == a.left {
		return nil
	}
	return shown.NewEdit(*held, a.state.Approvals(), a.person)
}

// live reports whether the page may have this on the panel: the change that a
// command line wants, else a question that somebody waits for or, where none is, an
// edit while the settings, which show it themselves, are closed, or at last a folder.
// The caller holds the lock.
func (a *app) live(id string) bool {
	if top := a.onTop(); top != nil {
		return id == top.id
	}
	asked := slices.DeleteFunc(a.host.Waiting(), func(p approval.Prompt) bool { return p.CallerGone })
	if len(asked) > 0 || a.open {
		return slices.ContainsFunc(asked, func(p approval.Prompt) bool { return p.ID == id })
	}
	edit := a.outsideEdit()
	return edit != nil && edit.ID == id
}

// leaveEdit leaves the edit that waits to the settings. The caller holds the
// lock.
func (a *app) leaveEdit() {
	if held := a.host.Policy().Held; held != nil {
		a.left = held.Hash
	}
	if strings.HasPrefix(a.current, shown.EditMark) {
		a.current = ""
	}
}

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

// editNow names the edit from outside that waits, "" for none.
func (a *app) editNow() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if edit := a.outsideEdit(); edit != nil {
		return edit.ID
	}
	return ""
}
