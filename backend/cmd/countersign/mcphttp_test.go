//go:build linux || darwin

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign-app/countersign/backend/agents/mcp"
)

// mcpHTTP starts the server at a port of its own, and returns its URL and
// token.
func (w *world) mcpHTTP(t *testing.T, flags ...string) (server *process, url, token string) {
	t.Helper()
	server = background(t, asService(t, w, w.command(append([]string{"mcp", "--http", "127.0.0.1:0"}, flags...)...)))
	listens := regexp.MustCompile(`url=(http://127\.0\.0\.1:\d+/mcp)`)
	if !eventually(func() bool {
		said, _ := os.ReadFile(w.log)
		if found := listens.FindAllSubmatch(said, -1); len(found) > 0 {
			url = string(found[len(found)-1][1])
		}
		return url != ""
	}) {
		t.Fatal("it does not listen")
	}
	text, err := os.ReadFile(w.state.MCPToken())
	if err != nil {
		t.Fatal(err)
	}
	return server, url, strings.TrimSpace(string(text))
}

// bearer brings a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func overHTTP(t *testing.T, url, token string) *mcpClient {
	t.Helper()
	return connectMCP(t, "test", &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1})
}

// TestMCPSessions has two clients of one server, which see nothing of each
// other.
func TestMCPSessions(t *testing.T) {
	t.Parallel()
	w := mcpWorld(t)
	server, url, token := w.mcpHTTP(t)
	info, err := os.Stat(w.state.MCPToken())
	if err != nil || info.Mode().Perm() != 0o600 || len(token) != 64 {
		t.Fatal(info.Mode(), len(token), err)
	}
	one, other := overHTTP(t, url, token), overHTTP(t, url, token)
	var began, now mcp.View
	one.call("exec", `{"command": "./lingers", "background": true}`, &began)
	pids := w.pids(t)
	for _, tool := range []string{"exec_status", "exec_stop"} {
		got, err := other.try(t.Context(), tool, map[string]any{"id": began.ID})
		if err != nil || !got.IsError {
			t.Errorf("%s of another session: %v %v", tool, got, err)
		}
	}
	var all struct{ Runs []mcp.View }
	if other.call("exec_status", `{}`, &all); len(all.Runs) != 0 {
		t.Errorf("the other session sees %+v", all)
	}
	other.Close()
	if one.call("exec_status", `{"id": "`+began.ID+`"}`, &all); all.Runs[0].State == mcp.StateDone || isGone(pids[0]) {
		t.Errorf("it ended with another session: %+v", all)
	}
	one.call("exec_stop", `{"id": "`+began.ID+`"}`, &now)
	mustEnd(t, pids)
	keys := map[string]bool{}
	var o mcp.Outcome
	third := overHTTP(t, url, token)
	third.call("exec", `{"command": "printf x"}`, &o)
	for _, row := range w.rows(t) {
		keys[row.SessionKey] = true
	}
	if len(keys) != 2 {
		t.Errorf("two sessions ran something, with the keys %v", keys)
	}
	// A client that ends its session, and then the server, end what runs.
	one.call("exec", `{"command": "./lingers", "background": true}`, &began)
	pids = w.pids(t)
	one.Close()
	mustEnd(t, pids)
	third.call("exec", `{"command": "./lingers", "background": true}`, &began)
	pids = w.pids(t)
	server.end(syscall.SIGTERM)
	mustEnd(t, pids)
	said, _ := os.ReadFile(w.log)
	if strings.Contains(string(said), token) {
		t.Error("the token is in the log")
	}
}

// TestMCPHTTPGone has clients go in the middle of a call, without a word.
func TestMCPHTTPGone(t *testing.T) {
	t.Parallel()
	w := mcpWorld(t)
	_, url, token := w.mcpHTTP(t)
	c := overHTTP(t, url, token)
	const call = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"exec","arguments":{"command":"./lingers"}}}`
	send := func(ctx context.Context, method, body string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Session-Id": c.ID(), "Mcp-Protocol-Version": "2025-11-25",
		} {
			r.Header.Set(name, value)
		}
		return http.DefaultTransport.RoundTrip(r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if answer, err := send(ctx, "POST", fmt.Sprintf(call, 1001)); err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
	}()
	pids := w.pids(t)
	cancel()
	mustEnd(t, pids)
	// The same session goes on, and a call in it that ends with it.
	var o mcp.Outcome
	if c.call("exec", `{"command": "printf on"}`, &o); o.Stdout != "on" {
		t.Errorf("%+v", o)
	}
	go func() { _, _ = c.try(t.Context(), "exec", map[string]any{"command": "./lingers"}) }()
	pids = w.pids(t)
	c.hears("running")
	answer, err := send(t.Context(), "DELETE", "")
	if err != nil || answer.StatusCode != http.StatusNoContent {
		t.Fatal(answer, err)
	}
	answer.Body.Close()
	mustEnd(t, pids)
}

// TestMCPHTTPRefused sends what would run a command from where it may not.
func TestMCPHTTPRefused(t *testing.T) {
	t.Parallel()
	w := mcpWorld(t)
	_, url, token := w.mcpHTTP(t)
	c := overHTTP(t, url, token)
	before := w.ran(t)
	for _, row := range []struct {
		name, value string
		status      int
	}{
		{"Authorization", "", 401},
		{"Authorization", "Bearer " + strings.Repeat("0", 64), 401},
		{"Origin", "https://evil.example", 403},
		{"Host", "evil.example", 403},
		{"Mcp-Session-Id", "other", 404},
		{"Content-Length", "1", 413},
	} {
		call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"exec","arguments":{"command":"printf x"}}}`
		if row.status == 413 {
			call += strings.Repeat(" ", 1<<20)
		}
		r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(call))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {c.ID()}}
		if r.Header.Set(row.name, row.value); row.name == "Host" {
			r.Host = row.value
		}
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(row.name, err)
		}
		answer.Body.Close()
		if answer.StatusCode != row.status {
			t.Errorf("%s %q: %d, want %d", row.name, row.value, answer.StatusCode, row.status)
		}
	}
	if now := w.ran(t); now != before {
		t.Errorf("%d requests are in the history, and %d were before", now, before)
	}
}
