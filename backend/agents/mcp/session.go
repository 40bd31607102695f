package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// session is one client for as long as it is connected.
type session struct {
	*server
	agent string
	key   string // its session key at the host
	ctx   context.Context
	end   context.CancelFunc // ends all that runs for it

	mu      sync.Mutex
	calls   int // that are being served
	started int // commands that run
	runs    []*run
}

func newSession(s *server, agent string) *session {
	one := &session{server: s, agent: agent, key: "mcp-" + rand.Text()}
	one.ctx, one.end = context.WithCancel(context.Background())
	return one
}

// maxCalls is how many calls of one client are served at once.
const maxCalls = 200

var errBusy = errors.New("this server works on too many calls of this client: wait until some are done")

// enter begins a call. What it returns ends with the call, with its client, and
// with the HTTP request that brought it: without that nobody gets the answer.
func (s *session) enter(ctx context.Context, req *sdk.CallToolRequest) (_ context.Context, leave func(), _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls >= maxCalls {
		return nil, nil, errBusy
	}
	s.calls++
	ctx, cancel := context.WithCancel(ctx)
	keep := context.AfterFunc(s.ctx, cancel)
	if asked := requestOf(req); asked != nil {
		context.AfterFunc(asked, cancel)
	}
	return ctx, func() {
		keep()
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls--
	}, nil
}

const (
	agentPrefix = "mcp-"
	maxAgent    = 64
)

// agentOf is the agent id of a client: the one that a person set, else the name
// that the client gives. The prefix keeps that one away from the policies of
// agents that are no MCP clients.
func agentOf(set string, client *sdk.Implementation) string {
	if set != "" {
		return set
	}
	name := ""
	if client != nil {
		name = client.Name[:min(len(client.Name), 4*maxAgent)]
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	id := agentPrefix + strings.Join(words, "-")
	if len(words) == 0 {
		id = agentPrefix + "client"
	}
	return strings.TrimRight(id[:min(len(id), maxAgent)], "-")
}

const (
	// lookAgain is how often it is looked whether a command has ended, and ending
	// how long.
	lookAgain = 50 * time.Millisecond
	ending    = 5 * time.Second
)

// settle waits until no more commands of this session run on the machine than
// are known here: one whose connection was closed takes a moment to end.
func (s *session) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, ending)
	defer cancel()
	mine := map[string]bool{}
	for s.onMachine(ctx, mine) > s.running() {
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return
		}
	}
}

func (s *session) running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started
}

// onMachine counts the commands of this session that the host runs. mine
// remembers which runs are ours. A host that does not answer runs nothing.
func (s *session) onMachine(ctx context.Context, mine map[string]bool) (n int) {
	var running []struct{ ID string }
	if err := s.Road.Call(ctx, "running.list", struct{}{}, &running); err != nil {
		return 0
	}
	for _, r := range running {
		ours, known := mine[r.ID]
		if !known {
			var rows []struct{ SessionKey string }
			err := s.Road.Call(ctx, "history.list", map[string]any{"id": r.ID, "limit": 1}, &rows)
			ours = err == nil && len(rows) == 1 && rows[0].SessionKey == s.key
			mine[r.ID] = ours
		}
		if ours {
			n++
		}
	}
	return n
}
