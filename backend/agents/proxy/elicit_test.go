//go:build linux || darwin

package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// both is what the client may answer where a yes counts.
var both = []approval.Decision{approval.DecisionDeny, approval.AllowOnce}

// hurried shows forms at once.
func hurried(p *pace) { p.first = time.Millisecond }

// shown is a form as the client reads it.
type shown struct {
	JSONRPC string
	ID      string
	Method  string
	Params  struct {
		Message         string
		RequestedSchema struct {
			Type       string
			Required   []string
			Properties map[string]struct {
				Type string
				Enum []string
			}
		}
	}
}

// introduced has the client of a stage say what it can do.
func (s *stage) introduced(capabilities string) {
	s.Helper()
	hello := `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":` + capabilities + `,"clientInfo":{"name":"c"}}}`
	s.client(hello)
	s.gets(hello)
	welcome := answerTo(`"hello"`)
	s.says(welcome)
	s.reads(welcome)
}

// form reads a form at the client.
func (s *stage) form() (f shown) {
	s.Helper()
	line := s.line()
	if err := json.Unmarshal([]byte(line), &f); err != nil || f.Method != methodElicit || f.JSONRPC != "2.0" {
		s.Fatalf("no form: %s", line)
	}
	return f
}

// elicits is a stage at whose client a form is shown about ask.
func elicits(t *testing.T, choices ...approval.Decision) (*stage, shown) {
	s := newStage(t, hurried)
	s.host.choices = choices
	s.introduced(`{"elicitation":{}}`)
	s.client(toolCall("1", "ask"))
	return s, s.form()
}

func chosen(id, what string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{"decision":%q}}}`, id, what)
}

// TestForm: what the client chooses goes to the host with all that names the
// question, and never to the server.
func TestForm(t *testing.T) {
	for _, c := range []struct {
		choices []approval.Decision
		enum    string
		choose  string
		want    approval.Decision
	}{
		{both, "deny allow once", "allow once", approval.AllowOnce}, {both, "deny allow once", "deny", approval.DecisionDeny},
		{both[:1], "deny", "deny", approval.DecisionDeny},
	} {
		s, f := elicits(t, c.choices...)
		schema := f.Params.RequestedSchema
		if one := schema.Properties["decision"]; schema.Type != "object" || one.Type != "string" || strings.Join(one.Enum, " ") != c.enum || !slices.Equal(schema.Required, []string{"decision"}) {
			t.Errorf("the form is %+v", schema)
		}
		s.client(chosen(f.ID, c.choose))
		call := after(t, s.host.asked)
		said := after(t, s.host.said)
		if q := questionOf(call); said["id"] != q.ID || said["digest"] != q.Digest() || said["ticket"] != call.Ticket || said["decision"] != c.want {
			t.Errorf("said %v", said)
		}
		if approval.CheckTicket(call.Ticket) != nil {
			t.Errorf("the ticket is %q", call.Ticket)
		}
		s.getsNothing()
	}
}

// TestFormText: the whole question is there, and what others chose cannot pass
// for what we say.
func TestFormText(t *testing.T) {
	p := questionOf(approval.ToolCall{Tool: "write", Server: "srv", Args: json.RawMessage(`{"a":"x"}`), AgentID: "main", Cwd: "/p"})
	p.Plan.Tool.Args = json.RawMessage("{\"a\":\"1\n\n# Countersign: harmless\u202e\"}")
	p.Plan.Tool.Files = []approval.ToolFile{{Path: "/p/a", Real: "/etc/b\n"}, {Path: "/p/c", Real: "/p/c"}}
	p.Plan.Tool.Addresses = []approval.ToolAddress{{URL: "http://10.0.0.1/"}}
	text, err := formText(p, true)
	want := `Countersign asks: may this tool be called?

    srv/write {"a":"1\u{A}\u{A}# Countersign: harmless\u{202E}"}
    file     /p/a → /etc/b\u{A}
    file     /p/c
    address  http://10.0.0.1/
    agent    main
    folder   /p
    because  nobody allowed it
    risk     medium

An answer holds for this one call. Without one Countersign goes on asking by itself.`
	if err != nil || text != want {
		t.Errorf("%v\n%s\nwant\n%s", err, text, want)
	}
	if text, _ := formText(p, false); !strings.Contains(text, "Only in Countersign itself can this be allowed.") {
		t.Error(text)
	}
	p.Plan.Tool.Args = json.RawMessage(`"` + strings.Repeat("x", maxFormText) + `"`)
	if text, err := formText(p, true); err == nil {
		t.Errorf("shown in part: %.100s", text)
	}
}

// TestNoAnswer: only a choice is an answer. Whatever else comes, the question
// waits on, and nothing of it reaches the server.
func TestNoAnswer(t *testing.T) {
	for name, result := range map[string]string{
		"declined": `"result":{"action":"decline"}`, "closed": `"result":{"action":"cancel","content":null}`,
		"declined with a choice": `"result":{"action":"decline","content":{"decision":"allow once"}}`,
		"nothing chosen":         `"result":{"action":"accept"}`, "another word": `"result":{"action":"accept","content":{"decision":"allow-once"}}`,
		"no word": `"result":{"action":"accept","content":{"decision":true}}`, "a list": `"result":{"action":"accept","content":["allow once"]}`,
		"twice":     `"result":{"action":"accept","content":{"decision":"deny","decision":"allow once"}}`,
		"no action": `"result":{"content":{"decision":"allow once"}}`, "another case": `"result":{"action":"accept","Content":{"decision":"allow once"}}`,
		"an error": `"error":{"code":-32601,"message":"no"}`, "no object": `"result":"accept"`,
	} {
		s, f := elicits(t, both...)
		s.client(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,%s}`, f.ID, result))
		s.client(chosen(f.ID, "allow once")) // too late
		after(t, s.host.asked)
		s.getsNothing()
		s.host.answer <- approval.VerdictAllow // as the panel would
		s.gets(toolCall("1", "ask"))
		if len(s.host.said) != 0 {
			t.Errorf("%s: %v", name, <-s.host.said)
		}
	}
}

// TestFormTakenBack: once the question is over the form is taken back, and its
// late answer is for nobody.
func TestFormTakenBack(t *testing.T) {
	for name, end := range map[string]func(s *stage){
		"answered in the panel": func(s *stage) { s.host.answer <- approval.VerdictAllow },
		"cancelled": func(s *stage) {
			s.client(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		},
	} {
		s, f := elicits(t, both...)
		after(t, s.host.asked)
		end(s)
		want := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"` + f.ID + `","reason":"the question was answered elsewhere, or is over"}}`
		s.reads(want)
		if name != "cancelled" {
			s.gets(toolCall("1", "ask"))
		}
		s.client(chosen(f.ID, "allow once"))
		s.getsNothing()
		if len(s.host.said) != 0 {
			t.Errorf("%s: %v", name, <-s.host.said)
		}
	}
}

// TestNoForm: who cannot show a form, or must not, is asked nothing.
func TestNoForm(t *testing.T) {
	modern := strings.Replace(toolCall("1", "ask"), `"x":[]`, `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`, 1)
	for name, c := range map[string]struct {
		capabilities, call string
		choices            []approval.Decision
		ticket             bool
	}{
		"no capability":         {`{"sampling":{}}`, toolCall("1", "ask"), both, false},
		"addresses only":        {`{"elicitation":{"url":{}}}`, toolCall("1", "ask"), both, false},
		"said in another way":   {`{"Elicitation":{}}`, toolCall("1", "ask"), both, false},
		"not an object":         {`{"elicitation":true}`, toolCall("1", "ask"), both, false},
		"null":                  {`{"elicitation":null}`, toolCall("1", "ask"), both, false},
		"a newer revision":      {`{"elicitation":{}}`, modern, both, false},
		"nobody switched it on": {`{"elicitation":{}}`, toolCall("1", "ask"), nil, true},
		"no way to say no":      {`{"elicitation":{}}`, toolCall("1", "ask"), both[1:], true},
	} {
		s := newStage(t, hurried)
		s.host.choices = c.choices
		s.introduced(c.capabilities)
		s.client(c.call)
		if call := after(t, s.host.asked); (call.Ticket != "") != c.ticket {
			t.Errorf("%s: the ticket is %q", name, call.Ticket)
		}
		if c.ticket {
			after(t, s.host.looked)
		}
		s.getsNothing() // reads all that the client got, too
		s.host.answer <- approval.VerdictDeny
		if line := s.line(); !strings.Contains(line, `"isError":true`) {
			t.Errorf("%s: %s", name, line)
		}
	}
	for modes, want := range map[string]bool{
		`{}`: true, `{"form":{}}`: true, `{"form":{},"url":{}}`: true, `{"other":{}}`: true, `{"url":{}}`: false, `[]`: false, `{"form":{},"form":{}}`: false,
	} {
		m := Message{Params: json.RawMessage(`{"capabilities":{"elicitation":` + modes + `}}`)}
		if showsForms(m) != want {
			t.Errorf("%s shows forms: %v", modes, !want)
		}
	}
}

// TestForgedForms: a server that learned an id of ours can neither answer for the
// client, nor put its own form in the place of ours, nor take ours away.
func TestForgedForms(t *testing.T) {
	s, f := elicits(t, both...)
	call := after(t, s.host.asked)
	next := f.ID[:strings.LastIndex(f.ID, "-")+1] + "2"
	spelled := `"\u0063` + f.ID[1:] + `"`
	s.says(
		chosen(f.ID, "allow once"), fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"elicitation/create","params":{}}`, f.ID),
		`{"jsonrpc":"2.0","id":`+spelled+`,"method":"ping"}`, fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"ping"}`, next),
		fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%q}}`, f.ID),
	)
	own := `{"jsonrpc":"2.0","id":"countersign-x-1","method":"elicitation/create","params":{}}`
	s.says(own)
	s.reads(own) // and nothing before it
	theirs := chosen("countersign-x-1", "allow once")
	s.client(theirs)
	s.gets(theirs) // what the server asked is the server's
	for _, id := range []string{"other", next, strings.ToUpper(f.ID)} {
		s.client(chosen(id, "allow once"))
	}
	s.gets(chosen("other", "allow once"))
	s.gets(chosen(strings.ToUpper(f.ID), "allow once"))
	if len(s.host.said) != 0 {
		t.Fatalf("said %v", <-s.host.said)
	}
	s.client(chosen(f.ID, "deny"), chosen(f.ID, "allow once"))
	if said := after(t, s.host.said); said["ticket"] != call.Ticket || said["decision"] != approval.DecisionDeny {
		t.Errorf("said %v", said)
	}
	s.getsNothing()
	if len(s.host.said) != 0 {
		t.Errorf("said twice: %v", <-s.host.said)
	}
}

// TestManyForms: each call has its own form, and no more of them are about than
// anybody reads.
func TestManyForms(t *testing.T) {
	s := newStage(t, hurried)
	s.host.choices = both
	s.introduced(`{"elicitation":{"form":{}}}`)
	for i := range maxForms + 2 {
		s.client(toolCall(fmt.Sprint(i), fmt.Sprint("ask", i)))
	}
	open := map[string]string{} // tools, by the id of the form
	for range maxForms {
		f := s.form()
		_, text, _ := strings.Cut(f.Params.Message, "srv/")
		open[f.ID], _, _ = strings.Cut(text, " ")
	}
	s.getsNothing()
	for id, tool := range open {
		s.client(chosen(id, "deny"))
		if said := after(t, s.host.said); said["id"] != "q-"+tool {
			t.Errorf("the form about %s answered %v", tool, said["id"])
		}
	}
	for range 2 {
		if f := s.form(); open[f.ID] != "" {
			t.Errorf("%s is shown again", open[f.ID])
		}
	}
}

// TestFormRefused: where the host takes no answer the question waits on.
func TestFormRefused(t *testing.T) {
	s := newStage(t, hurried)
	s.host.choices, s.host.refuses = both, errors.New("not here")
	s.introduced(`{"elicitation":{}}`)
	s.client(toolCall("1", "ask"))
	s.client(chosen(s.form().ID, "allow once"))
	after(t, s.host.said)
	s.logs("not here") // before the call is over, when nobody cares any more
	s.getsNothing()
	s.host.answer <- approval.VerdictAllow
	s.gets(toolCall("1", "ask"))
}
