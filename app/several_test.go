//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
)

// lookAtList has the page show the list of an agent's small questions for as
// long as a person needs.
func (a *testApp) lookAtList(agentID string) []shown.Question {
	list := a.approvals.Together(agentID)
	a.look(shown.ListMark + agentID)
	return list
}

// Small questions of one agent are answered together: those that are checked
// run, the others are denied, and what is risky is not among them.
func TestAnswerMany(t *testing.T) {
	a := newTestApp(t, askMe)
	file := func(name string) string { return filepath.Join(a.project, name) }
	wait := map[string]<-chan ipc.ExecAnswer{}
	for name, command := range map[string][]string{
		"yes": {"touch", file("yes")}, "no": {"touch", file("no")}, "risky": {"cat", file(".ssh/id_rsa")},
		"long": {"touch", file("yes"), strings.Repeat("x", 1000)},
	} {
		wait[name] = a.agent(t.Context(), "main", command...)
	}
	wait["other"] = a.agent(t.Context(), "other", "touch", file("other"))
	a.eventually("all wait", func() bool { return len(a.host.Waiting()) == 5 })
	first := a.question()
	a.look(first.ID) // the window is there

	list := a.approvals.Together("main")
	byName := map[string]shown.Question{}
	for _, q := range list {
		byName[filepath.Base(q.Command.Text)] = q
	}
	if len(list) != 2 || byName["yes"].ID == "" || byName["no"].ID == "" {
		t.Fatalf("on the list: %+v", byName)
	}
	reply := func(q shown.Question, decision string) Reply { return Reply{q.ID, q.Seen, decision} }
	say := func(agentID string, list ...Reply) (messages []string) {
		for _, r := range a.approvals.AnswerMany(agentID, list, "not those") {
			messages = append(messages, r.Message)
		}
		return messages
	}
	a.approvals.Ready(shown.ListMark+"main", 500)
	if got := say("main", reply(byName["yes"], "allow-once")); got[0] != tooEarly {
		t.Errorf("at once: %q", got)
	}
	a.lookAtList("other")
	if got := say("main", reply(byName["yes"], "allow-once")); got[0] != tooEarly {
		t.Errorf("while the list of another agent is shown: %q", got)
	}
	a.lookAtList("main")
	var risky, other shown.Question
	for _, p := range a.host.Waiting() {
		switch q := shown.NewQuestion(p, a.names()); {
		case q.Risky:
			risky = q
		case p.AgentID == "other":
			other = q
		}
	}
	for _, bad := range []struct {
		name, agent string
		reply       Reply
	}{
		{"a risky one", "main", reply(risky, "allow-once")},
		{"one of another agent", "main", reply(other, "allow-once")},
		{"another agent's own list, which is not shown", "other", reply(other, "allow-once")},
		{"for always", "main", reply(byName["yes"], "allow-always")},
		{"an unknown answer", "main", reply(byName["yes"], "yes")},
		{"what another one showed", "main", Reply{byName["yes"].ID, byName["no"].Seen, "allow-once"}},
		{"nothing shown", "main", Reply{byName["yes"].ID, "", "allow-once"}},
		{"an unknown id", "main", Reply{"x", byName["yes"].Seen, "deny"}},
	} {
		if got := say(bad.agent, bad.reply); len(got) != 1 || got[0] == "" {
			t.Errorf("%s: %q", bad.name, got)
		}
	}
	// One that comes while the list is in sight has not been seen for long enough.
	late := a.agent(t.Context(), "main", "touch", file("late"))
	a.eventually("it is on the list", func() bool { return len(a.approvals.Together("main")) == 3 })
	for _, q := range a.approvals.Together("main") {
		if q.ID != byName["yes"].ID && q.ID != byName["no"].ID {
			if got := say("main", reply(q, "allow-once")); got[0] != tooEarly {
				t.Errorf("one that just came: %q", got)
			}
			say("main", reply(q, "deny"))
		}
	}
	if got := say("main", reply(byName["no"], "deny"), Reply{"gone", "", "deny"}, reply(byName["yes"], "allow-once")); got[0] != "" || got[1] == "" || got[2] != "" {
		t.Errorf("%q", got)
	}
	if yes, no := a.answer(wait["yes"]), a.answer(wait["no"]); !yes.Success || no.Refused == nil || no.Refused.Reason != approval.ReasonUserDenied ||
		!strings.Contains(no.Refused.Message, "not those") {
		t.Errorf("%+v, %+v", yes, no)
	}
	a.answer(late)
	for name, want := range map[string]bool{"yes": true, "no": false, "late": false, "other": false} {
		if _, err := os.Stat(file(name)); (err == nil) != want {
			t.Errorf("%s ran: %v", name, err == nil)
		}
	}
	if left := len(a.host.Waiting()); left != 3 {
		t.Errorf("%d questions wait", left)
	}
}

// Of identical requests one runs, and the others are denied.
func TestAllowOne(t *testing.T) {
	a := newTestApp(t, askMe)
	proof := filepath.Join(a.project, "proof")
	var answers []<-chan ipc.ExecAnswer
	for range 3 {
		answers = append(answers, a.agent(t.Context(), "main", "mkdir", proof))
	}
	a.eventually("they share a question", func() bool { return a.question().Count == 3 })
	q := a.question()
	if got := a.approvals.AllowOne(q.ID, q.Seen, ""); got.OK || got.Message != tooEarly {
		t.Errorf("unseen: %+v", got)
	}
	a.look(q.ID)
	if got := a.approvals.AllowOne(q.ID, q.Seen, "one will do"); !got.OK {
		t.Fatal(got.Message)
	}
	ran := 0
	for _, one := range answers {
		switch answer := a.answer(one); {
		case answer.Success:
			ran++
		case answer.Refused == nil || answer.Refused.Reason != approval.ReasonUserDenied:
			t.Errorf("%+v", answer)
		}
	}
	if _, err := os.Stat(proof); err != nil || ran != 1 {
		t.Errorf("%d ran, %v", ran, err)
	}
}
