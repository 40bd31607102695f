//go:build linux || darwin

package host

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

// TestElicited: the answer of an MCP client counts by the ticket of its call,
// where a person switched it on.
func TestElicited(t *testing.T) {
	b := newBench(t)
	b.askers.always = true
	accept := func(names ...string) {
		_, err := b.Update(func(d *store.Document) error {
			d.Defaults.Ask, d.Agent("main").AcceptAnswersFrom = approval.AskOnMiss, names
			return nil
		})
		must(t, err)
	}
	accept()
	call := approval.ToolCall{
		Tool: "do", Server: "srv", Args: json.RawMessage(`{"a":1}`), Cwd: b.path("work"), AgentID: "main", Who: approval.Theirs, Ticket: strings.Repeat("t", 20),
	}
	over := make(chan approval.Outcome, 1)
	go func() {
		var o approval.Outcome
		if err := b.call("tool.decide", call, &o); err != nil {
			t.Error(err)
		}
		over <- o
	}()
	look := func() (e Elicit) {
		must(t, b.call("pending.own", map[string]string{"ticket": call.Ticket}, &e))
		return e
	}
	say := func(ticket string, d approval.Decision) error {
		p := b.Waiting()[0]
		return b.call("pending.elicited", map[string]any{"id": p.ID, "digest": p.Digest(), "ticket": ticket, "decision": d}, nil)
	}
	if e := look(); e.Prompt.ID != b.Waiting()[0].ID || len(e.Choices) != 0 {
		t.Errorf("while it is off: %+v", e)
	}
	for _, d := range []approval.Decision{approval.DecisionDeny, approval.AllowOnce} {
		if err := say(call.Ticket, d); err == nil || !strings.Contains(err.Error(), "not accepted here") {
			t.Errorf("%s while it is off: %v", d, err)
		}
	}
	accept(approval.MCPClient)
	if e := look(); fmt.Sprint(e.Choices) != "[deny allow-once]" || e.Prompt.Digest() != b.Waiting()[0].Digest() {
		t.Errorf("while it is on: %+v", e)
	}
	for name, err := range map[string]error{
		"another ticket": say(strings.Repeat("x", 20), approval.AllowOnce), "no ticket": say("", approval.AllowOnce),
		"for always": say(call.Ticket, approval.AllowAlways), "what is no answer": say(call.Ticket, ""),
	} {
		if err == nil {
			t.Errorf("%s counts", name)
		}
	}
	must(t, say(call.Ticket, approval.AllowOnce))
	if o := <-over; o.Verdict != approval.VerdictAllow || o.Receipt.By != "mcp client main" || o.Always {
		t.Errorf("%+v", o)
	}
	for _, ticket := range []string{"short", strings.Repeat("t", 65), strings.Repeat("t ", 10), strings.Repeat("é", 10)} {
		if call.Ticket = ticket; b.call("tool.decide", call, nil) == nil {
			t.Errorf("the ticket %q is taken", ticket)
		}
	}
}

// TestTicketsStayInside: who lists the questions does not learn the tickets.
func TestTicketsStayInside(t *testing.T) {
	text, err := json.Marshal(approval.Prompt{Ticket: "secret", Plan: approval.Plan{Tool: &approval.Tool{}}})
	if err != nil || strings.Contains(string(text), "secret") {
		t.Errorf("%s %v", text, err)
	}
}
