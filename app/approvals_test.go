//go:build linux || darwin

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
)

func TestAnswers(t *testing.T) {
	tests := []struct {
		decision, note string
		runs           bool
		says           string
	}{
		{"allow-once", "", true, ""},
		{"deny", "use the other folder", false, "They say: use the other folder."},
	}
	for _, test := range tests {
		t.Run(test.decision, func(t *testing.T) {
			a := newTestApp(t, askMe)
			proof := filepath.Join(a.person.Home, "proof")
			answers := a.agent(t.Context(), "main", "touch", proof)
			q := a.question()
			a.look(q.ID)
			if got := a.approvals.Decide(q.ID, q.Seen, test.decision, test.note); !got.OK {
				t.Fatalf("the answer was refused: %s", got.Message)
			}
			answer := a.answer(answers)
			_, err := os.Stat(proof)
			if ran := err == nil; ran != test.runs || answer.Success != test.runs {
				t.Errorf("ran: %v, answer %+v", ran, answer)
			}
			if answer.Refused != nil && !strings.Contains(answer.Refused.Message, test.says) {
				t.Errorf("the agent is told: %s", answer.Refused.Message)
			}
			a.eventually("the window is given back", func() bool { visible, _, _ := a.window.is(); return !visible })
		})
	}
}

// A page that is slow or lying can only deny.
func TestBadAnswers(t *testing.T) {
	a := newTestApp(t, askMe)
	proof := filepath.Join(a.person.Home, "proof")
	answers := a.agent(t.Context(), "", "touch", proof) // without a name: never always
	q := a.question()
	other := q.Seen[:len(q.Seen)-1] + "7"

	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK || got.Message != tooEarly {
		t.Errorf("before the page showed it: %+v", got)
	}
	a.approvals.Ready(q.ID, 500)
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK || got.Message != tooEarly {
		t.Errorf("at once: %+v", got)
	}
	a.look(q.ID)
	a.look("another")
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK || got.Message != tooEarly {
		t.Errorf("while the page shows another one: %+v", got)
	}
	a.look(q.ID)
	tests := []struct{ name, id, seen, decision string }{
		{"an unknown id", "x", q.Seen, "allow-once"},
		{"an unknown answer", q.ID, q.Seen, "allow"},
		{"no answer", q.ID, q.Seen, ""},
		{"an answer in other letters", q.ID, q.Seen, "Allow-Once"},
		{"an answer that was not offered", q.ID, q.Seen, "allow-always"},
		{"another question", q.ID, "0" + q.Seen[1:], "allow-once"},
		{"no question", q.ID, "", "allow-once"},
		{"a digest alone", q.ID, strings.TrimSuffix(q.Seen, ":1"), "allow-once"},
		{"fewer requests", q.ID, strings.TrimSuffix(q.Seen, ":1") + ":0", "allow-once"},
		{"a number that is none", q.ID, strings.TrimSuffix(q.Seen, ":1") + ":x", "allow-once"},
	}
	for _, test := range tests {
		if got := a.approvals.Decide(test.id, test.seen, test.decision, ""); got.OK || got.Message == "" {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
	if _, err := os.Stat(proof); err == nil {
		t.Fatal("it ran")
	}
	a.look(q.ID)
	if got := a.approvals.Decide(q.ID, other, "deny", strings.Repeat("ü", maxNote)); !got.OK {
		t.Errorf("a denial counts whatever was seen: %+v", got)
	}
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK {
		t.Error("a second answer counted")
	}
	if answer := a.answer(answers); answer.Refused == nil || answer.Refused.Reason != approval.ReasonUserDenied {
		t.Errorf("%+v", answer)
	}
}

// The caller hangs up: the panel says so, and an answer runs nothing.
func TestCallerHangsUp(t *testing.T) {
	a := newTestApp(t, askMe)
	proof := filepath.Join(a.person.Home, "proof")
	ctx, hangUp := context.WithCancel(t.Context())
	answers := a.agent(ctx, "main", "touch", proof)
	q := a.question()
	a.look(q.ID)
	hangUp()
	a.answer(answers)
	a.eventually("the question has ended", func() bool {
		list := a.approvals.Screen().Waiting
		return len(list) == 1 && list[0].Ended != nil && list[0].Ended.Reason == approval.ReasonApprovalCancelled
	})
	if visible, _, _ := a.window.is(); !visible {
		t.Error("the window went away before it could be read")
	}
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK || !strings.Contains(strings.ToLower(got.Message), pending.ErrGone.Error()) {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(proof); err == nil {
		t.Error("it ran")
	}
}

func TestDismiss(t *testing.T) {
	a := newTestApp(t, askMe)
	ctx, hangUp := context.WithCancel(t.Context())
	answers := a.agent(ctx, "main", "touch", "gone")
	q := a.question()
	a.look(q.ID)
	a.approvals.Dismiss(q.ID)
	if len(a.approvals.Screen().Waiting) != 1 {
		t.Fatal("a question that somebody waits for was dismissed")
	}
	hangUp()
	a.answer(answers)
	a.eventually("it has ended", func() bool { l := a.approvals.Screen().Waiting; return len(l) == 1 && l[0].Ended != nil })
	a.approvals.Dismiss(q.ID)
	a.eventually("the window is given back", func() bool {
		visible, _, _ := a.window.is()
		return !visible && len(a.approvals.Screen().Waiting) == 0
	})
}

// The window is the panel while a question waits, comes to the front once for
// each, and keeps the settings below it.
func TestWindow(t *testing.T) {
	a := newTestApp(t, askMe)
	if visible, _, _ := a.window.is(); visible {
		t.Fatal("it did not start hidden")
	}
	answers := a.agent(t.Context(), "main", "touch", "one")
	q := a.question()
	if visible, _, _ := a.window.is(); visible {
		t.Error("it was shown before the page was ready")
	}
	a.approvals.Ready(q.ID, 100_000)
	if visible, s, shows := a.window.is(); !visible || s != (size{560, 720}) || shows != 1 {
		t.Errorf("visible %v, %v, shown %d times", visible, s, shows)
	}
	a.approvals.Ready(q.ID, -5)
	if _, s, shows := a.window.is(); s != (size{560, 480}) || shows != 1 {
		t.Errorf("after a change of height: %v, shown %d times", s, shows)
	}
	if !a.keepOpen() {
		t.Error("its close button ends the app")
	}
	a.approvals.Ready(q.ID, 500)
	if visible, _, _ := a.window.is(); visible {
		t.Error("the page brought back a window that a person closed")
	}
	a.show(q.ID)
	a.approvals.Ready(q.ID, 500)
	if visible, _, _ := a.window.is(); !visible || !a.window.told(eventOpen) {
		t.Error("the menu does not bring it back")
	}
	a.openSettings()
	if _, s, _ := a.window.is(); s != settingsSize || !a.approvals.Screen().Settings {
		t.Errorf("the settings are %v", s)
	}
	a.look(q.ID)
	a.approvals.Decide(q.ID, q.Seen, "deny", "")
	a.answer(answers)
	a.eventually("the settings have it again", func() bool {
		visible, s, _ := a.window.is()
		a.window.mu.Lock()
		defer a.window.mu.Unlock()
		return visible && s == settingsSize && !a.window.top
	})
	a.keepOpen()
	if visible, _, _ := a.window.is(); visible || a.approvals.Screen().Settings {
		t.Error("closed settings are shown")
	}
	a.openSettings()
	if visible, _, _ := a.window.is(); visible {
		t.Error("they are shown before they are on the page")
	}
	a.settings.Ready()
	if visible, s, _ := a.window.is(); !visible || s != settingsSize {
		t.Errorf("the settings: visible %v, %v", visible, s)
	}
	a.keepOpen()
	a.openSettings()
	a.eventually("they come without the page, too", func() bool { visible, _, _ := a.window.is(); return visible })
	a.quit()
	if a.keepOpen() {
		t.Error("it does not end when it is told to")
	}
}
