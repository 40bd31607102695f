//go:build linux || darwin

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpServer is the program of a server that make setup installs.
func mcpServer(t *testing.T, name string) string {
	t.Helper()
	program, err := filepath.Abs("../../../build/mcpservers/node_modules/.bin/mcp-server-" + name)
	if err == nil {
		_, err = os.Stat(program)
	}
	if err == nil {
		_, err = exec.LookPath("node") // it is a script of it
	}
	switch {
	case err == nil:
	case os.Getenv("COUNTERSIGN_TEST") == "all":
		t.Fatalf("the MCP server %q is missing: run `make setup`, which installs it (%v)", name, err)
	default:
		t.Skipf("skipped: the MCP server %q is not installed (`make test` has it)", name)
	}
	return program
}

// proxied is our command line in front of a server, in a terminal of its own.
func (w *world) proxied(words ...string) *exec.Cmd {
	return inTerminal(w.command(append([]string{"mcp", "proxy"}, words...)...))
}

// transcript is what a client saw. Times of day are no part of it.
type transcript struct {
	mu    sync.Mutex
	lines []string
	// progress is kept apart: the client tells of it beside the answers, and not
	// always before them.
	progress []string
}

func (s *transcript) add(what string, seen any, err error) {
	text, failed := json.Marshal(seen)
	if failed != nil {
		text = []byte(failed.Error())
	}
	if err != nil {
		text = []byte("! " + err.Error())
	}
	line := regexp.MustCompile(`\d{1,2}:\d{2}:\d{2}( [AP]M)?`).ReplaceAllString(what+": "+string(text), "TIME")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
}

// join connects the official SDK's client, which answers what servers ask.
func (s *transcript) join(t *testing.T, cmd *exec.Cmd) *mcp.ClientSession {
	t.Helper()
	cmd.Stderr = t.Output()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			s.add("asks the model", r.Params, nil)
			return &mcp.CreateMessageResult{Content: &mcp.TextContent{Text: "an answer"}, Model: "m", Role: "assistant"}, nil
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			s.add("asks the person", r.Params, nil)
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			text, _ := json.Marshal(r.Params)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.progress = append(s.progress, "progress: "+string(text))
		},
	})
	client.AddRoots(&mcp.Root{URI: "file:///somewhere", Name: "root"})
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// everyTool has arguments for each tool of server-everything.
var everyTool = map[string]string{
	"echo": `{"message":"hello ä <&> 😀"}`, "get-annotated-message": `{"messageType":"success","includeImage":true}`, "get-env": `{}`,
	"get-resource-links": `{"count":3}`, "get-resource-reference": `{"resourceType":"Text","resourceId":2}`, "get-roots-list": `{}`,
	"get-structured-content": `{"location":"Chicago"}`, "get-sum": `{"a":1.5,"b":-9007199254740991}`, "get-tiny-image": `{}`,
	"gzip-file-as-resource":   `{"name":"x.gz","data":"data:text/plain;base64,aGVsbG8=","outputType":"resource"}`,
	"simulate-research-query": `{"topic":"t"}`, "toggle-simulated-logging": `{}`, "toggle-subscriber-updates": `{}`,
	"trigger-elicitation-request": `{}`, "trigger-elicitation-request-async": `{}`, "trigger-long-running-operation": `{"duration":0.2,"steps":4}`,
	"trigger-sampling-request": `{"prompt":"p","maxTokens":10}`, "trigger-sampling-request-async": `{"prompt":"p"}`, "trigger-url-elicitation": `{"url":"https://example.com/"}`,
}

// everything uses all of a server: every tool, resource and prompt.
func everything(t *testing.T, cmd *exec.Cmd) []string {
	t.Helper()
	s := &transcript{}
	c := s.join(t, cmd)
	ctx := t.Context()
	s.add("server", c.InitializeResult(), nil)
	s.add("ping", nil, c.Ping(ctx, nil))
	tools, err := c.ListTools(ctx, nil)
	s.add("tools", tools, err)
	if err != nil || len(tools.Tools) < 10 {
		t.Fatalf("tools: %+v %v", tools, err)
	}
	for _, tool := range tools.Tools {
		args, known := everyTool[tool.Name]
		if !known {
			t.Errorf("no arguments for the tool %s", tool.Name)
		}
		params := &mcp.CallToolParams{Name: tool.Name, Arguments: json.RawMessage(args)}
		if tool.Name == "trigger-long-running-operation" {
			params.SetProgressToken("a token")
		}
		got, err := c.CallTool(ctx, params)
		s.add(tool.Name, got, err)
	}
	got, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: json.RawMessage(`{"message":7}`)})
	s.add("wrong arguments", got, err)
	resources, err := c.ListResources(ctx, nil)
	s.add("resources", resources, err)
	for _, r := range resources.Resources {
		got, err := c.ReadResource(ctx, &mcp.ReadResourceParams{URI: r.URI})
		s.add(r.URI, got, err)
	}
	templates, err := c.ListResourceTemplates(ctx, nil)
	s.add("templates", templates, err)
	for _, uri := range []string{"demo://resource/dynamic/text/1", "demo://resource/dynamic/blob/2", "demo://none"} {
		got, err := c.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		for _, part := range contentsOf(got) {
			part.Text, part.Blob = part.Text+string(part.Blob), nil // there is a time in it
		}
		s.add(uri, got, err)
	}
	prompts, err := c.ListPrompts(ctx, nil)
	s.add("prompts", prompts, err)
	for _, p := range prompts.Prompts {
		args := map[string]string{"city": "Paris", "state": "x", "department": "Engineering", "name": "Alice", "resourceType": "Text", "resourceId": "1"}
		maps := map[string]string{}
		for _, a := range p.Arguments {
			maps[a.Name] = args[a.Name]
		}
		got, err := c.GetPrompt(ctx, &mcp.GetPromptParams{Name: p.Name, Arguments: maps})
		s.add(p.Name, got, err)
	}
	s.add("subscribe", nil, c.Subscribe(ctx, &mcp.SubscribeParams{URI: "demo://resource/dynamic/text/1"}))
	s.add("level", nil, c.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "error"}))
	_ = c.Close() // the server itself wants to be told with a signal
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(s.lines, s.progress...)
}

func contentsOf(r *mcp.ReadResourceResult) []*mcp.ResourceContents {
	if r == nil {
		return nil
	}
	return r.Contents
}

const allowEverything = `{"version": 1, "defaults": {"security": "allowlist", "ask": "off"}, "agents": {"main": {"allowlist": [{"pattern": "tool:everything/*"}]}}}`

// TestProxySame: a whole session with a real server is the same with the proxy
// and without it.
func TestProxySame(t *testing.T) {
	t.Parallel()
	server := mcpServer(t, "everything")
	w := testWorld(t)
	w.policy(t, allowEverything)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	direct := everything(t, w.program(server))
	through := everything(t, w.proxied("--name=everything", "--", server))
	if diff := cmp.Diff(direct, through); diff != "" {
		t.Errorf("without (-) and with (+) the proxy:\n%s", diff)
	}
	text := strings.Join(through, "\n")
	for _, part := range []string{"asks the model", "asks the person", "progress: ", "Echo: hello ä", "file:///somewhere"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q was not seen in\n%s", part, text)
		}
	}
}

// TestProxyMany: a hundred calls at once, each with its own answer.
func TestProxyMany(t *testing.T) {
	t.Parallel()
	server := mcpServer(t, "everything")
	w := testWorld(t)
	w.policy(t, allowEverything)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	c := (&transcript{}).join(t, w.proxied("--name=everything", "--", server))
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			text := fmt.Sprint("number ", i)
			got, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]string{"message": text}})
			if err != nil || got.IsError || got.Content[0].(*mcp.TextContent).Text != "Echo: "+text {
				t.Errorf("%s: %+v %v", text, got, err)
			}
		})
	}
	all.Wait()
}

const filesPolicy = `{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss"},
	"tools": {"deny": ["files/move_file"]},
	"agents": {"main": {"allowlist": [{"pattern": "tool:files/read_text_file"}, {"pattern": "tool:files/list_*"}]}}}`

// wordsOf is the text of a result.
func wordsOf(r *mcp.CallToolResult) string {
	if r == nil || len(r.Content) == 0 {
		return ""
	}
	text, _ := r.Content[0].(*mcp.TextContent)
	return text.Text
}

// TestProxyFiles: what policy denies is out of the list and never done, what it
// allows is done, and for the rest a person is asked.
func TestProxyFiles(t *testing.T) {
	t.Parallel()
	server := mcpServer(t, "filesystem")
	w := testWorld(t)
	w.policy(t, filesPolicy)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(w.home, "files")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello"), 0o600)); err != nil {
		t.Fatal(err)
	}
	c := (&transcript{}).join(t, w.proxied("--name=files", "--", server, dir))
	call := func(tool string, args map[string]string) (*mcp.CallToolResult, error) {
		return c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	}
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(tools.Tools, func(tool *mcp.Tool) bool { return tool.Name == name })
	}
	if has("move_file") || !has("write_file") || !has("read_text_file") {
		t.Errorf("the list is %+v", tools.Tools)
	}
	got, err := call("read_text_file", map[string]string{"path": filepath.Join(dir, "a.txt")})
	if err != nil || got.IsError || wordsOf(got) != "hello" {
		t.Errorf("%s %v", wordsOf(got), err)
	}
	got, err = call("move_file", map[string]string{"source": filepath.Join(dir, "a.txt"), "destination": filepath.Join(dir, "b.txt")})
	if err != nil || !got.IsError || !strings.Contains(wordsOf(got), "Policy does not allow this") {
		t.Errorf("%s %v", wordsOf(got), err)
	}
	for _, answer := range []string{"deny", "approve"} {
		file := filepath.Join(dir, answer)
		done := make(chan *mcp.CallToolResult, 1)
		go func() {
			got, err := call("write_file", map[string]string{"path": file, "content": "written"})
			if err != nil {
				t.Error(err)
			}
			done <- got
		}()
		question := w.mustQuestions(t, 1)[0]
		if !strings.Contains(question.Plan.Text, "files/write_file") {
			t.Errorf("the question is about %s", question.Plan.Text)
		}
		if _, err := os.Stat(file); err == nil {
			t.Error("it was written before it was allowed")
		}
		w.must(t, "approvals", answer, question.ID)
		got := <-done
		_, err := os.Stat(file)
		if allowed := answer == "approve"; got.IsError == allowed || (err == nil) != allowed {
			t.Errorf("%s: %s, %v", answer, wordsOf(got), err)
		}
		w.mustQuestions(t, 0)
	}
	// A client that does not wait any more ends its question.
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "create_directory", Arguments: map[string]string{"path": filepath.Join(dir, "new")}})
		over <- err
	}()
	w.mustQuestions(t, 1)
	cancel()
	if err := <-over; err == nil {
		t.Error("a call that was given up has a result")
	}
	if !eventually(func() bool { return w.waiting(t) == 0 }) {
		t.Error("the question still waits")
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
		t.Error("a call that was given up was made")
	}
}

// pipes is a program that a test talks to in lines.
type pipes struct {
	*testing.T
	*process
	in  io.WriteCloser
	out *bufio.Reader
}

func talk(t *testing.T, cmd *exec.Cmd) (p *pipes, ours *os.File) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = theirs, t.Output()
	running, err := start(cmd)
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	_ = out.SetReadDeadline(time.Now().Add(patience))
	t.Cleanup(func() {
		running.end(syscall.SIGTERM)
		out.Close()
	})
	return &pipes{t, running, in, bufio.NewReader(out)}, out
}

// ask sends a line and returns the next one.
func (p *pipes) ask(line string) string {
	p.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.Fatal(err)
	}
	got, err := p.out.ReadString('\n')
	if err != nil {
		p.Fatalf("%s has no answer: %v", line, err)
	}
	return strings.TrimSuffix(got, "\n")
}

// code waits for the end of the program.
func (p *pipes) code() int {
	p.Helper()
	select {
	case <-p.over:
	case <-time.After(patience):
		p.Fatal("it does not end")
	}
	return p.ProcessState.ExitCode()
}

// parrot is a server that answers every line with itself as the result.
const parrot = `while IFS= read -r line; do
	id=${line#*\"id\":}; id=${id%%,*}
	printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$line"
done
exit 5`

// TestProxyBytes: a call reaches its server as the bytes that were judged, and
// the answer comes back as it was sent.
func TestProxyBytes(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.policy(t, `{"version": 1, "defaults": {"security": "allowlist", "ask": "off"}, "agents": {"main": {"allowlist": [{"pattern": "tool:parrot/say"}]}}}`)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	p, _ := talk(t, w.proxied("--name=parrot", "--", "sh", "-c", parrot))
	for _, id := range []string{"0", "-1", "1.50", "1e3", "9007199254740993", "123456789012345678901234567890", `"a b"`, `"\u00e4"`, `"1"`, "0.1e-7"} {
		line := `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"arguments":{"b":1.0,"a":"\u0041 ä"} ,"name":"say"},"more":[ ]}`
		if got, want := p.ask(line), `{"jsonrpc":"2.0","id":`+id+`,"result":`+line+`}`; got != want {
			t.Errorf("%s, want\n%s", got, want)
		}
	}
	denied := p.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shout"}}`)
	if !strings.Contains(denied, `"isError":true`) || strings.Contains(denied, `"params"`) {
		t.Error(denied)
	}
	refused := p.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"say","name":"shout"}}`)
	if !strings.Contains(refused, `"code":-32602`) {
		t.Error(refused)
	}
	p.in.Close()
	if code := p.code(); code != 0 { // the client went first
		t.Errorf("it ended with %d", code)
	}
}

// TestProxyHostGone: without a host no call is made and the rest goes on; with
// one calls are made again.
func TestProxyHostGone(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.policy(t, `{"version": 1, "defaults": {"security": "allowlist", "ask": "off"}, "agents": {"main": {"allowlist": [{"pattern": "tool:*"}]}}}`)
	p, _ := talk(t, w.proxied("--", "sh", "-c", parrot))
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"say"}}`
	for range 2 {
		if got := p.ask(call); !strings.Contains(got, "companion-unavailable") {
			t.Error(got)
		}
		if got := p.ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); !strings.Contains(got, `"result":{"jsonrpc"`) {
			t.Error(got)
		}
		if err := w.start(); err != nil {
			t.Fatal(err)
		}
		if got := p.ask(call); !strings.Contains(got, `"result":{"jsonrpc"`) {
			t.Error(got)
		}
		w.end(syscall.SIGTERM)
	}
}

// TestProxyEnds: the proxy ends as its server does, and when it is told to.
func TestProxyEnds(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	for script, want := range map[string]int{"exit 7": 7, "kill -9 $$": 137, "exit 0": 0} {
		p, _ := talk(t, w.proxied("--", "sh", "-c", "read line; "+script))
		if got := p.ask(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); !strings.Contains(got, `"code":-32000`) {
			t.Error(got)
		}
		if code := p.code(); code != want {
			t.Errorf("%s: it ended with %d", script, code)
		}
	}
	p, _ := talk(t, w.proxied("--", "sh", "-c", parrot))
	p.ask(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	p.end(syscall.SIGTERM)
	if code := p.code(); code != 0 {
		t.Errorf("told to end, it ended with %d", code)
	}
}

// stubborn is a server that does not want to end.
const stubborn = `trap '' TERM HUP; echo $$ >"$HOME/pid"
while IFS= read -r line; do printf '{"jsonrpc":"2.0","method":"x"}\n'; done
sleep 1000`

// TestProxyClientLost: however a client goes, no server lives on.
func TestProxyClientLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(p *pipes, out *os.File){
		"its input": func(p *pipes, _ *os.File) { p.in.Close() },
		"hang-up":   func(p *pipes, _ *os.File) { _ = p.Process.Signal(syscall.SIGHUP) },
		"told":      func(p *pipes, _ *os.File) { _ = p.Process.Signal(syscall.SIGTERM) },
		"its output": func(p *pipes, out *os.File) {
			out.Close()
			_, _ = io.WriteString(p.in, `{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n") // so that there is something to say
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := testWorld(t)
			p, out := talk(t, w.proxied("--", "sh", "-c", stubborn))
			p.ask(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
			pid, err := readPID(filepath.Join(w.home, "pid"))
			if err != nil {
				t.Fatal(err)
			}
			lose(p, out)
			if code := p.code(); code != 0 {
				t.Errorf("it ended with %d", code)
			}
			if !eventually(func() bool { return isGone(pid) }) {
				t.Error("the server lives on")
			}
		})
	}
}

// TestProxyURL: the proxy in front of a server at an address.
func TestProxyURL(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	web := mcp.NewServer(&mcp.Implementation{Name: "web", Version: "1"}, nil)
	type in struct {
		Text string `json:"text"`
	}
	echo := func(_ context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
	}
	mcp.AddTool(web, &mcp.Tool{Name: "echo"}, echo)
	mcp.AddTool(web, &mcp.Tool{Name: "other"}, echo)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return web }, nil)
	l := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t0ken" {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(rw, r)
	}))
	t.Cleanup(l.Close)
	w.policy(t, `{"version": 1, "defaults": {"security": "allowlist", "ask": "off"}, "agents": {"main": {"allowlist": [{"pattern": "tool:web/echo"}]}}}`)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	cmd := w.proxied("--url", l.URL, "--token-env=THE_TOKEN", "--name=web")
	cmd.Env = append(cmd.Env, "THE_TOKEN=t0ken")
	c := (&transcript{}).join(t, cmd)
	for tool, allowed := range map[string]bool{"echo": true, "other": false} {
		got, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: in{"hello"}})
		if err != nil || got.IsError == allowed || (wordsOf(got) == "hello") != allowed {
			t.Errorf("%s: %s %v", tool, wordsOf(got), err)
		}
	}
}

// TestProxyUsage: flags that mean nothing together are refused before anything
// starts.
func TestProxyUsage(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	for _, c := range []struct{ words, want string }{
		{"", "there is no server"}, {"--url http://127.0.0.1/ -- sh", "not both"}, {"--name A -- sh", "the name of a server"}, {"--wait=-1s -- sh", "--wait must be positive"},
		{"--token-env=X -- sh", "need --url"}, {"--url http://127.0.0.1/ --token-env=NOT_SET", "is not set"}, {"--url http://mcp.example/", "--plaintext"}, {"--url https://u:pw@mcp.example/", "password"},
	} {
		cmd := w.proxied(strings.Fields(c.words)...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != exitUsage || !strings.Contains(string(out), c.want) || strings.Contains(string(out), "pw") {
			t.Errorf("%s: %v %s", c.words, err, out)
		}
	}
	out, err := w.proxied("--", "/no/such/server").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "cannot start the MCP server") {
		t.Errorf("%v %s", err, out)
	}
}
