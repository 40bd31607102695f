//go:build linux || darwin

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
)

// hundred is how many hooks one agent has at once here.
const hundred = 100

// manyPolicy lets printf pass and asks about the rest.
const manyPolicy = `{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss"}, "agents": {"*": {"allowlist": [{"pattern": "printf"}]}}}`

func manyWorld(t *testing.T) *world {
	t.Helper()
	w := testWorld(t)
	w.policy(t, manyPolicy)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	return w
}

// geminiAsks is an event of Gemini CLI about a command.
func geminiAsks(command string) string {
	text, _ := json.Marshal(map[string]any{
		"session_id": "s", "cwd": "/", "hook_event_name": "BeforeTool", "tool_name": "run_shell_command",
		"tool_input": map[string]any{"command": command},
	})
	return string(text)
}

// manyAgents are an agent that asks by itself where nobody can be asked, and
// one that would run it.
var manyAgents = []struct {
	name  string
	asks  func(command string) string
	allow string // with the command line in the place of %s
	deny  string // with the reason
	// unasked is the same where nobody could be asked; %.0s is silence.
	unasked string
}{
	{
		"claude-code",
		func(command string) string { return claudeAsks("PermissionRequest", command) },
		`{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedInput":{"command":"%s","description":"x"}},"hookEventName":"PermissionRequest"}}` + "\n",
		`{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"%s"},"hookEventName":"PermissionRequest"}}` + "\n",
		"%.0s",
	},
	{
		"gemini",
		geminiAsks,
		`{"decision":"allow","hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"%s"}}}` + "\n",
		`{"decision":"deny","reason":"%s"}` + "\n",
		`{"decision":"deny","reason":"%s"}` + "\n",
	},
}

// hooked is what came of the hook with this number.
type hooked struct {
	i int
	ended
}

// burst runs a hundred hooks of an agent at once, each in a terminal of its own,
// as an agent would. Those that hang are killed, and end with code -1.
func (w *world) burst(t *testing.T, agent string, input func(i int) string) <-chan hooked {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	over := make(chan hooked, hundred)
	var hooks sync.WaitGroup
	t.Cleanup(func() { cancel(); hooks.Wait() })
	for i := range hundred {
		cmd := exec.CommandContext(ctx, "countersign", "hook", agent, "--timeout=10m")
		cmd.Dir, cmd.Env = w.home, w.env()
		inTerminal(cmd)
		hooks.Go(func() { over <- hooked{i, finish(t, cmd, input(i))} })
	}
	return over
}

// approvedID returns the id under which an answer lets a command run, "" where
// it is no such answer.
func approvedID(t *testing.T, allow string, got ended) string {
	t.Helper()
	before, after, _ := strings.Cut(fmt.Sprintf(allow, countersignPath(t)+" run --approved |"), "|")
	id, begins := strings.CutPrefix(got.stdout, before)
	id, ends := strings.CutSuffix(id, after)
	if !begins || !ends || strings.ContainsAny(id, `" `) || got.stderr != "" || got.code != 0 {
		return ""
	}
	return id
}

// allowedAll waits for a hundred answers that let a command run, each under an
// id of its own, and returns one of the ids.
func allowedAll(t *testing.T, allow string, over <-chan hooked) (id string) {
	t.Helper()
	ids := map[string]bool{}
	for range hundred {
		h := <-over
		if id = approvedID(t, allow, h.ended); id == "" || ids[id] {
			t.Fatalf("hook %d: %+v", h.i, h.ended)
		}
		ids[id] = true
	}
	return id
}

// nothingRan checks that a hundred requests were judged so and that none has
// run: what was allowed waits for the agent to run it.
func (w *world) nothingRan(t *testing.T, judged approval.Verdict) {
	t.Helper()
	rows := w.rows(t)
	if len(rows) != hundred {
		t.Errorf("the history has %d requests", len(rows))
	}
	for _, r := range rows {
		if r.Judged != judged || !r.Started.IsZero() {
			t.Errorf("%s: judged %s, started %v", r.ID, r.Judged, r.Started)
		}
	}
}

// A hundred identical asks of one agent are one question. One answer is for
// each of them, and each may run once what was asked.
func TestHooksOneQuestion(t *testing.T) {
	for _, agent := range manyAgents {
		t.Run(agent.name, func(t *testing.T) {
			w := manyWorld(t)
			over := w.burst(t, agent.name, func(int) string { return agent.asks("uname -s") })
			var open []approval.Prompt
			if !eventually(func() bool {
				w.json(t, &open, "approvals", "pending")
				return len(open) == 1 && open[0].Count == hundred || len(over) > 0
			}) || len(over) > 0 {
				t.Fatalf("%d questions wait, and %d hooks have ended", len(open), len(over))
			}
			w.must(t, "approvals", "approve", open[0].ID)
			id := allowedAll(t, agent.allow, over)
			w.mustQuestions(t, 0)
			w.nothingRan(t, approval.VerdictAsk)
			uname, err := w.program("uname", "-s").Output()
			if err != nil {
				t.Fatal(err)
			}
			if out, err := w.asks("--approved", id).Output(); err != nil || string(out) != string(uname) {
				t.Errorf("what was allowed: %q, %v", out, err)
			}
			if out, err := w.asks("--approved", id).Output(); err == nil || len(out) > 0 {
				t.Errorf("it runs twice: %q", out)
			}
		})
	}
}

// Of a hundred asks about different things at most as many wait as one agent
// may have, and the others end at once as where nobody can be asked. An answer
// is for one of them alone, and the end of the host allows nothing.
func TestHooksManyQuestions(t *testing.T) {
	const (
		later  = " You may ask again later, or continue without it."
		full   = "rate limited: too many questions of this agent are waiting already." + later
		closed = "approval prompt closed without decision: the host is closing." + later
		no     = "SYSTEM_RUN_DENIED: user denied. It is about: %s. The person said no: stop here and ask them in the conversation."
	)
	for _, agent := range manyAgents {
		t.Run(agent.name, func(t *testing.T) {
			w := manyWorld(t)
			command := func(i int) string { return fmt.Sprint("uname -", i) }
			over := w.burst(t, agent.name, func(i int) string { return agent.asks(command(i)) })
			waits := map[string]bool{}
			for i := range hundred {
				waits[command(i)] = true
			}
			// ends waits for n hooks to end, and for nothing else.
			ends := func(n int, want string) {
				t.Helper()
				for range n {
					h := <-over
					if h.ended != (ended{want, "", 0}) {
						t.Fatalf("hook %d: %+v, want %q", h.i, h.ended, want)
					}
					delete(waits, command(h.i))
				}
			}
			ends(hundred-pending.PerAgent, fmt.Sprintf(agent.unasked, full))
			open := w.mustQuestions(t, pending.PerAgent)
			for _, q := range open {
				if q.Count != 1 || q.CallerGone || !waits[q.Plan.Text] {
					t.Errorf("nobody waits for %q, or %d do", q.Plan.Text, q.Count)
				}
			}
			if len(over) > 0 {
				t.Errorf("%d hooks ended without an answer", len(over))
			}
			limited := 0
			for _, r := range w.rows(t) {
				if r.Reason == approval.ReasonRateLimited && r.Verdict == approval.VerdictDeny {
					limited++
				}
			}
			if limited != hundred-pending.PerAgent {
				t.Errorf("%d of the requests are rate-limited", limited)
			}

			w.must(t, "approvals", "approve", open[0].ID)
			if h := <-over; command(h.i) != open[0].Plan.Text || approvedID(t, agent.allow, h.ended) == "" {
				t.Fatalf("%s was allowed, and hook %d says %+v", open[0].Plan.Text, h.i, h.ended)
			}
			w.must(t, "approvals", "deny", open[1].ID)
			ends(1, fmt.Sprintf(agent.deny, fmt.Sprintf(no, open[1].Plan.Text)))
			if waits[open[1].Plan.Text] {
				t.Errorf("another than %s was denied", open[1].Plan.Text)
			}
			w.end(syscall.SIGTERM)
			ends(pending.PerAgent-2, fmt.Sprintf(agent.unasked, closed))
		})
	}
}

// A hundred calls that policy allows pass at once, and nobody is asked.
func TestHooksAllowed(t *testing.T) {
	for _, agent := range manyAgents {
		t.Run(agent.name, func(t *testing.T) {
			w := manyWorld(t)
			over := w.burst(t, agent.name, func(i int) string { return agent.asks(fmt.Sprint("printf ", i)) })
			allowedAll(t, agent.allow, over)
			w.mustQuestions(t, 0)
			w.nothingRan(t, approval.VerdictAllow)
		})
	}
}
