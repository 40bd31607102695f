//go:build linux || darwin

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
)

// opencodeServer behaves like the server of opencode: it sends the events that
// it is given and takes replies.
func opencodeServer(t *testing.T, password string, events chan string, replies chan [2]string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /global/event", func(w http.ResponseWriter, r *http.Request) {
		if _, got, _ := r.BasicAuth(); got != password {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for {
			select {
			case text := <-events:
				fmt.Fprintf(w, "data: {\"directory\":\"/\",\"payload\":%s}\n\n", text)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("POST /permission/{id}/reply", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		replies <- [2]string{r.PathValue("id"), strings.TrimSpace(string(body))}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

func opencodeAsks(id, command string) string {
	return fmt.Sprintf(`{"type":"permission.asked","properties":{"id":%q,"sessionID":"ses_1","permission":"bash","patterns":[%q],"metadata":{"command":%q},"always":["*"]}}`, id, command, command)
}

// within is the next value of a channel.
func within[T any](t *testing.T, values <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-values:
	case <-time.After(patience):
		t.Fatal("it never comes")
	}
	return value
}

// What opencode asks comes to the host, the answer goes back, and a question
// that is answered in opencode is withdrawn.
func TestHookOpencode(t *testing.T) {
	w := hookWorld(t)
	asked, withdrawn := make(chan struct{}), make(chan struct{})
	w.judges(t, func(ctx context.Context, call approval.ToolCall) (any, *ipc.Error) {
		left := time.Until(time.UnixMilli(call.Deadline))
		switch {
		case call.AgentID != "robot" || call.SessionKey != "ses_1" || call.Tool != "bash_execute" || left < time.Hour:
			t.Errorf("the host is asked for another call: %+v", call)
		case strings.Contains(string(call.Args), "slow"):
			close(asked)
			<-ctx.Done()
			close(withdrawn)
		case strings.Contains(string(call.Args), "rm"):
			return refusal("a person said no"), nil
		}
		return allowed(""), nil
	})
	events, replies := make(chan string), make(chan [2]string, 10)
	url := opencodeServer(t, "secret-word", events, replies)
	// It must not be a child of the host, which is this test.
	out, code, pidFile := filepath.Join(w.home, "out"), filepath.Join(w.home, "code"), filepath.Join(w.home, "pid")
	shell := w.program("sh", "-c", `(countersign hook opencode --url "$1" --agent robot >"$2" 2>&1 & echo $! >"$4"; wait $!; echo $? >"$3") &`, "sh", url, out, code, pidFile)
	shell.Env = append(shell.Env, "OPENCODE_SERVER_PASSWORD=secret-word")
	if err := shell.Run(); err != nil {
		t.Fatal(err)
	}
	pid, err := readPID(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })

	events <- opencodeAsks("per_1", "ls")
	if got := within(t, replies); got != [2]string{"per_1", `{"reply":"once"}`} {
		t.Errorf("%q", got)
	}
	events <- opencodeAsks("per_2", "rm x")
	if got := within(t, replies); got != [2]string{"per_2", `{"message":"a person said no","reply":"reject"}`} {
		t.Errorf("%q", got)
	}
	events <- opencodeAsks("per_3", "slow")
	within(t, asked)
	events <- `{"type":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_3","reply":"once"}}`
	within(t, withdrawn)
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended, err := readPID(code)
	if said := fileText(t, out); err != nil || ended != 0 || len(replies) > 0 || strings.Contains(said, "secret-word") {
		t.Errorf("it ended with %d (%v), %d more replies, and said:\n%s", ended, err, len(replies), said)
	}
}

// Without a server of this machine there is nothing to follow.
func TestHookOpencodeURL(t *testing.T) {
	w := hookWorld(t)
	for _, url := range []string{"http://example.com:4096", "https://127.0.0.1:4096", "4096"} {
		if got := w.hook(t, "", "opencode", "--url", url); got.code != exitUsage || !strings.Contains(got.stderr, "http://127.0.0.1:4096") {
			t.Errorf("%s: %+v", url, got)
		}
	}
}

// Who looks for opencode among the hooks reads that it is followed.
func TestHookOpencodeHelp(t *testing.T) {
	w := hookWorld(t)
	for _, words := range [][]string{{"--help"}, {"opencode", "--help"}} {
		if got := w.hook(t, "", words...); got.code != 0 || !strings.Contains(strings.Join(strings.Fields(got.stdout), " "), "It has no hooks, and is followed with --url.") {
			t.Errorf("%v: %+v", words, got)
		}
	}
}
