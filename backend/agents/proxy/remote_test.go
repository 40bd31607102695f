//go:build linux || darwin

package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign-app/countersign/backend/approval"
)

// web is a stage whose server is at an address.
func web(t *testing.T, handler http.HandlerFunc) *stage {
	t.Helper()
	l := httptest.NewServer(handler)
	t.Cleanup(l.Close)
	return stageOf(t, at(t, l.URL+"/mcp"))
}

func at(t *testing.T, address string) *Remote {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Connect(u, "s3cret", false)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// client joins the proxy of a stage with the client of the official SDK.
func join(t *testing.T, s *stage, opt *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opt)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: io.NopCloser(s.out), Writer: s.send}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

type words struct {
	Text string `json:"text"`
}

// sdkServer is a server of the official SDK, with a tool, a resource, a prompt,
// and a tool that asks its client something.
func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "web", Version: "1"}, nil)
	echo := func(_ context.Context, _ *mcp.CallToolRequest, in words) (*mcp.CallToolResult, words, error) {
		return nil, in, nil
	}
	mcp.AddTool(s, &mcp.Tool{Name: "allow_echo"}, echo)
	mcp.AddTool(s, &mcp.Tool{Name: "deny_echo"}, echo)
	mcp.AddTool(s, &mcp.Tool{Name: "ask_echo"}, echo)
	mcp.AddTool(s, &mcp.Tool{Name: "allow_progress"}, func(ctx context.Context, r *mcp.CallToolRequest, in words) (*mcp.CallToolResult, words, error) {
		err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1, Message: "half"})
		return nil, in, err
	})
	s.AddResource(&mcp.Resource{URI: "file:///a%20b", Name: "r"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "file:///a%20b", Text: "text"}}}, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "p"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Description: "d"}, nil
	})
	return s
}

// TestRemote: the official SDK's client and server, with and without sessions,
// with events and without.
func TestRemote(t *testing.T) {
	for _, opt := range []mcp.StreamableHTTPOptions{{}, {JSONResponse: true}, {Stateless: true}, {Stateless: true, JSONResponse: true}} {
		t.Run(fmt.Sprintf("stateless %v, JSON %v", opt.Stateless, opt.JSONResponse), func(t *testing.T) {
			server := sdkServer()
			handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &opt)
			var mu sync.Mutex
			var seen, deleted []string
			s := web(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer s3cret" {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				body, _ := io.ReadAll(r.Body)
				mu.Lock()
				seen = append(seen, string(body))
				if r.Method == http.MethodDelete {
					deleted = append(deleted, r.Header.Get(headerSession))
				}
				mu.Unlock()
				r.Body = io.NopCloser(strings.NewReader(string(body)))
				handler.ServeHTTP(w, r)
			})
			told := make(chan string, 10)
			c := join(t, s, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { told <- r.Params.Message }})
			tools, err := c.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 3 {
				t.Fatalf("%+v %v", tools, err)
			}
			got, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "allow_echo", Arguments: words{"hello"}})
			if err != nil || got.IsError || fmt.Sprint(got.StructuredContent) != "map[text:hello]" {
				t.Errorf("%+v %v", got, err)
			}
			denied, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "deny_echo", Arguments: words{"never sent"}})
			if err != nil || !denied.IsError || !strings.Contains(denied.Content[0].(*mcp.TextContent).Text, "denylisted") {
				t.Errorf("%+v %v", denied, err)
			}
			r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "file:///a%20b"})
			if err != nil || r.Contents[0].Text != "text" {
				t.Errorf("%+v %v", r, err)
			}
			if p, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "p"}); err != nil || p.Description != "d" {
				t.Errorf("%+v %v", p, err)
			}
			if !opt.JSONResponse {
				params := &mcp.CallToolParams{Name: "allow_progress", Arguments: words{"x"}}
				params.SetProgressToken("tok")
				if _, err := c.CallTool(t.Context(), params); err != nil || after(t, told) != "half" {
					t.Error(err)
				}
			}
			c.Close()
			if err := s.ends(); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if strings.Contains(strings.Join(seen, ""), "never sent") {
				t.Error("the server saw what was denied")
			}
			if !opt.Stateless && (len(deleted) != 1 || deleted[0] == "") {
				t.Errorf("sessions ended: %v", deleted)
			}
		})
	}
}

// events answers with a stream of events.
func events(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, text)
}

// TestRemoteAnswers: what an odd or hostile server sends, and what its client
// gets.
func TestRemoteAnswers(t *testing.T) {
	const ok = `{"jsonrpc":"2.0","id":1,"result":{}}`
	for _, c := range []struct {
		name  string
		serve func(w http.ResponseWriter, r *http.Request)
		want  string
	}{
		{"JSON", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_, _ = io.WriteString(w, "{\"jsonrpc\":\"2.0\",\r\n \"id\":1.0,\"result\":{}}\n")
		}, `{"jsonrpc":"2.0",   "id":1.0,"result":{}}`},
		{"events", func(w http.ResponseWriter, _ *http.Request) {
			events(w, ": hi\r\nevent: other\ndata: x\n\nid: 1\nretry: 1\ndata:\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{}}\n\n")
		}, `{"jsonrpc":"2.0", "id":1,"result":{}}`},
		{"error in JSON", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no"}}`)
		}, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no"}}`},
		{"picked up again", func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && r.Header.Get(headerLast) == "e1" {
				events(w, "data: "+ok+"\n\n")
				return
			}
			events(w, "id: e1\nretry: 0\ndata:\n\n")
		}, ok},
		{"stream without an answer", func(w http.ResponseWriter, _ *http.Request) { events(w, "data: {\"jsonrpc\":\"2.0\"") }, "ended the stream without an answer"},
		{"always the same event", func(w http.ResponseWriter, _ *http.Request) { events(w, "id: e1\nretry: 0\n\n") }, "ended the stream without an answer"},
		{"wrong id", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, answerTo("2"))
		}, "is no answer to the request"},
		{"no JSON", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "<html>")
		}, "is no answer to the request"},
		{"page", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, `answered with \"text/html\"`},
		{"redirection", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/mcp" {
				t.Error("a redirection was followed")
			}
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
		}, "refused the message with status 307"},
		{"unauthorized", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "--token-env"},
		{"not found", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, "status 404"},
		{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot reach the MCP server"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := web(t, c.serve)
			s.client(onePing)
			if got := s.line(); got != c.want && (strings.HasPrefix(c.want, "{") || !strings.Contains(got, `"id":1,"error"`) || !strings.Contains(got, c.want) || strings.Contains(got, "s3cret")) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestRemoteEnds: a session that is over, and a server that sends too much, end
// the proxy.
func TestRemoteEnds(t *testing.T) {
	opens := func(w http.ResponseWriter, r *http.Request) (first bool) {
		if first = r.Header.Get(headerSession) == ""; first {
			w.Header().Set(headerSession, "s1")
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}`)
		}
		return first
	}
	for _, c := range []struct {
		name, want string
		serve      func(w http.ResponseWriter)
	}{
		{"session over", "has ended the session", func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }},
		{"long JSON", "more than 16 MiB", func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			for range 17 {
				_, _ = io.WriteString(w, strings.Repeat(" ", 1<<20))
			}
		}},
		{"long event", "more than 16 MiB", func(w http.ResponseWriter) {
			events(w, "data: ")
			for range 17 {
				_, _ = io.WriteString(w, strings.Repeat("data: x\n", 1<<17))
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := web(t, func(w http.ResponseWriter, r *http.Request) {
				if !opens(w, r) {
					c.serve(w)
				}
			})
			s.client(`{"jsonrpc":"2.0","id":0,"method":"initialize"}`)
			s.line()
			s.client(onePing)
			if got := s.line(); !strings.Contains(got, `"id":1,"error"`) || !strings.Contains(got, c.want) {
				t.Error(got)
			}
			var ended *Ended
			if err := s.ends(); !errors.As(err, &ended) || !strings.Contains(ended.Why, c.want) {
				t.Error(err)
			}
		})
	}
}

// TestRemoteHeaders: headers say again what is in the message, as servers without
// sessions want it.
func TestRemoteHeaders(t *testing.T) {
	got := make(chan string, 10)
	s := web(t, func(w http.ResponseWriter, r *http.Request) {
		got <- fmt.Sprintf("%q %q %q", r.Header.Get(headerVersion), r.Header.Get(headerMethod), r.Header.Get(headerName))
		w.WriteHeader(http.StatusTeapot)
	})
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	for _, c := range []struct{ line, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"allow",` + meta + `}}`, `"2026-07-28" "tools/call" "allow"`},
		{`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"ä",` + meta + `}}`, `"2026-07-28" "resources/read" "=?base64?w6Q=?="`},
		{`{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"=?base64?eA==?=",` + meta + `}}`, `"2026-07-28" "prompts/get" "=?base64?PT9iYXNlNjQ/ZUE9PT89?="`},
		{`{"jsonrpc":"2.0","id":4,"method":"server/discover","params":{` + meta + `}}`, `"2026-07-28" "server/discover" ""`},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"allow"}}`, `"" "" ""`},
		{`{"jsonrpc":"2.0","id":6,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026\r\nX: y"}}}`, `"" "" ""`},
	} {
		s.client(c.line)
		if h := after(t, got); h != c.want {
			t.Errorf("%s: %s, want %s", c.line, h, c.want)
		}
		s.line()
	}
}

// TestRemoteCancelled: a server without sessions hears of it by its line.
func TestRemoteCancelled(t *testing.T) {
	came, left := make(chan string, 1), make(chan error, 1)
	s := web(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), methodCancelled) {
			t.Errorf("posted %s", body)
		}
		came <- string(body)
		<-r.Context().Done()
		left <- r.Context().Err()
	})
	s.client(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"allow","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	after(t, came)
	s.client(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	after(t, left)
}

// TestConnect: which addresses are taken.
func TestConnect(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://mcp.example/mcp": true, "http://localhost:8080/mcp": true, "http://127.0.0.1/": true, "http://[::1]:1/": true,
		"http://mcp.example/mcp": false, "http://localhost.example/": false, "http://127.0.0.1.example/": false, "ftp://x/": false, "https://": false, "/mcp": false, "https://user:pw@mcp.example/": false,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Connect(u, "", false); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		} else if err != nil && strings.Contains(err.Error(), "pw") {
			t.Error(err)
		}
	}
	u, _ := url.Parse("http://mcp.example/mcp")
	if _, err := Connect(u, "", true); err != nil {
		t.Error(err)
	}
}

// TestRemoteAsked: a call that waits for a person is not posted before.
func TestRemoteAsked(t *testing.T) {
	posted := make(chan string, 10)
	s := web(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posted <- string(body)
		w.WriteHeader(http.StatusTeapot)
	})
	s.client(toolCall("1", "ask"))
	after(t, s.host.asked)
	s.client(onePing[:len(onePing)-1] + `,"id2":1}`)
	if got := s.line(); !strings.Contains(got, "is still open") {
		t.Error(got)
	}
	s.client(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if got := after(t, posted); !strings.Contains(got, "ping") {
		t.Error(got)
	}
	s.line()
	s.host.answer <- approval.VerdictAllow
	if got := after(t, posted); got != toolCall("1", "ask") {
		t.Errorf("posted %s", got)
	}
}
