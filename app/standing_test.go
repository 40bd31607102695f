//go:build linux || darwin

package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
)

// A caller hangs up; the yes that the person gives all the same is for the
// identical request, once.
func TestAllowIfAsksAgain(t *testing.T) {
	a := newTestApp(t, askMe)
	proof := filepath.Join(a.project, "proof")
	ctx, hangUp := context.WithCancel(t.Context())
	answers := a.agent(ctx, "main", "mkdir", proof)
	q := a.question()
	a.look(q.ID)
	if got := a.approvals.AllowIfAsksAgain(q.ID, q.Seen); got.OK {
		t.Error("it is kept while the agent waits")
	}
	hangUp()
	a.answer(answers)
	a.eventually("it has ended", func() bool { l := a.approvals.Screen("").Waiting; return len(l) == 1 && l[0].Ended != nil })
	if got := a.approvals.AllowIfAsksAgain(q.ID, ""); got.OK {
		t.Error("it is kept for what nobody saw")
	}
	a.look("another")
	if got := a.approvals.AllowIfAsksAgain(q.ID, q.Seen); got.Message != tooEarly {
		t.Errorf("while another one is shown: %+v", got)
	}
	a.look(q.ID)
	if got := a.approvals.AllowIfAsksAgain(q.ID, q.Seen); !got.OK {
		t.Fatal(got.Message)
	}
	a.eventually("the window is given back", func() bool { visible, _, _ := a.window.is(); return !visible })
	if answer := a.answer(a.agent(t.Context(), "main", "mkdir", proof)); !answer.Success {
		t.Errorf("%+v", answer)
	}
	if _, err := os.Stat(proof); err != nil {
		t.Error(err)
	}
	row, err := a.host.LastRequest(t.Context())
	if err != nil || row.Decision != approval.AllowOnce || row.AnsweredBy != "panel (earlier)" || !row.Asked.IsZero() {
		t.Errorf("%+v, %v", row, err)
	}
	a.agent(t.Context(), "main", "mkdir", proof)
	a.question() // once was once
}

// A denial stands for ten minutes, for the session, or as a rule that was
// shown before.
func TestDenyFor(t *testing.T) {
	a := newTestApp(t, askMe)
	denied := func(note string, command ...string) {
		t.Helper()
		if answer := a.answer(a.agent(t.Context(), "main", command...)); answer.Refused == nil || answer.Refused.Reason != approval.ReasonUserDenied || !strings.Contains(answer.Refused.Message, note) {
			t.Errorf("%q: %+v", command, answer)
		}
	}
	for _, life := range []string{"10-minutes", "session"} {
		answers := a.agent(t.Context(), "main", "touch", life)
		q := a.question()
		for _, bad := range []string{"", "always", "10", "Session"} {
			if got := a.approvals.DenyFor(q.ID, bad, ""); got.OK {
				t.Errorf("for %q", bad)
			}
		}
		if got := a.approvals.DenyFor(q.ID, life, "not "+life); !got.OK {
			t.Error(got.Message)
		}
		a.answer(answers)
		denied("They say: not "+life, "touch", life)
		denied("They say: not "+life, "touch", life)
	}
	list := a.settings.Standing()
	if len(list) != 2 || list[0].Command != "touch 10-minutes" || list[0].Agent.Name != "main" || list[0].Allows || list[0].Until < time.Now().UnixMilli() {
		t.Fatalf("%+v", list)
	}
	if got := a.settings.Forget(list[0].ID); got.OK {
		t.Error("a page whose settings nobody sees takes a denial back")
	}
	a.settingsInSight()
	if got := a.settings.Forget(list[0].ID); !got.OK || len(a.settings.Standing()) != 1 {
		t.Error(got.Message)
	}
	asked := a.agent(t.Context(), "main", "touch", "10-minutes")
	a.approvals.Decide(a.question().ID, "", "deny", "")
	a.answer(asked)

	answers := a.agent(t.Context(), "main", "git", "push", "origin")
	q := a.question()
	if got := a.approvals.DenyAlways(q.ID, 0, ""); got.Message != tooEarly {
		t.Errorf("a rule that was not in sight: %+v", got)
	}
	a.look(q.ID)
	if got := a.approvals.DenyAlways(q.ID, len(q.Denials), ""); got.OK {
		t.Error("a rule that was not shown")
	}
	at := slices.IndexFunc(q.Denials, func(d shown.Denial) bool { return slices.Equal(d.Args, []string{"push"}) })
	if got := a.approvals.DenyAlways(q.ID, at, "never"); !got.OK {
		t.Fatalf("%+v of %+v", got, q.Denials)
	}
	if answer := a.answer(answers); answer.Refused == nil || answer.Refused.Reason != approval.ReasonUserDenied {
		t.Errorf("%+v", answer)
	}
	if rules := a.file().Agents["main"].Denylist; len(rules) != 1 || !slices.Equal(rules[0].Args, []string{"push"}) || filepath.Base(rules[0].Pattern) != "git" {
		t.Errorf("%+v", rules)
	}
	if answer := a.answer(a.agent(t.Context(), "main", "git", "push", "elsewhere")); answer.Refused == nil || answer.Refused.Reason != approval.ReasonDenylisted {
		t.Errorf("%+v", answer)
	}
	a.agent(t.Context(), "other", "git", "push", "origin")
	a.question() // the rule is for one agent
}

// The clock of a question is stopped as far as its caller waits.
func TestHold(t *testing.T) {
	a := newTestApp(t, askMe)
	a.agent(t.Context(), "main", "touch", "x") // waits ten minutes, so there is nothing to win
	q := a.question()
	if got := a.approvals.Hold(q.ID, true); got.OK || q.Latest != 0 {
		t.Errorf("%+v, latest %d", got, q.Latest)
	}
	a.approvals.Decide(q.ID, "", "deny", "")
	a.agentUntil(t.Context(), time.Now().Add(time.Hour), "main", "touch", "y")
	a.eventually("the other one waits", func() bool { return a.question().ID != q.ID })
	if q = a.question(); q.Held || q.Latest-q.Expires < (45*time.Minute).Milliseconds() {
		t.Errorf("%v, latest %d, expires %d", q.Held, q.Latest, q.Expires)
	}
	if got := a.approvals.Hold(q.ID, true); !got.OK {
		t.Error(got.Message)
	}
	if now := a.question(); !now.Held || now.Expires < q.Latest-1000 || now.Seen != q.Seen {
		t.Errorf("held: %v until %d", now.Held, now.Expires)
	}
	if got := a.approvals.Hold(q.ID, false); !got.OK || a.question().Held {
		t.Error(got.Message)
	}
	if got := a.approvals.Hold("nothing", true); got.OK {
		t.Error("a question that is not there")
	}
}
