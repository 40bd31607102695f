//go:build linux || darwin

package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
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
	one := []approval.Prompt{{Plan: approval.Plan{Text: "git push\n\x1b[2J"}}}
	step := func(what string, after time.Duration, list []approval.Prompt, k shown.Kept, want string) {
		t.Helper()
		now, asked = now.Add(after), nil
		if err := p.confirm(list, k); (want == "" && err != nil) || (want != "" && !errors.Is(err, says)) {
			t.Errorf("%s: %v", what, err)
		}
		if got := strings.Join(asked, ", "); got != want {
			t.Errorf("%s: asked %q, want %q", what, got, want)
		}
	}
	const push = `allow “git push\u{A}\u{1B}[2J”`
	each, five := shown.Kept{}, shown.Kept{GraceMinutes: 5}
	says = errors.New("not you")
	step("somebody else", 0, one, five, push)
	step("somebody else again", 0, one, five, push)
	says = nil
	step("the first time", 0, one, five, push)
	step("within five minutes", 4*time.Minute, one, five, "")
	step("that is not chosen any more", 0, one, each, push)
	step("each time", 0, one, each, push)
	step("after five minutes", 5*time.Minute, one, five, push)
	p.forget()
	step("after a lock", 0, one, five, push)
	step("the clock was set back", -time.Minute, one, five, push)
	step("another agent", time.Minute, []approval.Prompt{{AgentID: "other", Plan: approval.Plan{Text: "ls"}}}, five, "allow “ls”")
	step("several, with Touch ID alone", time.Hour, append(one, one...), shown.Kept{TouchIDOnly: true}, "allow 2 commands, Touch ID alone")
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
