//go:build linux || darwin

package main

import (
	"strings"
	"testing"

	"github.com/countersign-app/countersign/app/shown"
)

// While the screen is locked nothing is answered, and what is allowed for a
// session ends only where that was chosen.
func TestScreenAway(t *testing.T) {
	a := newTestApp(t, `{"version":1,"defaults":{"security":"allowlist","ask":"on-miss"},"agents":{"main":{"allowlist":[
		{"id":"s","pattern":"/x","sessionKey":"s"},{"id":"u","pattern":"/y","usesLeft":3}]}}}`)
	ids := func() (list string) {
		for _, e := range a.file().Agents["main"].Allowlist {
			list += e.ID
		}
		return list
	}
	answers := a.agent(t.Context(), "main", "touch", "x")
	q := a.question()
	a.look(q.ID)
	a.screenAway(true)
	for _, decision := range []string{"allow-once", "deny"} {
		if got := a.approvals.Decide(q.ID, q.Seen, decision, ""); got.OK || !strings.Contains(got.Message, "locked") {
			t.Errorf("%s while it is locked: %+v", decision, got)
		}
	}
	if got := ids(); got != "su" {
		t.Errorf("left: %s", got)
	}
	a.screenAway(false)
	if got := a.approvals.Decide(q.ID, q.Seen, "deny", ""); !got.OK {
		t.Errorf("%+v", got)
	}
	a.answer(answers)
	a.openSettings()
	a.settings.Ready()
	a.eventually("the settings are in sight", a.edits)
	if saved := a.settings.SetPreferences(shown.Preferences{Kept: shown.Kept{Theme: shown.ThemeSystem, EndSessionsAtLock: true, KeepDays: 90}}); !saved.OK {
		t.Fatal(saved.Message)
	}
	if got := readPreferences(a.state.Preferences()).get(); !got.EndSessionsAtLock {
		t.Error("it is not kept")
	}
	a.screenAway(true)
	if got := ids(); got != "u" {
		t.Errorf("left: %s", got)
	}
}
