//go:build linux || darwin

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// TestApprovalsServe: a program with the token answers a question of a real
// command, and what it does not allow does not run.
func TestApprovalsServe(t *testing.T) {
	w := testWorld(t)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.must(t, "policy", "set", "security", "allowlist")
	token := strings.Repeat("t", 40)
	file := filepath.Join(w.home, "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	serve := w.command("approvals", "serve", "--listen", "127.0.0.1:0", "--token-file", file)
	said, err := serve.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	background(t, serve)
	line, err := bufio.NewReader(said).ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSpace(line), "questions are answered at ")
	if err != nil || !ok {
		t.Fatalf("%q %v", line, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	answer := func(decision string) (text string) {
		t.Helper()
		for {
			_, message, err := ws.Read(ctx)
			if err != nil {
				t.Fatal(err)
			}
			var m struct {
				Type, RequestID, SessionID string
				Request                    struct{ Text string }
			}
			if err := json.Unmarshal(message, &m); err != nil {
				t.Fatal(err)
			}
			if m.Type != "approval_required" {
				continue
			}
			response, _ := json.Marshal(map[string]string{"type": "approval_response", "sessionId": m.SessionID, "requestId": m.RequestID, "decision": decision})
			if err := ws.Write(ctx, websocket.MessageText, response); err != nil {
				t.Fatal(err)
			}
			return m.Request.Text
		}
	}
	// The no is last, as it stands for a while for the same command.
	for _, c := range []struct {
		decision string
		code     int
	}{{"allow-once", 0}, {"deny", exitDenied}} {
		ask := w.asks("--session", "s", "--", "uname", "-s")
		done := make(chan []byte, 1)
		go func() {
			out, _ := ask.CombinedOutput()
			done <- out
		}()
		if text := answer(c.decision); text != "uname -s" {
			t.Errorf("asked about %q", text)
		}
		out := <-done
		if code := ask.ProcessState.ExitCode(); code != c.code {
			t.Errorf("%s: code %d, %s", c.decision, code, out)
		}
	}
}
