//go:build linux || darwin

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/app/menubar"
)

// A question is told of once, after five seconds out of sight, and taken away
// with its notification.
func TestReminders(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	for name, steps := range map[string][]struct {
		at       int // seconds
		waiting  string
		seen     bool
		tell     string
		gone     string
		notAsked bool // whether it is in sight
	}{
		"out of sight": {
			{at: 0, waiting: "a"}, {at: 4, waiting: "a"}, {at: 5, waiting: "a", tell: "a"},
			{at: 60, waiting: "a", notAsked: true}, {at: 61, gone: "a", notAsked: true}, {at: 62, notAsked: true},
		},
		"in sight":              {{at: 0, waiting: "a", seen: true}, {at: 99, waiting: "a", seen: true}, {at: 100, notAsked: true}},
		"covered later":         {{at: 0, waiting: "a", seen: true}, {at: 7, waiting: "a", seen: true}, {at: 11, waiting: "a"}, {at: 12, waiting: "a", tell: "a"}},
		"looked at in between":  {{at: 0, waiting: "a"}, {at: 4, waiting: "a", seen: true}, {at: 6, waiting: "a"}, {at: 9, waiting: "a", tell: "a"}},
		"each by itself":        {{at: 0, waiting: "a"}, {at: 3, waiting: "ab"}, {at: 5, waiting: "ab", tell: "a"}, {at: 8, waiting: "ab", tell: "b"}, {at: 9, waiting: "b", gone: "a", notAsked: true}},
		"answered in time":      {{at: 0, waiting: "a"}, {at: 3, notAsked: true}, {at: 9, notAsked: true}},
		"it asks again":         {{at: 0, waiting: "a"}, {at: 5, waiting: "a", tell: "a"}, {at: 6, gone: "a", notAsked: true}, {at: 7, waiting: "a"}, {at: 12, waiting: "a", tell: "a"}},
		"nothing waits at all":  {{at: 0, notAsked: true}},
		"the clock is set back": {{at: 9, waiting: "a"}, {at: 0, waiting: "a"}, {at: 14, waiting: "a", tell: "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := reminders{}
			for _, step := range steps {
				var waiting []menubar.Question
				for _, id := range strings.Split(step.waiting, "") {
					waiting = append(waiting, menubar.Question{ID: id})
				}
				asked := false
				told, gone := r.next(waiting, start.Add(time.Duration(step.at)*time.Second), func() bool { asked = true; return step.seen })
				tell := ""
				for _, q := range told {
					tell += q.ID
				}
				if tell != step.tell || strings.Join(gone, "") != step.gone || asked == step.notAsked {
					t.Errorf("after %d s: told of %q, gone %q, asked whether it is in sight: %v", step.at, tell, gone, asked)
				}
			}
		})
	}
}

// The shortcut brings the oldest question to the front with the keyboard, and
// without one the settings. A question that comes by itself takes no keyboard.
func TestSummon(t *testing.T) {
	a := newTestApp(t, askMe)
	a.summon()
	if !a.screen("").Settings {
		t.Error("without a question the settings do not open")
	}
	a.keepOpen()
	first := a.agent(t.Context(), "main", "touch", "first")
	q := a.question()
	a.look(q.ID)
	if a.window.keyboard != 0 || !a.window.shown {
		t.Errorf("shown: %v, with the keyboard %d times", a.window.shown, a.window.keyboard)
	}
	a.summon()
	a.look(q.ID)
	if a.window.keyboard != 1 || a.screen("").Settings {
		t.Errorf("after the shortcut it has the keyboard %d times", a.window.keyboard)
	}
	if got := a.approvals.Decide(q.ID, q.Seen, "deny", ""); !got.OK {
		t.Error(got.Message)
	}
	a.answer(first)
}
