//go:build linux || darwin

package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/app/shown"
)

// A person shows that it is them once for as long as they chose, and again
// after the screen was locked.
func TestGrace(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	var asked []string
	var says error
	p := &presence{since: map[string]time.Time{}, now: func() time.Time { return now }, ask: func(reason string, password bool) error {
		asked = append(asked, reason)
		if !password {
			asked = append(asked, "Touch ID alone")
		}
		return says
	}}
	one := []string{"main"}
	step := func(what string, after time.Duration, agents []string, k shown.Kept, want string) {
		t.Helper()
		now, asked = now.Add(after), nil
		err := p.confirm("allow it", agents, k)
		if want == "" && err != nil || want != "" && !errors.Is(err, says) {
			t.Errorf("%s: %v", what, err)
		}
		if got := strings.Join(asked, ", "); got != want {
			t.Errorf("%s: asked %q, want %q", what, got, want)
		}
	}
	each, five := shown.Kept{}, shown.Kept{GraceMinutes: 5}
	says = errors.New("not you")
	step("somebody else", 0, one, five, "allow it")
	step("somebody else again", 0, one, five, "allow it")
	says = nil
	step("the first time", 0, one, five, "allow it")
	step("within five minutes", 4*time.Minute, one, five, "")
	step("that is not chosen any more", 0, one, each, "allow it")
	step("each time", 0, one, each, "allow it")
	step("after five minutes", 5*time.Minute, one, five, "allow it")
	p.forget()
	step("after a lock", 0, one, five, "allow it")
	step("the clock was set back", -time.Minute, one, five, "allow it")
	step("another agent", 0, []string{"other"}, five, "allow it")
	step("both of them", 0, []string{"main", "other"}, five, "")
	step("the policy", 0, []string{"*"}, five, "allow it")
	step("with Touch ID alone", time.Hour, one, shown.Kept{TouchIDOnly: true}, "allow it, Touch ID alone")
}

// The clock goes on while the computer sleeps: it has nothing of the one that
// does not.
func TestWallClock(t *testing.T) {
	if now := wallClock(); strings.Contains(now.String(), "m=") {
		t.Errorf("%s", now)
	}
}

// While the screen is locked nobody shows anything, and after it they do it
// again.
func TestLockEndsGrace(t *testing.T) {
	a := newTestApp(t, askMe)
	asked := 0
	a.presence.ask = func(string, bool) error { asked++; return nil }
	k := shown.Kept{GraceMinutes: 15}
	for _, away := range []bool{true, false} {
		if err := a.presence.confirm("allow it", []string{"main"}, k); err != nil {
			t.Fatal(err)
		}
		a.screenAway(away)
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

// Weaker preferences are for the person themselves, where the policy wants them.
func TestWeakerPreferences(t *testing.T) {
	a := newTestApp(t, `{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss"}, "agents": {"x": {"presence": "risky"}}}`)
	a.settingsInSight()
	a.presence.ask = func(string, bool) error { return errors.New("you did not confirm it") }
	kept := a.settings.Preferences()
	for name, change := range map[string]func(*shown.Preferences){
		"a longer grace": func(p *shown.Preferences) { p.GraceMinutes = 15 },
		"the terminal":   func(p *shown.Preferences) { p.AnswerFromTerminal = true },
	} {
		p := kept
		change(&p)
		if got := a.settings.SetPreferences(p); got.OK || got.Message != "You did not confirm it." {
			t.Errorf("%s: %+v", name, got)
		}
	}
	stronger := kept
	stronger.TouchIDOnly, stronger.Theme = true, shown.Themes[1]
	if got := a.settings.SetPreferences(stronger); !got.OK {
		t.Errorf("what asks for more: %+v", got)
	}
	if got := a.settings.SetPreferences(kept); got.OK {
		t.Error("the password counts again, and nobody confirmed it")
	}
}

// A yes on the panel counts only once the person showed that it is them.
func TestYesNeedsThePerson(t *testing.T) {
	a := newTestApp(t, `{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss", "presence": "always"}, "agents": {}}`)
	answers := a.agent(t.Context(), "main", "touch", "it")
	q := a.question()
	a.look(q.ID)
	a.presence.ask = nil
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK || !strings.Contains(got.Message, "cannot ask for them") {
		t.Errorf("where nobody can be asked: %+v", got)
	}
	a.presence.ask = func(string, bool) error { return errors.New("you did not confirm it") }
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK || got.Message != "You did not confirm it." {
		t.Errorf("cancelled: %+v", got)
	}
	a.presence.ask = func(string, bool) error { return nil }
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); !got.OK {
		t.Errorf("confirmed: %+v", got)
	}
	if got := a.answer(answers); got.ExitCode == nil || *got.ExitCode != 0 {
		t.Errorf("the agent got %+v", got)
	}
}
