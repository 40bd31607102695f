// Package mcp is an MCP server whose tools run commands on this machine: each
// is judged by the host, asked about where it must be, and run by it.
//
// It may talk to MCP clients, over the standard streams or over HTTP on a
// loopback address, and to the host over its socket. It starts no process,
// reads no policy and answers no question. What must never happen here: a
// command that reaches the machine by another way than the host, a session
// that sees or ends the commands of another one, or a command that runs on
// when the client that asked for it has gone.
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/rescue"
)

// Options are what every server needs. All but Agent must be set.
type Options struct {
	// Road leads to the host. One without a host of its own makes every command
	// of a machine where the app does not run a denial.
	Road *host.Road
	// Agent is the agent id of all clients. Without it each is called after the
	// name that it gives, behind "mcp-".
	Agent string
	// Dir is the folder, absolute, in which commands run that name none.
	Dir     string
	Version string
	Log     *slog.Logger
}

// server is what all sessions share.
type server struct {
	Options
	sdk  *sdk.Server
	work sync.WaitGroup // what outlives a call

	mu       sync.Mutex
	sessions map[*sdk.ServerSession]*session
	used     map[string]time.Time // when the client of a session over HTTP said something last
}

const instructions = `Commands that you run with exec are judged by Countersign before they start. What policy allows runs at once; ` +
	`other commands wait for a person, for up to ten minutes. A denial is final unless it says that you may ask again: ` +
	`do not look for another way to do the same. Use explain to learn beforehand what would happen.`

// newServer makes a server that speaks these versions of the protocol.
func newServer(opt Options, versions []string) *server {
	s := &server{Options: opt, sessions: map[*sdk.ServerSession]*session{}, used: map[string]time.Time{}}
	s.sdk = sdk.NewServer(
		&sdk.Implementation{Name: "countersign", Title: "Countersign", Version: opt.Version},
		&sdk.ServerOptions{
			Instructions: instructions, SupportedProtocolVersions: versions,
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		})
	s.addTools()
	s.sdk.AddReceivingMiddleware(s.rescued)
	return s
}

// rescued answers what makes us panic, the reading of arguments included, with
// an error.
func (s *server) rescued(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (result sdk.Result, err error) {
		defer rescue.Catch(s.Log, "a message of an MCP client", func() { result, err = nil, errFailed })
		if call, is := req.(*sdk.CallToolRequest); is && !isObject(call.Params.Arguments) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the arguments of a tool are an object"}
		}
		return next(ctx, method, req)
	}
}

// isObject reports whether arguments are an object, or are left out.
func isObject(text json.RawMessage) bool {
	text = bytes.TrimSpace(text)
	return len(text) == 0 || text[0] == '{' || string(text) == "null"
}

var errFailed = errors.New("Countersign failed at this, so nothing more of it was done: its log says where")

// leaving is how long a server that ends waits for its clients to take what
// was said.
const leaving = 5 * time.Second

// Stdio serves the one client at the standard streams, until it hangs up or
// ctx ends. What runs for it ends then. The error is nil when the client hung
// up.
func Stdio(ctx context.Context, opt Options, in io.Reader, out io.Writer) error {
	s := newServer(opt, sdk.SupportedProtocolVersions())
	client, err := s.sdk.Connect(ctx, newLines(in, out), nil)
	if err != nil {
		return err
	}
	over := make(chan error, 1)
	go func() {
		defer rescue.Catch(opt.Log, "an MCP client", func() { over <- errFailed })
		over <- client.Wait()
	}()
	select {
	case err = <-over:
	case <-ctx.Done():
		s.endAll()
		go rescue.Guarded(opt.Log, "the end of a client", func() { _ = client.Close() })() // it waits for a client that takes no answers
	}
	s.rest()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// endAll ends what runs for all clients.
func (s *server) endAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.sessions {
		one.end()
	}
}

// rest waits until nothing is done any more, but no longer than leaving.
func (s *server) rest() {
	s.endAll()
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		s.work.Wait()
	}()
	select {
	case <-idle:
	case <-time.After(leaving):
	}
}

// sessionOf returns what is kept for the client of a call, and keeps it until
// that client is gone.
func (s *server) sessionOf(req *sdk.CallToolRequest) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.sessions[req.Session]; one != nil {
		return one
	}
	one := newSession(s, agentOf(s.Agent, req.ClientInfo()))
	s.sessions[req.Session] = one
	s.work.Go(func() {
		defer s.drop(req.Session, one)
		defer rescue.Catch(s.Log, "an MCP client", nil)
		_ = req.Session.Wait() // why it ended does not matter
	})
	return one
}

// drop ends what runs for a client that is gone, and forgets it.
func (s *server) drop(client *sdk.ServerSession, one *session) {
	defer rescue.Catch(s.Log, "the end of a client", nil)
	one.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, client)
}

// open returns how many clients are connected.
func (s *server) open() int { return len(slices.Collect(s.sdk.Sessions())) }
