//go:build linux || darwin

package gate_test

import (
	"errors"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

// TestMayElicit: what the MCP client of an agent may answer, and never more.
func TestMayElicit(t *testing.T) {
	t.Parallel()
	const (
		off    = "the answers of its MCP client are not accepted here: a person adds mcp-client to acceptAnswersFrom"
		person = "only the person here may allow this"
	)
	set := func(agent, field, value string) func(*store.Document) error {
		return func(d *store.Document) error { return d.Set(agent, field, value) }
	}
	accepts := func(agent string, names ...string) func(*store.Document) error {
		return func(d *store.Document) error {
			d.Agent(agent).AcceptAnswersFrom = names
			return nil
		}
	}
	rule := func(text string) func(*store.Document) error {
		return func(d *store.Document) error {
			d.Extra = store.Extra{"tools": []byte(`{"rules": {"srv/*": ` + text + `}}`)}
			return nil
		}
	}
	for _, c := range []struct {
		name    string
		tool    string // of the server "srv", or of the agent itself where it begins with "/"
		edit    func(*store.Document) error
		charter string
		change  func(*approval.ToolCall)
		deny    string // of a no, "" for nil
		once    string // of a yes
	}{
		{name: "switched on", tool: "do"},
		{name: "not switched on", tool: "do", edit: accepts("main"), deny: off, once: off},
		{name: "on for a gateway", tool: "do", edit: accepts("main", "home:1"), deny: off, once: off},
		{name: "on for another agent", tool: "do", edit: func(d *store.Document) error {
			return errors.Join(accepts("main")(d), accepts("other", "mcp-client")(d))
		}, deny: off, once: off},
		{name: "a program that we run", tool: "/bash", change: func(c *approval.ToolCall) { c.Who = approval.Ours }, once: person},
		{name: "no quick yes", tool: "do", change: func(c *approval.ToolCall) { c.DefaultToNo = true }, once: person},
		{name: "a high risk", tool: "do", edit: rule(`{"risk": "high"}`), once: person},
		{name: "a critical risk", tool: "do", edit: rule(`{"risk": "critical"}`), once: person},
		{name: "a medium risk", tool: "do", edit: rule(`{"risk": "medium"}`)},
		{name: "asked about always", tool: "do", edit: set("main", "ask", "always"), once: person},
		{name: "a rule that asks always", tool: "do", edit: rule(`{"ask": "always"}`), once: person},
		{name: "a person is wanted", tool: "do", edit: set("main", "presence", "always"), once: person},
		{name: "a person is wanted for what is risky", tool: "do", edit: set("main", "presence", "risky")},
		{name: "escalated", tool: "do", charter: `{escalate: ["srv/do"]}`, once: person},
		{name: "wants a confirmation", tool: "do", charter: `{requireConfirmation: ["srv/do"]}`, once: person},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			if c.charter != "" {
				b.charter(c.charter, true)
			}
			b.edit(accepts("main", "mcp-client"))
			if c.edit != nil {
				b.edit(c.edit)
			}
			call := b.call(c.tool, "a", "b")
			if call.Server = "srv"; c.tool[0] == '/' {
				call = b.call(c.tool[1:], "command", "no-such-program")
			}
			call.Who = approval.Theirs
			if c.change != nil {
				c.change(&call)
			}
			over := make(chan string, 1)
			go func() { over <- b.evaluate(call) }()
			p := b.waitsFor()
			for decision, want := range map[approval.Decision]string{
				approval.DecisionDeny: c.deny, approval.AllowOnce: c.once,
			} {
				if got := errorText(b.MayElicit(p, decision)); got != want {
					t.Errorf("%s: %q, want %q", decision, got, want)
				}
			}
			for _, never := range []approval.Decision{approval.AllowAlways, "", "allow"} {
				if b.MayElicit(p, never) == nil {
					t.Errorf("%q counts", never)
				}
			}
			b.pending.DenyAll(no, func() {})
			<-over
		})
	}
}

// TestMayElicitNoCommand: nothing but a call of a tool is for an MCP client, and
// nothing that touches what is protected.
func TestMayElicitNoCommand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.edit(func(d *store.Document) error {
		d.Agent("main").AcceptAnswersFrom = []string{"mcp-client"}
		return nil
	})
	fine := approval.Prompt{
		AgentID: "main", Who: approval.Theirs, Plan: approval.Plan{Tool: &approval.Tool{Name: "x"}},
		Judgement: approval.Judgement{Choices: []approval.Decision{approval.AllowOnce, approval.DecisionDeny}, Risk: approval.Weighed{Level: approval.RiskLow}},
	}
	if err := b.MayElicit(fine, approval.AllowOnce); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(p *approval.Prompt){
		"no quick yes":           func(p *approval.Prompt) { p.Plan.Tool = &approval.Tool{Name: "x", DefaultToNo: true} },
		"a command":              func(p *approval.Prompt) { p.Plan.Tool = nil },
		"protected":              func(p *approval.Prompt) { p.Judgement.Reason = approval.ReasonProtectedState },
		"a risk that is no word": func(p *approval.Prompt) { p.Judgement.Risk.Level = "none" },
		"a yes is not offered":   func(p *approval.Prompt) { p.Judgement.Choices = []approval.Decision{approval.DecisionDeny} },
		"a part is protected": func(p *approval.Prompt) {
			p.Judgement.Segments = []approval.SegmentJudgement{{Finding: approval.Finding{Reason: approval.ReasonProtectedState}}}
		},
		"a part is escalated": func(p *approval.Prompt) { p.Judgement.Segments = []approval.SegmentJudgement{{Escalate: true}} },
	} {
		p := fine
		change(&p)
		if b.MayElicit(p, approval.AllowOnce) == nil || b.MayElicit(p, approval.DecisionDeny) != nil {
			t.Errorf("%s: a yes %v, a no %v", name, b.MayElicit(p, approval.AllowOnce), b.MayElicit(p, approval.DecisionDeny))
		}
	}
}

// TestClientIsNoGateway: the word that stands for the client lets no gateway of
// that name answer.
func TestClientIsNoGateway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.edit(func(d *store.Document) error {
		d.Extra = store.Extra{"approvers": []byte(`[{"who":"gateway","url":"ws://mcp-client","seconds":60}]`)}
		d.Agent("main").AcceptAnswersFrom = []string{"mcp-client"}
		return nil
	})
	over := make(chan string, 1)
	go func() { over <- b.evaluate(b.call("file_write", "path", "x")) }()
	p := b.waitsFor()
	if len(p.Turns) != 1 || !p.Turns[0].DenyOnly || b.MayAnswer(p, "mcp-client", approval.AllowOnce) == nil {
		t.Errorf("a gateway may allow as the client: %+v", p.Turns)
	}
	b.pending.DenyAll(no, func() {})
	<-over
}
