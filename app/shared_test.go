//go:build linux || darwin

package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
)

// askingSame is an app in which these agents ask the same, none of them in sight yet.
func askingSame(t *testing.T, agents ...string) (*testApp, map[string]<-chan ipc.ExecAnswer) {
	t.Helper()
	a, wait := newTestApp(t, askMe), map[string]<-chan ipc.ExecAnswer{}
	for i, id := range agents {
		wait[id] = a.agent(t.Context(), id, "uname", "-s")
		a.eventually(id+" waits", func() bool { return len(a.host.Waiting()) == i+1 })
	}
	return a, wait
}

// idOf is the question of an agent.
func (a *testApp) idOf(agent string) string {
	for _, p := range a.host.Waiting() {
		if p.AgentID == agent {
			return p.ID
		}
	}
	return ""
}

// lookAt has the page show the question of an agent for as long as a person needs.
func (a *testApp) lookAt(agent string) shown.Question {
	a.t.Helper()
	list := a.approvals.Screen(a.idOf(agent)).Waiting
	i := slices.IndexFunc(list, func(q shown.Question) bool { return !q.Partial })
	a.look(list[i].ID)
	return list[i]
}

// rowsOf are the agents of a question, and whether each has ended.
func rowsOf(q shown.Question) string {
	var rows []string
	for _, s := range q.Sharers {
		row := s.Agent.Name
		if s.Ended {
			row += " ended"
		}
		rows = append(rows, row)
	}
	return strings.Join(rows, ", ")
}

func TestSharedAnswers(t *testing.T) {
	for _, test := range []struct {
		name string
		give func(a *testApp, q shown.Question) Answered
		runs bool
		left int // entries of both
	}{
		{"allow once", func(a *testApp, q shown.Question) Answered { return a.approvals.Decide(q.ID, q.Seen, "allow-once", "") }, true, 0},
		{"deny", func(a *testApp, q shown.Question) Answered { return a.approvals.Decide(q.ID, q.Seen, "deny", "no") }, false, 0},
		{"always", func(a *testApp, q shown.Question) Answered {
			return a.approvals.Remember(q.ID, q.Seen, string(q.Widths[0].Width), false, "good")
		}, true, 2},
		{"for an hour", func(a *testApp, q shown.Question) Answered {
			return a.approvals.Remember(q.ID, q.Seen, string(q.Widths[0].Width), false, "1h")
		}, true, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, wait := askingSame(t, "one", "two")
			q := a.lookAt("one")
			if got := rowsOf(q); got != "one, two" || len(a.approvals.Screen(q.ID).Waiting) != 1 {
				t.Fatalf("on the panel: %q", got)
			}
			if got := test.give(a, q); !got.OK {
				t.Fatal(got.Message)
			}
			for id, answers := range wait {
				if answer := a.answer(answers); answer.Success != test.runs {
					t.Errorf("%s: %+v", id, answer)
				}
			}
			if got := a.entries(); got != test.left {
				t.Errorf("%d entries", got)
			}
			if test.left == 0 {
				return
			}
			if got := a.approvals.Undo(q.ID); !got.OK || a.entries() != 0 {
				t.Errorf("one undo leaves %d entries: %+v", a.entries(), got)
			}
		})
	}
}

// entries is how many all agents have.
func (a *testApp) entries() (n int) {
	for _, agent := range a.host.Policy().Document.Agents {
		n += len(agent.Allowlist)
	}
	return n
}

// A yes counts for those that were named, or for nobody.
func TestSharedYesIsForThoseNamed(t *testing.T) {
	a, wait := askingSame(t, "one", "two")
	q := a.lookAt("one")
	wait["three"] = a.agent(t.Context(), "three", "uname", "-s")
	a.eventually("three waits", func() bool { return len(a.host.Waiting()) == 3 })
	if list := a.approvals.Screen(q.ID).Waiting; len(list) != 2 || rowsOf(list[0]) != "one, two" || list[0].Seen != q.Seen {
		t.Fatalf("a third joins what is in sight: %+v", list)
	}
	three := a.approvals.Screen(a.idOf("three")).Waiting
	if len(three) != 1 || rowsOf(three[0]) != "one, two, three" {
		t.Fatalf("shown anew: %+v", three)
	}
	a.look(three[0].ID)
	for _, bad := range []struct{ name, id, seen string }{
		{"what was shown before", q.ID, q.Seen},
		{"a part of it", three[0].ID, three[0].Seen[:strings.LastIndex(three[0].Seen, ",")]},
		{"one twice", three[0].ID, three[0].Seen + "," + three[0].Seen},
		{"another id", three[0].ID, strings.Replace(three[0].Seen, "=", "x=", 1)},
		{"none", three[0].ID, ""},
		{"the question of one of them alone", three[0].ID, strings.SplitAfter(three[0].Seen, "=")[1]},
	} {
		if got := a.approvals.Decide(bad.id, bad.seen, "allow-once", ""); got.OK {
			t.Errorf("%s counts", bad.name)
		}
	}
	q = a.lookAt("one")
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); !got.OK || len(a.host.Waiting()) != 0 {
		t.Errorf("%+v", got)
	}
	for id, answers := range wait {
		if answer := a.answer(answers); !answer.Success {
			t.Errorf("%s: %+v", id, answer)
		}
	}
}

// One that hangs up is told, and an answer counts for the rest once it was seen.
func TestSharedOneEnds(t *testing.T) {
	for _, ends := range []string{"one", "two"} {
		t.Run(ends, func(t *testing.T) {
			a, wait := newTestApp(t, askMe), map[string]<-chan ipc.ExecAnswer{}
			ctx, hangUp := context.WithCancel(t.Context())
			for i, id := range []string{"one", "two", "three"} {
				of := t.Context()
				if id == ends {
					of = ctx
				}
				wait[id] = a.agent(of, id, "uname", "-s")
				a.eventually(id+" waits", func() bool { return len(a.host.Waiting()) == i+1 })
			}
			q := a.lookAt("one")
			hangUp()
			a.eventually("it has hung up", func() bool {
				return slices.ContainsFunc(a.host.Waiting(), func(p approval.Prompt) bool { return p.CallerGone })
			})
			if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK {
				t.Fatal("a yes counts for what was not shown")
			}
			list := a.approvals.Screen(q.ID).Waiting
			want := strings.Replace("one, two, three", ends, ends+" ended", 1)
			if len(list) != 1 || rowsOf(list[0]) != want || list[0].Ended != nil || (list[0].ID == q.ID) != (ends == "two") {
				t.Fatalf("the panel shows %q: %+v", rowsOf(list[0]), list[0])
			}
			a.approvals.Ready(list[0].ID, 600)
			if got := a.approvals.Decide(list[0].ID, list[0].Seen, "allow-once", ""); got.OK || got.Message != tooEarly {
				t.Errorf("at once: %+v", got)
			}
			a.look(list[0].ID)
			if got := a.approvals.Decide(list[0].ID, list[0].Seen, "allow-once", ""); !got.OK {
				t.Fatal(got.Message)
			}
			for id, answers := range wait {
				if answer := a.answer(answers); answer.Success != (id != ends) {
					t.Errorf("%s: %+v", id, answer)
				}
			}
		})
	}
}

// Another one that asks the same comes to the question on the panel, unless a
// person thinks about it.
func TestSharedJoin(t *testing.T) {
	a := newTestApp(t, askMe)
	a.agentUntil(t.Context(), time.Now().Add(time.Hour), "one", "uname", "-s")
	q := a.question()
	a.look(q.ID)
	if got := a.approvals.Hold(q.ID, true); !got.OK {
		t.Fatal(got.Message)
	}
	a.agent(t.Context(), "two", "uname", "-s")
	a.eventually("two waits", func() bool { return len(a.host.Waiting()) == 2 })
	if list := a.approvals.Screen(q.ID).Waiting; len(list) != 2 || list[0].Sharers != nil {
		t.Errorf("while its clock is stopped: %+v", list)
	}
	a.approvals.Hold(q.ID, false)
	joined := a.approvals.Screen(q.ID).Waiting
	if len(joined) != 1 || rowsOf(joined[0]) != "one, two" {
		t.Fatalf("%+v", joined)
	}
	if got := a.approvals.Decide(q.ID, joined[0].Seen, "allow-once", ""); got.OK || got.Message != tooEarly {
		t.Errorf("a yes to who has just come: %+v", got)
	}
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); !got.OK || len(a.host.Waiting()) != 1 || a.idOf("two") == "" {
		t.Errorf("the yes to one alone: %+v", got)
	}
}

// One that comes, goes and comes again changes what is in sight twice at most.
func TestSharedComesAgain(t *testing.T) {
	a, _ := askingSame(t, "one")
	q := a.lookAt("one")
	for i, want := range []string{"one, two", ""} {
		ctx, hangUp := context.WithCancel(t.Context())
		answers := a.agent(ctx, "two", "uname", "-s")
		a.eventually("two waits", func() bool { return len(liveOf(a.host.Waiting())) == 2 })
		if got := rowsOf(a.approvals.Screen(q.ID).Waiting[0]); got != want {
			t.Errorf("the %d. time: %q, want %q", i+1, got, want)
		}
		hangUp()
		a.answer(answers)
	}
	q = a.approvals.Screen(q.ID).Waiting[0]
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); !got.OK {
		t.Error(got.Message)
	}
}

// Where one of them needs the person themselves, nobody runs without them.
func TestSharedPresence(t *testing.T) {
	a := newTestApp(t, strings.Replace(askMe, `"agents": {}`, `"agents": {"two": {"presence": "always"}}`, 1))
	for i, id := range []string{"one", "two"} {
		a.agent(t.Context(), id, "uname", "-s")
		a.eventually(id+" waits", func() bool { return len(a.host.Waiting()) == i+1 })
	}
	q := a.lookAt("one")
	if len(q.Sharers) != 2 || q.Sharers[0].Confirms || !q.Sharers[1].Confirms {
		t.Fatalf("%+v", q.Sharers)
	}
	says := errors.New("you did not confirm it")
	a.presence.ask = func(string, bool) error { return says }
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK || len(a.host.Waiting()) != 2 {
		t.Errorf("%+v, and %d wait", got, len(a.host.Waiting()))
	}
	says = nil
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); !got.OK || len(a.host.Waiting()) != 0 {
		t.Errorf("%+v, and %d wait", got, len(a.host.Waiting()))
	}
}

func TestTakeOut(t *testing.T) {
	a, _ := askingSame(t, "one", "two", "three")
	q := a.lookAt("one")
	a.approvals.TakeOut(a.idOf("two"))
	a.approvals.TakeOut("nothing")
	if list := a.approvals.Screen(q.ID).Waiting; len(list) != 2 || rowsOf(list[0]) != "one, three" {
		t.Errorf("the others: %+v", list)
	}
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK {
		t.Error("a yes counts for all three")
	}
	if two := a.lookAt("two"); two.Sharers != nil || two.Agent.Name != "two" {
		t.Errorf("it is one of its own: %+v", two)
	}
	if one := a.lookAt("one"); rowsOf(one) != "one, three" {
		t.Errorf("it came back: %q", rowsOf(one))
	}
}

// What must not share a panel.
func TestSharesNot(t *testing.T) {
	twins := strings.Replace(askMe, `"agents": {}`, `"agents": {"two": {"displayName": "one"}}`, 1)
	strict := strings.Replace(askMe, `"agents": {}`, `"agents": {"two": {"ask": "always"}}`, 1)
	for _, test := range []struct {
		name, policy, agent string
		command             []string
		env                 map[string]string
		share               bool
	}{
		{"the same", askMe, "two", []string{"uname", "-s"}, nil, true},
		{"another text", askMe, "two", []string{"uname", "-r"}, nil, false},
		{"an agent without a name", askMe, "", []string{"uname", "-s"}, nil, false},
		{"another environment", askMe, "two", []string{"uname", "-s"}, map[string]string{"LANG": "xx"}, false},
		{"agents called alike", twins, "two", []string{"uname", "-s"}, nil, false},
		{"judged otherwise", strict, "two", []string{"uname", "-s"}, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newTestApp(t, test.policy)
			a.agent(t.Context(), "one", "uname", "-s")
			a.agentWith(t.Context(), test.agent, test.env, test.command...)
			a.eventually("both wait", func() bool { return len(a.host.Waiting()) == 2 })
			q := a.lookAt("one")
			if got := len(q.Sharers) == 2; got != test.share {
				t.Errorf("they share: %v", got)
			}
		})
	}
	t.Run("risky", func(t *testing.T) {
		a := newTestApp(t, askMe)
		for _, id := range []string{"one", "two"} {
			a.agent(t.Context(), id, "touch", a.project+"/x") // it writes: medium
		}
		a.eventually("both wait", func() bool { return len(a.host.Waiting()) == 2 })
		if q := a.lookAt("one"); q.Sharers != nil {
			t.Errorf("they share: %q", rowsOf(q))
		}
	})
	t.Run("more than a panel names", func(t *testing.T) {
		a, _ := askingSame(t, "a1", "a2", "a3", "a4", "a5", "a6", "a7")
		q := a.lookAt("a3")
		if len(q.Sharers) != 5 || q.ID != a.idOf("a3") {
			t.Errorf("%q", rowsOf(q))
		}
		if list := a.approvals.Screen(q.ID).Waiting; len(list) != 2 {
			t.Errorf("the others are %d questions", len(list)-1)
		}
	})
}

// agentWith asks with variables.
func (a *testApp) agentWith(ctx context.Context, agentID string, env map[string]string, command ...string) {
	a.t.Helper()
	client, err := ipc.Dial(a.state)
	if err != nil {
		a.t.Fatal(err)
	}
	x := ipc.Exec{}
	x.Request.Command, x.Request.AgentID, x.Request.SessionKey, x.Request.Env = command, agentID, "main", env
	x.Request.Cwd, x.Request.Deadline = a.project, time.Now().Add(10*time.Minute)
	token := a.host.Policy().SocketToken
	go func() {
		defer client.Close()
		_, _ = client.Exec(ctx, token, x)
	}()
}

// Agents whose own tools run the command share too: each in its own words.
func TestSharedCalls(t *testing.T) {
	a := newTestApp(t, askMe)
	key, err := host.ReadOperatorKey(a.state.OperatorKey())
	if err != nil {
		t.Fatal(err)
	}
	over := map[string]chan approval.Outcome{}
	for agent, args := range map[string]string{"one": `{"command": "uname -s", "description": "What system is this"}`, "two": `{"command": "uname -s", "timeout": 5}`} {
		over[agent] = make(chan approval.Outcome, 1)
		call := approval.ToolCall{Tool: "bash_execute", Args: json.RawMessage(args), Cwd: a.project, AgentID: agent, SessionKey: agent, Who: approval.Theirs,
			Deadline: time.Now().Add(10 * time.Minute).UnixMilli()}
		client, err := ipc.Dial(a.state)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		go func() {
			var o approval.Outcome
			if err := client.Call(t.Context(), key, "tool.decide", call, &o); err != nil {
				t.Error(err)
			}
			over[agent] <- o
		}()
	}
	a.eventually("both wait", func() bool { return len(a.host.Waiting()) == 2 })
	q := a.lookAt("one")
	if len(q.Sharers) != 2 {
		t.Fatalf("they do not share: %+v", q)
	}
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); !got.OK {
		t.Fatal(got.Message)
	}
	for agent, answer := range over {
		if o := <-answer; o.Verdict != approval.VerdictAllow {
			t.Errorf("%s: %+v", agent, o)
		}
	}
}

// The clock is that of the one that ends first.
func TestSharedClock(t *testing.T) {
	a := newTestApp(t, askMe)
	a.agent(t.Context(), "one", "uname", "-s")
	a.eventually("one waits", func() bool { return len(a.host.Waiting()) == 1 })
	a.agentUntil(t.Context(), time.Now().Add(time.Minute), "two", "uname", "-s")
	a.eventually("both wait", func() bool { return len(a.host.Waiting()) == 2 })
	q := a.lookAt("one")
	if len(q.Sharers) != 2 || q.Expires != q.Sharers[1].Expires || q.Expires >= q.Sharers[0].Expires {
		t.Errorf("%+v", q)
	}
}
