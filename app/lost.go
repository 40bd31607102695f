package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	native "github.com/countersign-app/countersign/app/mac"
	"github.com/countersign-app/countersign/backend/agents/setup"
	"github.com/countersign-app/countersign/backend/approval"
)

// lost are the hooks that are not as they were left.
type lost struct {
	list []setup.State
	// unknown tells that the record of hooks cannot be read.
	unknown bool
}

// followHooks notices what becomes of our hooks while the app runs, and what did
// before.
func (a *app) followHooks(ctx context.Context, e setup.Env) {
	if err := setup.Watch(ctx, e, a.hooksLost); err != nil {
		fmt.Fprintln(os.Stderr, "Countersign: hooks that change are not noticed:", err)
	}
}

// hooksNotice names the notification of hooks. No question has such an ID.
const hooksNotice = "hooks"

// hooksLost puts it into the menu, and tells once of what is new.
func (a *app) hooksLost(list []setup.State, err error) {
	now := lost{list, err != nil}
	a.hooks.mu.Lock()
	before := a.hooks.lost
	a.hooks.lost = now
	a.hooks.mu.Unlock()
	if title := now.since(before); title != "" {
		native.Notify(hooksNotice, title, "See Hooks in the settings.")
	} else if len(now.rows()) == 0 && len(before.rows()) > 0 {
		native.Unnotify(hooksNotice)
	}
	a.menuChanged()
}

// since says what was not so before, "" for nothing.
func (l lost) since(before lost) string {
	for _, row := range l.rows() {
		if !slices.Contains(before.rows(), row) {
			return row
		}
	}
	return ""
}

// rows say what became of the hooks, each thing once.
func (l lost) rows() (rows []string) {
	add := func(row string) {
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	if l.unknown {
		add("The record of hooks cannot be read")
	}
	for _, s := range l.list {
		switch {
		case s.Condition == setup.Vanished:
			add(s.Title + " no longer asks Countersign")
		case s.Condition == setup.Unreadable:
			add("The settings of " + s.Title + " cannot be read")
		case s.Missing:
			add("What " + s.Title + " asks is gone")
		default:
			add("The hook of " + s.Title + " was changed")
		}
	}
	return rows
}

// review shows what a notification tells of.
func (a *app) review(name string) {
	if name == hooksNotice {
		a.openPage(hooksPage)
		return
	}
	if !slices.ContainsFunc(a.host.Waiting(), func(p approval.Prompt) bool { return p.ID == name }) {
		a.openSettings() // it is over: somebody looks for it all the same
		return
	}
	a.show(name)
}
