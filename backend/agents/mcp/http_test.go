package mcp

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/paths"
)

const (
	testToken  = "correct-horse-battery-staple-0123"
	testOrigin = "http://localhost:6274"
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
)

// serveHTTP serves on a machine where no host runs, and returns HOST:PORT.
func serveHTTP(t *testing.T) string {
	t.Helper()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	dir := t.TempDir()
	opt := Options{Road: host.NewRoad(host.RoadOptions{State: paths.State{Dir: dir}, Home: dir, Log: log}), Dir: dir, Version: "test", Log: log}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- HTTP(ctx, opt, Door{Token: testToken, Origins: []string{testOrigin}}, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// TestDoor sends requests that differ in one thing from a good one.
func TestDoor(t *testing.T) {
	at := serveHTTP(t)
	_, port, _ := net.SplitHostPort(at)
	for _, c := range []struct {
		what   string
		change func(r *http.Request)
		status int
	}{
		{"nothing", func(*http.Request) {}, 200},
		{"localhost", func(r *http.Request) { r.Host = "localhost:" + port }, 200},
		{"allowed page", func(r *http.Request) { r.Header.Set("Origin", testOrigin) }, 200},

		{"no token", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		{"wrong token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testToken+"x") }, 401},
		{"half a token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testToken[:20]) }, 401},
		{"empty token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }, 401},
		{"other scheme", func(r *http.Request) { r.Header.Set("Authorization", "Basic "+testToken) }, 401},
		{"token in the URL", func(r *http.Request) { r.Header.Del("Authorization"); r.URL.RawQuery = "token=" + testToken }, 401},

		{"foreign page", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		{"page of another port", func(r *http.Request) { r.Header.Set("Origin", "http://localhost:1") }, 403},
		{"page without a name", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		{"empty origin", func(r *http.Request) { r.Header["Origin"] = []string{""} }, 403},
		{"two origins", func(r *http.Request) { r.Header["Origin"] = []string{testOrigin, "https://evil.example"} }, 403},
		{"our own page", func(r *http.Request) { r.Header.Set("Origin", "http://"+at) }, 403},
		{"foreign page, asking first", func(r *http.Request) { r.Method = "OPTIONS"; r.Header.Set("Origin", "https://evil.example") }, 403},
		{"allowed page, asking first", func(r *http.Request) {
			r.Method = "OPTIONS"
			r.Header.Set("Origin", testOrigin)
			r.Header.Del("Authorization")
		}, 204},

		{"foreign name", func(r *http.Request) { r.Host = "evil.example:" + port }, 403},
		{"name that begins like ours", func(r *http.Request) { r.Host = "127.0.0.1.evil.example:" + port }, 403},
		{"other port", func(r *http.Request) { r.Host = "127.0.0.1:1" }, 403},
		{"no port", func(r *http.Request) { r.Host = "127.0.0.1" }, 403},
		{"foreign name, no token", func(r *http.Request) { r.Host = "evil.example"; r.Header.Del("Authorization") }, 403},

		{"other path", func(r *http.Request) { r.URL.Path = "/" }, 404},
		{"other method", func(r *http.Request) { r.Method = "PUT" }, 405},
		{"unknown session", func(r *http.Request) { r.Header.Set(sessionHeader, "x") }, 404},
		{"other type", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
		{"unknown version", func(r *http.Request) { r.Header.Set("Mcp-Protocol-Version", "1999-01-01") }, 400},
		{"oversize", func(r *http.Request) { body(r, `{"x":"`+strings.Repeat("x", maxMessage)+`"}`) }, 413},
		{"oversize, in chunks", func(r *http.Request) { body(r, `{"x":"`+strings.Repeat("x", maxMessage)+`"}`); r.ContentLength = -1 }, 413},
		{"truncated", func(r *http.Request) { body(r, initialize[:50]) }, 400},
		{"nothing in it", func(r *http.Request) { body(r, "") }, 400},
		{"ambiguous", func(r *http.Request) { body(r, `{"jsonrpc":"2.0","id":1,"method":"ping","method":"initialize"}`) }, 400},
		{"nested", func(r *http.Request) { body(r, strings.Repeat("[", 10_000)) }, 400},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+at+Path, nil)
		if err != nil {
			t.Fatal(err)
		}
		body(r, initialize)
		r.Header.Set("Authorization", "Bearer "+testToken)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		c.change(r)
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != c.status {
			t.Errorf("%s: %d, want %d: %s", c.what, answer.StatusCode, c.status, text)
		}
		if strings.Contains(string(text), testToken) {
			t.Errorf("%s: the answer holds the token", c.what)
		}
		if given := answer.Header.Get("Access-Control-Allow-Origin"); given != "" && given != testOrigin {
			t.Errorf("%s: pages of %s may read the answer", c.what, given)
		}
	}
}

func body(r *http.Request, text string) {
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
}

// TestSlowBody sends the head of a request and not its body, beside a client
// that is served.
func TestSlowBody(t *testing.T) {
	at := serveHTTP(t)
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: 1000000\r\n\r\n{", Path, at, testToken)
	connectHTTP(t, at)
}

type bearer struct{}

func (bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+testToken)
	return http.DefaultTransport.RoundTrip(r)
}

func connectHTTP(t *testing.T, at string) *sdk.ClientSession {
	t.Helper()
	client, err := dialHTTP(t, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func dialHTTP(t *testing.T, at string) (*sdk.ClientSession, error) {
	return sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: "http://" + at + Path, HTTPClient: &http.Client{Transport: bearer{}}, DisableStandaloneSSE: true, MaxRetries: -1,
	}, nil)
}

// TestIdleSessions: sessions that were opened and left keep no other client out.
// One that works stays.
func TestIdleSessions(t *testing.T) {
	at := serveHTTP(t)
	works := connectHTTP(t, at)
	look := func() error {
		_, err := works.CallTool(t.Context(), &sdk.CallToolParams{Name: "explain", Arguments: map[string]any{"command": "id"}})
		return err
	}
	if err := look(); err != nil {
		t.Fatal(err)
	}
	var idle []*sdk.ClientSession
	for range maxSessions + 20 {
		idle = append(idle, connectHTTP(t, at))
	}
	if err := look(); err != nil {
		t.Error("a client that works was put out:", err)
	}
	if err := idle[0].Ping(t.Context(), nil); err == nil {
		t.Error("nobody made room")
	}
	if err := idle[len(idle)-1].Ping(t.Context(), nil); err != nil {
		t.Error("who came last was put out:", err)
	}
}

// TestSessionCap: where all sessions work, there is no room for one more until
// one of them ends its work.
func TestSessionCap(t *testing.T) {
	s := newServer(Options{Log: slog.New(slog.DiscardHandler)}, legacy())
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &http.Server{Handler: s.handler(Door{Token: testToken}, l.Addr())}
	go h.Serve(l)
	t.Cleanup(func() { h.Close() })
	for range maxSessions {
		connectHTTP(t, l.Addr().String())
	}
	var last *session
	s.mu.Lock()
	for client := range s.sdk.Sessions() {
		last = newSession(s, "test")
		last.calls, s.sessions[client] = 1, last
	}
	s.mu.Unlock()
	if c, err := dialHTTP(t, l.Addr().String()); err == nil {
		c.Close()
		t.Fatal("there was room for one more")
	}
	last.mu.Lock()
	last.calls = 0
	last.mu.Unlock()
	connectHTTP(t, l.Addr().String())
}

func TestListen(t *testing.T) {
	for address, ok := range map[string]bool{
		"127.0.0.1:0": true, "localhost:0": true,
		"0.0.0.0:0": false, ":0": false, "[::]:0": false, "192.0.2.1:0": false, "example.org:0": false, "127.0.0.1": false, "": false, "127.0.0.1:x": false,
	} {
		l, err := Listen(address)
		if (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
		if err == nil {
			l.Close()
		}
	}
}

func TestCheckOrigin(t *testing.T) {
	for origin, ok := range map[string]bool{
		"http://localhost:6274": true, "https://127.0.0.1": true, "http://[::1]:80": true,
		"http://example.org": false, "http://localhost:1/": false, "http://localhost:1/x": false, "localhost:1": false, "": false, "*": false,
		"null": false, "file://localhost": false, "http://localhost.example.org": false, "http://u@localhost:1": false, "http://localhost:1?x": false,
	} {
		if err := CheckOrigin(origin); (err == nil) != ok {
			t.Errorf("%s: %v", origin, err)
		}
	}
}

// TestWithoutHost lists the tools where no host runs, and gets a denial from
// each that needs one.
func TestWithoutHost(t *testing.T) {
	client := connectHTTP(t, serveHTTP(t))
	list, err := client.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 4 {
		t.Fatal(list, err)
	}
	for _, tool := range []string{"exec", "explain"} {
		got, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: map[string]any{"command": "true"}})
		if err != nil || !got.IsError {
			t.Fatal(tool, got, err)
		}
		text := fmt.Sprint(got.StructuredContent)
		if !strings.Contains(text, "companion-unavailable") || !strings.Contains(text, "askAgain:true") || !strings.Contains(text, string(approval.EndingNobody)) {
			t.Error(tool, text)
		}
	}
	got, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "exec", Arguments: map[string]any{"command": "true", "background": true}})
	if err != nil || got.IsError {
		t.Fatal(got, err)
	}
	id := got.StructuredContent.(map[string]any)["id"]
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		got, err = client.CallTool(t.Context(), &sdk.CallToolParams{Name: "exec_status", Arguments: map[string]any{"id": id}})
		if err != nil || strings.Contains(fmt.Sprint(got.StructuredContent), "state:done") {
			break
		}
	}
	if text := fmt.Sprint(got.StructuredContent); err != nil || !strings.Contains(text, "companion-unavailable") {
		t.Error(text, err)
	}
}
