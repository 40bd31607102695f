package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
)

// supposition is a command that something is asked about.
type supposition struct {
	Command words             `json:"command"`
	Workdir string            `json:"workdir"`
	Env     map[string]string `json:"env"`
}

// execInput are the arguments of exec.
type execInput struct {
	supposition
	Host       approval.Host `json:"host"`
	Timeout    float64       `json:"timeout"` // seconds
	Background bool          `json:"background"`
}

// words is a text for bash, or a list of words that needs no shell.
type words struct {
	Argv []string
	Text string
}

// UnmarshalJSON takes a string or an array of strings.
func (w *words) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte("[")) {
		return json.Unmarshal(text, &w.Argv)
	}
	return json.Unmarshal(text, &w.Text)
}

func (w words) empty() bool { return len(w.Argv) == 0 && strings.TrimSpace(w.Text) == "" }

// argv is the command as the host takes it. A text is one for bash, as the gate
// takes a text without a shell, and for no login shell: what runs outside of a
// plan reads no start-up file.
func (w words) argv() []string {
	if w.Text != "" {
		return []string{"bash", "-c", w.Text}
	}
	return w.Argv
}

func (w words) String() string {
	if w.Text != "" {
		return w.Text
	}
	return strings.Join(w.Argv, " ")
}

// Bounds of one command. The host's socket takes 256,000 bytes for a request.
const (
	maxCommand = 64 << 10
	maxEnv     = 100
	maxWire    = 250_000
	maxTimeout = 24 * time.Hour
	// runTime is how long a command may run by itself, askTime how long a person
	// may take, and grace what an answer may take to come back.
	runTime = 30 * time.Minute
	askTime = 10 * time.Minute
	grace   = 10 * time.Second
)

// check refuses what is too large, and makes the folder absolute.
func (q *supposition) check(dir string) error {
	length := len(q.Command.Text)
	for _, w := range q.Command.Argv {
		length += len(w) + 1
	}
	switch {
	case q.Command.empty():
		return errors.New("command is empty: give a text or a list of words")
	case length > maxCommand:
		return fmt.Errorf("command is longer than %d bytes: write it to a file and run that", maxCommand)
	case len(q.Env) > maxEnv:
		return fmt.Errorf("env holds more than %d names", maxEnv)
	case wireSize(q) > maxWire:
		return errors.New("command and env are too large together: write what is long to a file")
	case q.Workdir == "":
		q.Workdir = dir
	case !filepath.IsAbs(q.Workdir):
		q.Workdir = filepath.Join(dir, q.Workdir)
	}
	return nil
}

// wireSize is how long a command is on the way to the host, as JSON inside of
// JSON.
func wireSize(q *supposition) int {
	once := compact([]any{q.Command.argv(), q.Workdir, q.Env})
	return len(compact(once))
}

func compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // it holds nothing that cannot be encoded
	return b.String()
}

// request is what the host is asked.
func (s *session) request(q *execInput) (ipc.Exec, error) {
	if err := q.check(s.Dir); err != nil {
		return ipc.Exec{}, err
	}
	if q.Host != "" && q.Host != approval.HostNode {
		return ipc.Exec{}, errors.New("this server runs commands on this machine only: leave host out, or say node")
	}
	limit, err := q.timeout()
	if err != nil {
		return ipc.Exec{}, err
	}
	return ipc.Exec{Receipt: true, Request: approval.Request{
		Who: approval.Ours, Command: q.Command.argv(), Cwd: q.Workdir, Env: q.Env, Timeout: limit,
		AgentID: s.agent, SessionKey: s.key, Deadline: time.Now().Add(limit + askTime + grace),
	}}, nil
}

// timeout is how long the command may run. One in the background that names no
// time has as much as there is.
func (q *execInput) timeout() (time.Duration, error) {
	switch {
	case q.Timeout < 0 || q.Timeout > maxTimeout.Seconds():
		return 0, fmt.Errorf("timeout must be from 0 to %.0f seconds", maxTimeout.Seconds())
	case q.Timeout > 0:
		return max(time.Duration(q.Timeout*float64(time.Second)), time.Millisecond), nil
	case q.Background:
		return maxTimeout, nil
	}
	return runTime, nil
}

// exec is the tool of this name.
func (s *session) exec(ctx context.Context, req *sdk.CallToolRequest, q execInput) (any, error) {
	x, err := s.request(&q)
	if err != nil {
		return nil, err
	}
	if x.Askers, err = peersOf(req); err != nil {
		return nil, fmt.Errorf("nothing runs for a program that cannot be seen: %w", err)
	}
	if q.Background {
		r, err := s.start(x, q.Command.String())
		if err != nil {
			return nil, err
		}
		return r.view(false), nil
	}
	t := newTeller(progressOf(ctx, req))
	defer t.end()
	return s.execute(ctx, x, t.tell), nil
}

// execute has the host judge, ask and run. tell must return at once. It counts
// the command as started until this returns.
func (s *session) execute(ctx context.Context, x ipc.Exec, tell func(approval.EventKind)) Outcome {
	ctx, cancel := context.WithDeadline(ctx, x.Request.Deadline)
	defer cancel()
	var started, over bool
	var mu sync.Mutex
	x.Request.Progress = func(event approval.EventKind) {
		mu.Lock()
		defer mu.Unlock()
		if over { // the answer has overtaken it
			return
		}
		if event == approval.EventStarted && !started {
			started = true
			s.count(1)
		}
		tell(event)
	}
	answer, err := s.Road.Exec(ctx, x)
	mu.Lock()
	defer mu.Unlock()
	if over = true; started {
		s.count(-1)
	}
	if err != nil {
		return s.failed(ctx, err)
	}
	return outcomeOf(answer)
}

func (s *session) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started += n
}
