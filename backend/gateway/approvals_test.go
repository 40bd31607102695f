package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/link"
)

// reviewer is an operator where somebody looks at questions.
func (w *world) reviewer() *line {
	w.t.Helper()
	c := asOperator(scopeApprovals)
	c.Caps = []string{"approvals"}
	l, err := w.dial(device1(w.t), c, nil)
	must(w.t, err)
	l.call("health", nil) // who is served is in: being greeted comes before
	return l
}

const opened = `{tools: {exec: {host: "node", security: "full", ask: "off"}}}`

// TestApprovals has operators answer, once, for just what was asked about.
func TestApprovals(t *testing.T) {
	w := newWorld(t, opened)
	var last link.RunParams
	act := func(r request) (any, *link.Error) {
		last = link.RunParams{}
		_ = json.Unmarshal([]byte(*r.ParamsJSON), &last)
		return map[string]any{"exitCode": 0, "success": true}, nil
	}
	node, other := w.node("one", act), w.node("two", act)
	agent, stranger := w.operator(scopeWrite, scopeApprovals), w.operator(scopeWrite, scopeApprovals)
	plan := json.RawMessage(`{"argv":["make","all"],"cwd":"/work","commandText":"make all","agentId":"a","sessionKey":"s","policySnapshot":{"security":"allowlist"},"programsHash":"x"}`)
	asks := func(id string, more map[string]any) map[string]any {
		m := map[string]any{"id": id, "command": "make all", "host": "node", "nodeId": node.id, "systemRunPlan": plan, "twoPhase": true}
		for k, v := range more {
			m[k] = v
		}
		return m
	}
	// Where nobody looks, nobody is waited for.
	if got := agent.call("exec.approval.request", asks("none", map[string]any{"twoPhase": false})); !strings.Contains(got, `"decision":null`) || !strings.Contains(got, "no-route") {
		t.Error(got)
	}
	boss := w.reviewer()
	ask := func(id string, more map[string]any) {
		t.Helper()
		if got := agent.call("exec.approval.request", asks(id, more)); !strings.Contains(got, `"deliveryRoute":"approval-client"`) {
			t.Fatal(got)
		}
		if text := string(boss.event("exec.approval.requested")); !strings.Contains(text, `"id":"`+id+`"`) || !strings.Contains(text, "make all") {
			t.Error(text)
		}
	}
	resolve := func(id, decision string) string {
		return boss.call("exec.approval.resolve", map[string]string{"id": id, "decision": decision})
	}
	for _, row := range []struct {
		more map[string]any
		want string
	}{
		{map[string]any{"id": "plugin:x"}, "id is reserved"},
		{map[string]any{"nodeId": ""}, "nodeId is required"},
		{map[string]any{"systemRunPlan": nil}, "systemRunPlan is required"},
		{map[string]any{"systemRunPlan": json.RawMessage(`{"argv":"make"}`)}, "invalid params"},
		{map[string]any{"command": strings.Repeat("x", maxShown+1)}, "too long to be asked about"},
		{map[string]any{"command": "", "systemRunPlan": json.RawMessage(`{}`)}, "MISSING_COMMAND"},
		{map[string]any{"unavailableDecisions": []string{"maybe"}}, "invalid params"},
	} {
		if got := agent.call("exec.approval.request", asks("bad", row.more)); !strings.HasPrefix(got, "INVALID_REQUEST") || !strings.Contains(got, row.want) {
			t.Errorf("%v: %.200s", row.more, got)
		}
	}

	ask("first-question", map[string]any{"env": map[string]string{"A": "1"}, "unavailableDecisions": []string{"allow-always"}})
	if got := agent.call("exec.approval.request", asks("first-question", nil)); !strings.Contains(got, "id is taken") {
		t.Error(got)
	}
	if got := boss.call("exec.approval.list", nil); strings.Count(got, `"id":"first-question"`) != 2 { // and in what was asked
		t.Error(got)
	}
	n := 0
	run := func(by *line, edit func(map[string]any)) string {
		n++
		p := map[string]any{"command": []string{"make", "all"}, "cwd": "/elsewhere", "agentId": "other", "sessionKey": "t", "env": map[string]string{"A": "1"}, "runId": "first-question", "approved": true, "approvalDecision": "allow-always"}
		edit(p)
		to := node.id
		if id, ok := p["node"]; ok {
			to = id.(string)
			delete(p, "node")
		}
		last = link.RunParams{}
		return by.call("node.invoke", map[string]any{"nodeId": to, "command": "system.run", "params": p, "idempotencyKey": fmt.Sprint(n)})
	}
	same := func(map[string]any) {}
	if got := run(agent, same); !strings.Contains(got, "APPROVAL_REQUIRED") {
		t.Error(got)
	}
	waits := make(chan string)
	go func() { waits <- agent.call("exec.approval.waitDecision", idParams{"first-question"}) }()
	for _, row := range []struct{ id, decision, want string }{
		{"first-question", "allow-always", "not offered"}, {"first-question", "", "invalid params"}, {"first-question", "yes", "invalid params"},
		{"nobody", "deny", "unknown or expired"}, {"first", "deny", "unknown or expired"},
		{"first-", "allow-once", `{"ok":true}`}, {"first-question", "allow-once", `{"ok":true}`}, {"first-question", "deny", "already resolved"},
	} {
		if got := resolve(row.id, row.decision); !strings.Contains(got, row.want) {
			t.Errorf("%s %s: %s", row.id, row.decision, got)
		}
	}
	if got := <-waits; !strings.Contains(got, `"decision":"allow-once"`) {
		t.Error(got)
	}
	for want, row := range map[string]struct {
		by   *line
		edit func(map[string]any)
	}{
		"MISSING_RUN_ID":                  {agent, func(p map[string]any) { delete(p, "runId") }},
		"UNKNOWN_APPROVAL_ID":             {agent, func(p map[string]any) { p["runId"] = "first-" }},
		"APPROVAL_NODE_MISMATCH":          {agent, func(p map[string]any) { p["node"] = other.id }},
		"APPROVAL_DEVICE_MISMATCH":        {stranger, same},
		"APPROVAL_REQUEST_MISMATCH":       {agent, func(p map[string]any) { p["command"] = []string{"make", "clean"} }},
		"APPROVAL_ENV_MISMATCH":           {agent, func(p map[string]any) { p["env"] = map[string]string{"A": "2"} }},
		"APPROVAL_ENV_MISMATCH: the ":     {agent, func(p map[string]any) { delete(p, "env") }},
		"INVALID_REQUEST: invalid params": {agent, func(p map[string]any) { p["approvalDecision"] = "yes" }},
	} {
		if got := run(row.by, row.edit); !strings.Contains(got, want) || last.Command != nil {
			t.Errorf("%s: %s", want, got)
		}
	}
	// It runs what was asked about, as what was asked about, and once.
	if got := run(agent, same); !strings.Contains(got, `"ok":true`) || last.Cwd != "/work" || last.AgentID != "a" || last.SessionKey != "s" ||
		last.Decision != approval.AllowOnce || last.RunID != "first-question" || !strings.Contains(string(last.Plan), "programsHash") {
		t.Errorf("%s %+v", got, last)
	}
	if got := run(agent, same); !strings.Contains(got, "APPROVAL_REQUIRED") || last.Command != nil {
		t.Error("it runs twice:", got)
	}

	ask("second-question", nil)
	resolve("second-question", "allow-always")
	for range 2 {
		if got := run(agent, func(p map[string]any) { p["runId"] = "second-question"; delete(p, "env") }); !strings.Contains(got, `"ok":true`) || last.Decision != approval.AllowAlways {
			t.Error(got)
		}
	}
	if got := run(agent, func(p map[string]any) { p["runId"] = "second-question" }); !strings.Contains(got, "APPROVAL_ENV_BINDING_MISSING") {
		t.Error(got)
	}
	ask("third-question", nil)
	resolve("third-question", "deny")
	if got := run(agent, func(p map[string]any) { p["runId"] = "third-question"; delete(p, "env") }); !strings.Contains(got, "APPROVAL_REQUIRED") {
		t.Error(got)
	}
	ask("short-question", map[string]any{"timeoutMs": 1})
	if got := agent.call("exec.approval.waitDecision", idParams{"short-question"}); !strings.Contains(got, `"decision":null`) || !strings.Contains(got, "expired") {
		t.Error(got)
	}
	if got := resolve("short-question", "allow-once"); !strings.Contains(got, "unknown or expired") {
		t.Error(got)
	}
	if got := w.operator(scopeWrite).call("exec.approval.list", nil); !strings.Contains(got, "missing scope: operator.approvals") {
		t.Error(got)
	}
	var list []any
	if err := boss.conn.Call(t.Context(), "exec.approval.list", nil, &list); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
	var refused *link.Error
	if err := agent.conn.Call(t.Context(), "exec.approval.get", idParams{"first-question"}, nil); err != nil || errors.As(err, &refused) {
		t.Error(err)
	}
}

// TestAskedElsewhere lets operators deny what a person is asked about on a
// host, and nothing more.
func TestAskedElsewhere(t *testing.T) {
	w := newWorld(t, opened)
	asked := make(chan request, 2)
	var node *line
	node = w.node("one", func(r request) (any, *link.Error) {
		asked <- r
		node.call("node.invoke.progress", map[string]any{"invokeId": r.ID, "nodeId": node.id, "seq": 0, "chunk": `{"state":"asked"}`})
		return nil, nil
	})
	boss, agent := w.reviewer(), w.operator(scopeWrite)
	answer := make(chan string, 2)
	for _, row := range []struct {
		decision, want string
	}{{"allow-once", "not offered"}, {"allow-always", "not offered"}, {"deny", `{"ok":true}`}} {
		if row.decision == "allow-once" {
			go func() { answer <- agent.call("exec.run", json.RawMessage(`{"command":["make"],"background":false}`)) }()
			<-asked
		}
		var q struct {
			ID      string
			Request struct{ Command, AgentID string }
		}
		if row.decision == "allow-once" {
			must(t, json.Unmarshal(boss.event("exec.approval.requested"), &q))
			if q.Request.Command != "make" || q.Request.AgentID != "main" {
				t.Errorf("%+v", q)
			}
		} else {
			var list []struct{ ID string }
			must(t, boss.conn.Call(t.Context(), "exec.approval.list", nil, &list))
			q.ID = list[0].ID
		}
		if got := boss.call("exec.approval.resolve", map[string]string{"id": q.ID, "decision": row.decision}); !strings.Contains(got, row.want) {
			t.Errorf("%s: %s", row.decision, got)
		}
	}
	if got := <-answer; !strings.Contains(got, "an operator of the gateway said no") {
		t.Error(got)
	}
	node.event("node.invoke.cancel")
	// A question that was answered there is over here.
	go func() { answer <- agent.call("exec.run", json.RawMessage(`{"command":["make"]}`)) }()
	r := <-asked
	boss.event("exec.approval.requested")
	node.call("node.invoke.result", map[string]any{"id": r.ID, "nodeId": node.id, "ok": true, "payload": map[string]any{"exitCode": 0}})
	if got := <-answer; !strings.Contains(got, `"exitCode":0`) {
		t.Error(got)
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if got := boss.call("exec.approval.list", nil); got == "[]" {
			break
		} else if time.Now().After(end) {
			t.Fatal(got)
		}
	}
}
