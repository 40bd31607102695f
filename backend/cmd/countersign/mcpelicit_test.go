//go:build linux || darwin

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign-app/countersign/backend/history"
)

const elicitPolicy = `{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss"}, "tools": {"rules": {"files/move_file": {"risk": "high"}}},
	"agents": {"main": {"acceptAnswersFrom": ["mcp-client"]}, "other": {"acceptAnswersFrom": ["gw:1"]}}}`

// formClient is the official SDK's client, which shows each form to show; nil
// for a client without forms.
//
// waits gets a value when a call is told to wait, which is when a form would come.
func formClient(t *testing.T, cmd *exec.Cmd, show func(context.Context, *mcp.ElicitParams) *mcp.ElicitResult) (client *mcp.ClientSession, waits chan bool) {
	t.Helper()
	cmd.Stderr, waits = t.Output(), make(chan bool, 100)
	opt := &mcp.ClientOptions{ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) {
		select {
		case waits <- true:
		default: // nobody looks any more, and a client that hangs never closes
		}
	}}
	if show != nil {
		opt.ElicitationHandler = func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return show(ctx, r.Params), nil
		}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opt).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session, waits
}

// calls calls a tool in the background.
func calls(t *testing.T, client *mcp.ClientSession, tool string, args any) <-chan *mcp.CallToolResult {
	done := make(chan *mcp.CallToolResult, 1)
	go func() {
		params := &mcp.CallToolParams{Name: tool, Arguments: args}
		params.SetProgressToken("p")
		got, err := client.CallTool(t.Context(), params)
		if err != nil {
			t.Error(err)
			got = &mcp.CallToolResult{}
		}
		done <- got
	}()
	return done
}

func choose(what string) *mcp.ElicitResult {
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": what}}
}

// TestProxyElicits: what a form of the client does about a call, with a real
// server behind.
func TestProxyElicits(t *testing.T) {
	t.Parallel()
	server := mcpServer(t, "filesystem")
	w := testWorld(t)
	work := filepath.Join(w.home, "work")
	w.policy(t, strings.TrimSuffix(elicitPolicy, "}")+`, "projects": [{"path": "`+work+`"}]}`) // elsewhere every call is of high risk
	if err := errors.Join(os.Mkdir(work, 0o700), w.start()); err != nil {
		t.Fatal(err)
	}
	panel := func(answer string) func(t *testing.T) {
		return func(t *testing.T) { w.must(t, "approvals", answer, w.mustQuestions(t, 1)[0].ID) }
	}
	for _, c := range []struct {
		name, agent string
		tool        string // write_file unless it is another
		answer      *mcp.ElicitResult
		none        bool               // no forms at all
		shown       bool               // a form is seen
		panel       func(t *testing.T) // what is done in the panel meanwhile
		written     bool
		by, said    string // in the history
	}{
		{name: "allow once", answer: choose("allow once"), shown: true, written: true, by: "mcp client main"},
		{name: "deny", answer: choose("deny"), shown: true, by: "mcp client main", said: "the MCP client said no"},
		{name: "declined", answer: &mcp.ElicitResult{Action: "decline"}, shown: true, panel: panel("approve"), written: true, by: "command line, --operate=anyone"},
		{name: "closed", answer: &mcp.ElicitResult{Action: "cancel"}, shown: true, panel: panel("deny"), by: "command line", said: "the person said no"},
		{name: "a choice that was not offered", answer: choose("allow always"), shown: true, panel: panel("deny"), by: "command line", said: "the person said no"},
		{name: "in the panel first", shown: true, panel: panel("approve"), written: true, by: "command line, --operate=anyone"},
		{name: "switched off", agent: "other", panel: panel("approve"), written: true, by: "command line, --operate=anyone"},
		{name: "a client without forms", none: true, panel: panel("approve"), written: true, by: "command line, --operate=anyone"},
		{name: "a yes to a high risk", tool: "move_file", answer: choose("allow once"), shown: true, panel: panel("deny"), by: "command line", said: "the person said no"},
		{name: "a no to a high risk", tool: "move_file", answer: choose("deny"), shown: true, by: "mcp client main", said: "the MCP client said no"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(work, strings.ReplaceAll(c.name, " ", "-"))
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "file")
			forms, over := make(chan *mcp.ElicitParams, 10), make(chan bool, 10)
			show := func(ctx context.Context, p *mcp.ElicitParams) *mcp.ElicitResult {
				forms <- p
				if c.answer != nil {
					return c.answer
				}
				<-ctx.Done() // the form is taken back
				over <- true
				return choose("deny")
			}
			if c.none {
				show = nil
			}
			cmd := w.proxied("--name=files", "--agent="+cmp.Or(c.agent, "main"), "--", server, dir)
			cmd.Dir = dir
			client, waits := formClient(t, cmd, show)
			tool, args := "write_file", map[string]string{"path": file, "content": "written"}
			if c.tool != "" {
				tool, args = c.tool, map[string]string{"source": file, "destination": file + "2"}
			}
			done := calls(t, client, tool, args)
			<-waits
			if c.shown {
				p := <-forms
				if !strings.Contains(p.Message, "files/"+tool) || !strings.Contains(p.Message, file) || !strings.Contains(p.Message, "because ") {
					t.Errorf("the form says %s", p.Message)
				}
				if schema, _ := json.Marshal(p.RequestedSchema); strings.Contains(string(schema), "allow once") != (c.tool == "") {
					t.Errorf("the form offers %s", schema)
				}
			}
			if c.panel != nil {
				c.panel(t)
			}
			got := <-done
			if c.shown && c.answer == nil {
				<-over
			}
			if !c.shown && len(forms) > 0 {
				t.Error("a form was shown")
			}
			if _, err := os.Stat(file); (err == nil) != c.written || got.IsError == c.written {
				t.Errorf("written %v: %s", err == nil, wordsOf(got))
			}
			var rows []history.Row
			w.json(t, &rows, "history", "list", "--limit=1")
			if len(rows) != 1 || rows[0].AnsweredBy != c.by || c.said != "" && rows[0].Sentence != c.said || !strings.Contains(rows[0].Command, tool) {
				t.Errorf("recorded %+v, want by %s %s", rows, c.by, c.said)
			}
			w.mustQuestions(t, 0)
		})
	}
}

// TestProxyElicitsOwn: two clients share a question, and each answers for itself.
// What nobody asked goes to the server, and what was asked never does.
func TestProxyElicitsOwn(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.policy(t, elicitPolicy)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"say"}}`
	var clients []*pipes
	var forms []string
	for range 2 {
		seen := filepath.Join(w.home, fmt.Sprint("seen", len(clients)))
		p, _ := talk(t, w.proxied("--name=parrot", "--session=s", "--", "sh", "-c", "tee "+seen+" | { "+parrot+"; }"))
		p.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{}}}}}`)
		var form struct{ ID, Method string }
		if line := p.ask(call); json.Unmarshal([]byte(line), &form) != nil || form.Method != "elicitation/create" {
			t.Fatal(line)
		}
		clients, forms = append(clients, p), append(forms, form.ID)
	}
	if q := w.mustQuestions(t, 1)[0]; q.Count != 2 {
		t.Fatalf("%d share the question", q.Count)
	}
	answer := func(p *pipes, id, what string) {
		t.Helper()
		if _, err := fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{"decision":%q}}}`+"\n", id, what); err != nil {
			t.Fatal(err)
		}
	}
	one, two := clients[0], clients[1]
	answer(one, forms[1], "allow once") // the form of the other client
	answer(one, "countersign-1", "allow once")
	if got := one.ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); !strings.Contains(got, `"id":2,`) {
		t.Error(got)
	}
	if q := w.mustQuestions(t, 1)[0]; q.Count != 2 {
		t.Errorf("somebody else's form was answered: %d wait", q.Count)
	}
	answer(one, forms[0], "allow once")
	if got, err := one.out.ReadString('\n'); err != nil || !strings.Contains(got, `"result":`+call) {
		t.Errorf("%s %v", got, err)
	}
	if q := w.mustQuestions(t, 1)[0]; q.Count != 1 || q.CallerGone {
		t.Errorf("the other client's call is answered too: %+v", q)
	}
	answer(one, forms[0], "allow once") // once more, too late
	answer(two, forms[1], "deny")
	if got, err := two.out.ReadString('\n'); err != nil || !strings.Contains(got, `"isError":true`) {
		t.Errorf("%s %v", got, err)
	}
	for i, p := range clients {
		p.ask(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		seen, err := os.ReadFile(filepath.Join(w.home, fmt.Sprint("seen", i)))
		if err != nil || strings.Contains(string(seen), forms[i]) || strings.Contains(string(seen), "say") != (i == 0) {
			t.Errorf("server %d got %s %v", i, seen, err)
		}
		if got := strings.Contains(string(seen), "countersign-1"); got != (i == 0) {
			t.Errorf("server %d got what it may have asked: %v", i, got)
		}
	}
}

// TestProxyElicitsNoNewer: a client of the revision without requests of servers
// gets no form, and the person here answers.
func TestProxyElicitsNoNewer(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.policy(t, elicitPolicy)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	web := mcp.NewServer(&mcp.Implementation{Name: "web", Version: "1"}, nil)
	mcp.AddTool(web, &mcp.Tool{Name: "echo"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "hello"}}}, nil, nil
	})
	l := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return web }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(l.Close)
	client, waits := formClient(t, w.proxied("--url", l.URL, "--name=web"), func(context.Context, *mcp.ElicitParams) *mcp.ElicitResult {
		t.Error("a form was shown")
		return choose("allow once")
	})
	if v := client.InitializeResult().ProtocolVersion; v < "2026-07-28" {
		t.Fatalf("the client speaks %s", v)
	}
	done := calls(t, client, "echo", nil)
	<-waits
	w.must(t, "approvals", "approve", w.mustQuestions(t, 1)[0].ID)
	if got := <-done; got.IsError || wordsOf(got) != "hello" {
		t.Errorf("%s", wordsOf(got))
	}
}
