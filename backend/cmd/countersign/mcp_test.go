//go:build linux || darwin

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign-app/countersign/backend/agents/mcp"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/history"
)

// mcpPolicy allows a few programs, and a script of the home that lingers with
// a child, asks about the rest and forbids one.
const mcpPolicy = `{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss", "denylist": ["uname"]}, "agents": {"*": {"allowlist": [
	{"pattern": "printf"}, {"pattern": "sleep"}, {"pattern": "false"}, {"pattern": "head"}, {"pattern": %q}]}}}`

const lingers = "#!/bin/sh\necho $$ >sh.pid\nsleep 1000 &\necho $! >kid.pid\nwait\n"

// mcpWorld is a world with that policy, and a host that runs.
func mcpWorld(t *testing.T) *world {
	t.Helper()
	w := testWorld(t)
	script := filepath.Join(w.home, "lingers")
	if err := os.WriteFile(script, []byte(lingers), 0o700); err != nil {
		t.Fatal(err)
	}
	w.policy(t, fmt.Sprintf(mcpPolicy, script))
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	return w
}

// mcpClient is a client of the server under test.
type mcpClient struct {
	*sdk.ClientSession
	t      *testing.T
	hangUp func() // without a word; over stdio only

	mu   sync.Mutex
	told []string // progress
}

// mcp starts the server as an agent would, and connects to it.
func (w *world) mcp(t *testing.T, client string, flags ...string) *mcpClient {
	t.Helper()
	cmd := asService(t, w, w.command(append([]string{"mcp"}, flags...)...))
	cmd.Stdout = nil // the protocol's
	out, err := cmd.StdoutPipe()
	in, err2 := cmd.StdinPipe()
	if err := errors.Join(err, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	c := connectMCP(t, client, &sdk.IOTransport{Reader: out, Writer: in})
	c.hangUp = func() { in.Close() }
	return c
}

func connectMCP(t *testing.T, name string, transport sdk.Transport) *mcpClient {
	t.Helper()
	c := &mcpClient{t: t}
	client := sdk.NewClient(&sdk.Implementation{Name: name, Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.told = append(c.told, req.Params.Message)
		},
	})
	var err error
	if c.ClientSession, err = client.Connect(t.Context(), transport, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func (c *mcpClient) hears(message string) {
	c.t.Helper()
	if !eventually(func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.Contains(c.told, message)
	}) {
		c.t.Fatalf("%q was never told, but %q", message, c.told)
	}
}

// try calls a tool, and tells of progress.
func (c *mcpClient) try(ctx context.Context, tool string, arguments any) (*sdk.CallToolResult, error) {
	params := &sdk.CallToolParams{Name: tool, Arguments: arguments}
	params.SetProgressToken("p-" + tool)
	return c.CallTool(ctx, params)
}

// call calls a tool that must succeed, and reads what it returns.
func (c *mcpClient) call(tool, arguments string, into any) {
	c.t.Helper()
	got, err := c.try(c.t.Context(), tool, json.RawMessage(arguments))
	if err != nil {
		c.t.Fatalf("%s %s: %v", tool, arguments, err)
	}
	if got.IsError {
		c.t.Fatalf("%s %s: %s", tool, arguments, words(got))
	}
	reread(c.t, got, into)
}

// reread reads the structured content of a result, which its text must say too.
func reread(t *testing.T, got *sdk.CallToolResult, into any) {
	t.Helper()
	text, err := json.Marshal(got.StructuredContent)
	if err != nil || json.Unmarshal(text, into) != nil {
		t.Fatalf("%s %v", text, err)
	}
	var said any
	last := got.Content[len(got.Content)-1].(*sdk.TextContent).Text
	if err := json.Unmarshal([]byte(last), &said); err != nil || fmt.Sprint(said) != fmt.Sprint(got.StructuredContent) {
		t.Errorf("%s is said as %s", text, last)
	}
}

func words(got *sdk.CallToolResult) string {
	var all []string
	for _, c := range got.Content {
		all = append(all, c.(*sdk.TextContent).Text)
	}
	return strings.Join(all, "\n")
}

// rows are the requests that the host knows of.
func (w *world) rows(t *testing.T) (list []history.Row) {
	t.Helper()
	w.json(t, &list, "history", "list", "--limit", "1000")
	return list
}

// ran counts the commands that the host ran, or was asked to.
func (w *world) ran(t *testing.T) int { return len(w.rows(t)) }

// pids waits for the two processes of the script.
func (w *world) pids(t *testing.T) (list []int) {
	t.Helper()
	for _, name := range []string{"sh.pid", "kid.pid"} {
		pid, err := readPID(filepath.Join(w.home, name))
		if err != nil {
			t.Fatal(err)
		}
		os.Remove(filepath.Join(w.home, name))
		list = append(list, pid)
	}
	return list
}

func mustEnd(t *testing.T, pids []int) {
	t.Helper()
	if !eventually(func() bool { return isGone(pids[0]) && isGone(pids[1]) }) {
		t.Errorf("of %v something runs on", pids)
	}
}

func TestMCPExec(t *testing.T) {
	t.Parallel()
	w := mcpWorld(t)
	c := w.mcp(t, "test")
	list, err := c.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 4 {
		t.Fatal(list, err)
	}
	for _, tool := range list.Tools {
		if schema := fmt.Sprint(tool.InputSchema); !strings.Contains(schema, "additionalProperties:false") || tool.Title == "" || tool.Annotations == nil {
			t.Errorf("%s: %s", tool.Name, schema)
		}
	}
	for _, row := range []struct {
		args string
		want mcp.Outcome
		code int
	}{
		{`{"command": "printf 'a %s' b"}`, mcp.Outcome{Success: true, Stdout: "a b"}, 0},
		{`{"command": ["printf", "%s|", "a b", "$HOME", ""]}`, mcp.Outcome{Success: true, Stdout: "a b|$HOME||"}, 0},
		{`{"command": "printf x && false"}`, mcp.Outcome{Stdout: "x"}, 1},
		{`{"command": "printf {1..3}"}`, mcp.Outcome{Success: true, Stdout: "1"}, 0}, // as bash has it, not sh
		{`{"command": "printf é\\\\n"}`, mcp.Outcome{Success: true, Stdout: "é\n"}, 0},
		{`{"command": "printf \"$TZ\"", "env": {"TZ": "UTC"}}`, mcp.Outcome{Success: true, Stdout: "UTC"}, 0},
		{`{"command": "pwd", "workdir": "/"}`, mcp.Outcome{Success: true, Stdout: "/\n"}, 0},
		{`{"command": "pwd"}`, mcp.Outcome{Success: true, Stdout: w.home + "\n"}, 0},
		{`{"command": "sleep 1000", "timeout": 0.05}`, mcp.Outcome{TimedOut: true}, -1},
		{`{"command": "head -c 300000 /dev/zero"}`, mcp.Outcome{Success: true, Truncated: true}, 0},
	} {
		var got mcp.Outcome
		c.call("exec", row.args, &got)
		if got.Truncated {
			got.Stdout = ""
		}
		code := -1
		if got.ExitCode != nil {
			code = *got.ExitCode
		}
		if got.Success != row.want.Success || got.Stdout != row.want.Stdout || got.TimedOut != row.want.TimedOut || got.Truncated != row.want.Truncated || code != row.code || got.Receipt != nil {
			t.Errorf("%s: %+v, exit code %d", row.args, got, code)
		}
	}
	for _, row := range w.rows(t) {
		if row.AgentID != "mcp-test" || !strings.HasPrefix(row.SessionKey, "mcp-") {
			t.Errorf("%s is for %q in %q", row.Command, row.AgentID, row.SessionKey)
		}
	}
}

// TestMCPDenied looks at each way in which a command does not run.
func TestMCPDenied(t *testing.T) {
	t.Parallel()
	w := mcpWorld(t)
	c := w.mcp(t, "test")
	for _, row := range []struct {
		what, args string
		answer     string // of the person
		reason     approval.Reason
		again      bool
		end        string // of what the agent reads
		rest       string // of the receipt: segment, rule, who, instead
	}{
		{"policy", `{"command": "printf x; uname"}`, "", approval.ReasonDenylisted, false, string(approval.EndingPolicy), "uname uname  "},
		{"person", `{"command": "touch made"}`, "deny", approval.ReasonUserDenied, false, string(approval.EndingPersonSaidNo), "touch made  command line "},
		{"environment", `{"command": "printf x", "env": {"LD_PRELOAD": "x"}}`, "", approval.ReasonEnvRefused, false, string(approval.EndingPolicy), "   "},
		{"own path", `{"command": "printf x", "env": {"PATH": "/tmp"}}`, "", approval.ReasonEnvRefused, false, string(approval.EndingPolicy), "   "},
		{"nothing", `{"command": ["", "x"]}`, "", approval.ReasonInvalid, false, "", "   "},
		{"folder", `{"command": "printf x", "workdir": "/nowhere"}`, "", approval.ReasonCwdUnavailable, false, string(approval.EndingMistake), "   "},
	} {
		answered := make(chan error, 1)
		go func() {
			if row.answer == "" {
				answered <- nil
				return
			}
			open, err := w.questions(1)
			if err == nil {
				err = w.command("approvals", row.answer, open[0].ID).Run()
			}
			answered <- err
		}()
		got, err := c.try(t.Context(), "exec", json.RawMessage(row.args))
		if err := errors.Join(err, <-answered); err != nil {
			t.Fatal(row.what, err)
		}
		var o mcp.Outcome
		reread(t, got, &o)
		if !got.IsError || o.Receipt == nil || o.Success || o.ExitCode != nil || o.Stdout+o.Stderr != "" {
			t.Errorf("%s: %s", row.what, words(got))
			continue
		}
		first := got.Content[0].(*sdk.TextContent).Text
		if r := o.Receipt; r.Reason != row.reason || r.AskAgain != row.again || r.Verdict != approval.VerdictDeny || r.Message != first || !strings.HasSuffix(first, row.end) ||
			r.RunID == "" || strings.Join([]string{r.Segment, r.Rule, r.By, r.Instead}, " ") != row.rest {
			t.Errorf("%s: %+v", row.what, r)
		}
	}
	if _, err := os.Stat(filepath.Join(w.home, "made")); err == nil {
		t.Error("what was denied has run")
	}
}

// TestMCPAsked has a person say yes, while the client is told that it waits.
func TestMCPAsked(t *testing.T) {
	t.Parallel()
	w := mcpWorld(t)
	c := w.mcp(t, "Claude Code")
	made := filepath.Join(w.home, "made")
	answer := make(chan *sdk.CallToolResult, 1)
	go func() {
		got, err := c.try(context.Background(), "exec", map[string]any{"command": []string{"touch", made}})
		if err != nil {
			t.Error(err)
		}
		answer <- got
	}()
	question := w.mustQuestions(t, 1)[0]
	if question.AgentID != "mcp-claude-code" || question.SessionKey == "" {
		t.Errorf("%+v", question)
	}
	c.hears("waiting for approval")
	if _, err := os.Stat(made); err == nil {
		t.Error("it ran before anybody said yes")
	}
	w.must(t, "approvals", "approve", question.ID)
	got := <-answer
	var o mcp.Outcome
	reread(t, got, &o)
	if _, err := os.Stat(made); err != nil || !o.Success || got.IsError {
		t.Error(words(got), err)
	}
}

// TestMCPCancelled ends calls in each way that a client can, and looks whether
// their processes are gone.
func TestMCPCancelled(t *testing.T) {
	t.Parallel()
	w := mcpWorld(t)
	for what, end := range map[string]func(c *mcpClient, cancel func()){
		"cancelled":  func(_ *mcpClient, cancel func()) { cancel() },
		"hung up":    func(c *mcpClient, _ func()) { c.hangUp() },
		"background": func(c *mcpClient, _ func()) { c.hangUp() },
	} {
		c := w.mcp(t, "test")
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			_, _ = c.try(ctx, "exec", map[string]any{"command": "./lingers", "background": what == "background"})
		}()
		pids := w.pids(t)
		if what != "background" {
			c.hears("running")
		}
		end(c, cancel)
		mustEnd(t, pids)
		<-over
		cancel()
	}
	// A question whose client is gone is withdrawn.
	c := w.mcp(t, "test")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { _, _ = c.try(ctx, "exec", map[string]any{"command": "id"}) }()
	w.mustQuestions(t, 1)
	cancel()
	if !eventually(func() bool { return w.waiting(t) == 0 }) {
		t.Error("the question of a call that was cancelled is still open")
	}
	var o mcp.Outcome
	if c.call("exec", `{"command": "printf on"}`, &o); o.Stdout != "on" {
		t.Errorf("after a cancelled call: %+v", o)
	}
}

func TestMCPBackground(t *testing.T) {
	t.Parallel()
	w := mcpWorld(t)
	c := w.mcp(t, "test")
	var now mcp.View
	begin := func(command string) (v mcp.View) {
		c.call("exec", `{"command": "`+command+`", "background": true}`, &v)
		return v
	}
	one := func(id string) mcp.View {
		var all struct{ Runs []mcp.View }
		c.call("exec_status", `{"id": "`+id+`"}`, &all)
		return all.Runs[0]
	}
	stop := func(id string) (v mcp.View) {
		c.call("exec_stop", `{"id": "`+id+`"}`, &v)
		return v
	}
	// To its end.
	began := begin("printf x")
	if began.ID == "" || began.State == mcp.StateDone || began.Command != "printf x" {
		t.Fatalf("%+v", began)
	}
	if !eventually(func() bool { now = one(began.ID); return now.State == mcp.StateDone }) || now.Result == nil || now.Result.Stdout != "x" || !now.Result.Success {
		t.Errorf("%+v", now)
	}
	// Stopped: when that is told, its processes are gone.
	began = begin("./lingers")
	pids := w.pids(t)
	if !eventually(func() bool { return one(began.ID).State == mcp.StateRunning }) {
		t.Error("it does not run")
	}
	now = stop(began.ID)
	if now.State != mcp.StateDone || now.Result == nil || now.Result.Success || !isGone(pids[0]) || !isGone(pids[1]) {
		t.Errorf("%+v", now)
	}
	stop(began.ID) // it is over
	// Waiting for a person, and withdrawn.
	began = begin("id")
	w.mustQuestions(t, 1)
	if now = one(began.ID); now.State != mcp.StateWaiting || now.Result != nil {
		t.Errorf("%+v", now)
	}
	now = stop(began.ID)
	if now.State != mcp.StateDone || w.waiting(t) != 0 && !eventually(func() bool { return w.waiting(t) == 0 }) {
		t.Errorf("%+v", now)
	}
	// Denied.
	began = begin("uname")
	if !eventually(func() bool { now = one(began.ID); return now.State == mcp.StateDone }) || now.Result.Receipt == nil || now.Result.Receipt.Reason != approval.ReasonDenylisted {
		t.Errorf("%+v", now)
	}
	var all struct{ Runs []mcp.View }
	c.call("exec_status", `{}`, &all)
	if len(all.Runs) != 4 || slices.ContainsFunc(all.Runs, func(v mcp.View) bool { return v.Result != nil }) {
		t.Errorf("%+v", all)
	}
	// No more than there is room for.
	for range 32 {
		began = begin("sleep 1000")
	}
	got, err := c.try(t.Context(), "exec", json.RawMessage(`{"command": "sleep 1000", "background": true}`))
	if err != nil || !got.IsError || !strings.Contains(words(got), "as many as may") {
		t.Fatal(got, err)
	}
	stop(began.ID)
	begin("sleep 1000")
	c.hangUp()
	if !eventually(func() bool {
		var running []any
		w.json(t, &running, "running", "list")
		return len(running) == 0
	}) {
		t.Error("what ran in the background has outlived its session")
	}
}

// TestMCPExplain judges and does nothing else, and tells nothing of the
// machine.
func TestMCPExplain(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.policy(t, fmt.Sprintf(mcpPolicy, filepath.Join(w.home, "lingers")))
	for name, text := range map[string]string{".profile": "PATH=/usr/local/bin:/usr/bin:/bin\nexport HIDDEN=value-of-it\n", "name-of-file": ""} {
		if err := os.WriteFile(filepath.Join(w.home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	if all := w.must(t, "--json", "policy", "explain", "rm ~/name-*"); !strings.Contains(all, "name-of-file") {
		t.Fatalf("there is nothing to hide in %s", all)
	}
	c := w.mcp(t, "test")
	before := w.ran(t)
	for _, row := range []struct {
		command string
		verdict approval.Verdict
		reason  approval.Reason
		parts   string
	}{
		{"printf x", approval.VerdictAllow, "", "printf x: allow"},
		{"printf x && touch made", approval.VerdictAsk, approval.ReasonOutsideFolder, "printf x: allow, touch made: ask"},
		{"printf x | uname", approval.VerdictDeny, approval.ReasonDenylisted, "printf x: allow, uname: deny"},
		{"printf \u202e", approval.VerdictAsk, approval.ReasonUnreadable, ""},
		{"printf 'a\u200bb'", approval.VerdictAsk, approval.ReasonUnreadable, ""},
		{"рrintf x", approval.VerdictAsk, approval.ReasonUnreadable, "рrintf x: ask"}, // not the Latin letter
		{"printf \x01", approval.VerdictAsk, approval.ReasonUnreadable, ""},
		{"$HIDDEN", approval.VerdictAsk, approval.ReasonRuntimeValue, "$HIDDEN: ask"},
		{"rm $HIDDEN", approval.VerdictAsk, approval.ReasonRuntimeValue, "rm $HIDDEN: ask"},
		{"head \"$HIDDEN\" ~/name-*", approval.VerdictAllow, "", `head "$HIDDEN" ~/name-*: allow`},
		{"rm ~/name-* *", approval.VerdictAsk, approval.ReasonDeletes, "rm ~/name-* *: ask"},
		{"touch $HIDDEN; cat <$HIDDEN; cd ~/n*; sort -o $HIDDEN", approval.VerdictAsk, "", ""},
	} {
		got, err := c.try(t.Context(), "explain", map[string]any{"command": row.command})
		if err != nil {
			t.Fatalf("%q: %v", row.command, err)
		}
		var o mcp.Opinion
		reread(t, got, &o)
		var parts []string
		for _, p := range o.Segments {
			parts = append(parts, p.Command+": "+string(p.Verdict))
		}
		said := strings.Join(parts, ", ")
		if got.IsError || o.Verdict != row.verdict || row.reason != "" && o.Reason != row.reason || row.parts != "" && said != row.parts || o.AskingCanHelp != (row.verdict == approval.VerdictAsk) {
			t.Errorf("%q: %s %s, %s: %s", row.command, o.Verdict, o.Reason, o.Sentence, said)
		}
		if (o.Receipt != nil) != (row.verdict == approval.VerdictDeny) || o.Receipt != nil && (o.Receipt.Reason != row.reason || o.Receipt.Segment != "uname") {
			t.Errorf("%q: %+v", row.command, o.Receipt)
		}
		if text := words(got); strings.Contains(text, "value-of-it") || strings.Contains(text, "name-of-file") {
			t.Errorf("%q tells of the machine: %s", row.command, text)
		}
	}
	if now := w.ran(t); now != before {
		t.Errorf("%d requests are in the history, and %d were before", now, before)
	}
	if _, err := os.Stat(filepath.Join(w.home, "made")); err == nil || w.waiting(t) != 0 {
		t.Error("it did more than judge")
	}
}

// TestMCPBadInput sends what no tool takes: each gets an error, and nothing
// reaches the host.
func TestMCPBadInput(t *testing.T) {
	t.Parallel()
	w := mcpWorld(t)
	c := w.mcp(t, "\u202e ../main\x00")
	before := w.ran(t)
	long := strings.Repeat("x", 65_537)
	for _, row := range []struct{ tool, args string }{
		{"exec", `{}`},
		{"exec", `{"command": null}`},
		{"exec", `{"command": 1}`},
		{"exec", `{"command": {"a": "ls"}}`},
		{"exec", `{"command": ["printf", 1]}`},
		{"exec", `{"command": ["printf", null]}`},
		{"exec", `{"command": []}`},
		{"exec", `{"command": ""}`},
		{"exec", `{"command": "` + long + `"}`},
		{"exec", `{"command": ["printf", "` + long + `"]}`},
		{"exec", `{"command": "printf x", "Command": "printf y"}`},
		{"exec", `{"command": "printf x", "agentId": "main"}`},
		{"exec", `{"command": "printf x", "security": "full"}`},
		{"exec", `{"command": "printf x", "host": "gateway"}`},
		{"exec", `{"command": "printf x", "host": 1}`},
		{"exec", `{"command": "printf x", "workdir": ["/"]}`},
		{"exec", `{"command": "printf x", "timeout": -1}`},
		{"exec", `{"command": "printf x", "timeout": "1"}`},
		{"exec", `{"command": "printf x", "timeout": 86401}`},
		{"exec", `{"command": "printf x", "background": "yes"}`},
		{"exec", `{"command": "printf x", "env": ["A=b"]}`},
		{"exec", `{"command": "printf x", "env": {"A": 1}}`},
		{"exec", `{"command": "printf x", "env": {"A": null}}`},
		{"exec", `{"command": "printf x", "env": {` + manyNames(101) + `}}`},
		{"exec", `["printf x"]`},
		{"exec", `"printf x"`},
		{"exec_status", `{"id": 1}`},
		{"exec_status", `{"id": "nothing"}`},
		{"exec_status", `{"all": true}`},
		{"exec_stop", `{}`},
		{"exec_stop", `{"id": ""}`},
		{"exec_stop", `{"id": "nothing"}`},
		{"explain", `{"command": "printf x", "background": true}`},
		{"Exec", `{"command": "printf x"}`},
		{"../exec", `{"command": "printf x"}`},
		{"exec\u200b", `{"command": "printf x"}`},
		{"", `{"command": "printf x"}`},
	} {
		got, err := c.try(t.Context(), row.tool, json.RawMessage(row.args))
		if err == nil && !got.IsError {
			t.Errorf("%q %.60s: %s", row.tool, row.args, words(got))
		}
	}
	if now := w.ran(t); now != before {
		t.Errorf("%d requests are in the history, and %d were before", now, before)
	}
	var o mcp.Outcome
	if c.call("exec", `{"command": "printf on"}`, &o); o.Stdout != "on" {
		t.Errorf("%+v", o)
	}
	if got := w.rows(t)[0].AgentID; got != "mcp-main" {
		t.Errorf("the agent is %q", got)
	}
}

func manyNames(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`"A%d": ""`, i))
	}
	return strings.Join(list, ",")
}

// TestMCPMany has 50 calls at once, each of which gets its own answer.
func TestMCPMany(t *testing.T) {
	t.Parallel()
	w := mcpWorld(t)
	c := w.mcp(t, "test")
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			got, err := c.try(t.Context(), "exec", map[string]any{"command": fmt.Sprintf("printf %d", i)})
			var o mcp.Outcome
			if err != nil || got.IsError {
				t.Error(i, got, err)
				return
			}
			if reread(t, got, &o); o.Stdout != fmt.Sprint(i) {
				t.Errorf("%d got %q", i, o.Stdout)
			}
		})
	}
	all.Wait()
}

// TestMCPAgent has a person name the agent.
func TestMCPAgent(t *testing.T) {
	t.Parallel()
	w := mcpWorld(t)
	dir := filepath.Join(w.home, "project")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c := w.mcp(t, "test", "--agent", "reviewer", "--workdir", "project")
	var o mcp.Outcome
	c.call("exec", `{"command": "pwd"}`, &o)
	if row := w.rows(t)[0]; row.AgentID != "reviewer" || o.Stdout != dir+"\n" {
		t.Errorf("%q in %q", row.AgentID, o.Stdout)
	}
}

// TestMCPFlags refuses what would open more than a loopback address, or with a
// weak token.
func TestMCPFlags(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	for name, text := range map[string]string{"weak": "secret", "two": strings.Repeat("x", 40) + " y", "open": strings.Repeat("x", 40)} {
		if err := os.WriteFile(filepath.Join(w.home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(w.home, "open"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--http", "0.0.0.0:0"}, "only loopback addresses"},
		{[]string{"--http", ":8080"}, "only loopback addresses"},
		{[]string{"--http", "example.org:80"}, "only loopback addresses"},
		{[]string{"--token-file", "x"}, "need --http"},
		{[]string{"--allow-origin", "http://localhost:1"}, "need --http"},
		{[]string{"--http", "127.0.0.1:0", "--allow-origin", "https://example.org"}, "not the origin of a page of this machine"},
		{[]string{"--http", "127.0.0.1:0", "--token-file", "weak"}, "at least 32"},
		{[]string{"--http", "127.0.0.1:0", "--token-file", "two"}, "at least 32"},
		{[]string{"--http", "127.0.0.1:0", "--token-file", "open"}, "nobody else can read"},
		{[]string{"--http", "127.0.0.1:0", "--token-file", "none"}, "no such file"},
	} {
		out, err := w.command(append([]string{"mcp"}, row.flags...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), row.want) {
			t.Errorf("%q: %v: %s", row.flags, err, out)
		}
	}
}
