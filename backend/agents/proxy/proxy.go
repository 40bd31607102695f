// Package proxy stands between an MCP client and one MCP server, and lets the
// server see a tool call only after the host allowed it.
//
// It may start the server, or connect to it, and ask the host; it keeps nothing
// and asks nobody itself. Messages pass as the bytes that they came in: only
// what is judged is read. What must never happen here: a call reaches the server
// that was not allowed, or that the server could read as another one than the
// host judged; or a server that misbehaves takes the client's answers, memory
// or time.
//
// Judged are tools/call, resources/read (as the tool resource_read) and
// prompts/get (as prompt_get). All other methods pass, also those that only this
// server knows: who configured the server trusts it that far. Requests of the
// server to the client pass as well. A call that is repeated with what its server
// wanted to know first (revision 2026-07-28) is judged as a new one.
//
// Where a person switched it on for the agent, the question about a call is shown
// in a form of the client too (elicitation), whose answer the host takes for that
// call alone. A client of revision 2026-07-28 is shown none: there a server asks
// by ending the call, and ours waits for whoever answers first.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/countersign-app/countersign/backend/rescue"
)

// Options say for whom the proxy works, and who judges. All fields are required.
type Options struct {
	// Name is what policy calls the server (NameOf, NameOfURL).
	Name string
	// AgentID and SessionKey say for whom the calls are, Cwd where they are made.
	AgentID, SessionKey, Cwd string
	// Wait is how long a question may wait for its answer.
	Wait time.Duration
	Host Host
	// In and Out are the client. In is read to its end, also when Run is over.
	In  io.Reader
	Out io.Writer
	// Log gets what the server or the client does wrong, and no content.
	Log *slog.Logger
}

// Host judges: *host.Road is one.
type Host interface {
	Call(ctx context.Context, method string, params, out any) error
}

// Server is an MCP server, however it is reached.
type Server interface {
	// Send passes a message on. Its error says why the server will not see it.
	Send(m Message) error
	// Receive hands over what the server sends, one message at a time, until the
	// server ends, take fails, or Close is called. A server that ended by itself
	// gives *Ended.
	Receive(take func(line []byte) error) error
	// Close ends the server and waits for that. It may be called twice.
	Close()
}

// Ended says that a server ended, or was ended for what it did.
type Ended struct {
	// Code is what the proxy ends with, and Why what the client is told.
	Code int
	Why  string
}

func (e *Ended) Error() string { return e.Why }

// grace is how long calls may still be judged when the client has gone: input
// from a pipe ends at once, and is meant all the same.
const grace = time.Second

// Run passes messages between the client and the server until one of them goes
// or ctx is done. The error is nil when the client went first, and *Ended when
// the server did.
func Run(ctx context.Context, opt Options, server Server) error {
	return run(ctx, opt, server, usualPace())
}

func run(ctx context.Context, opt Options, server Server, pace pace) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &proxy{opt: opt, ctx: ctx, server: server, out: newOutbox(opt.Out), calls: newCalls(), forms: newForms(), shaped: map[string]bool{}, pace: pace, last: closed()}
	gone, over := make(chan struct{}), make(chan error, 2) // of both sides
	go func() {
		defer rescue.Catch(opt.Log, "what the client sends", func() { over <- errFailed })
		p.readClient()
		close(gone)
	}()
	go func() {
		defer rescue.Catch(opt.Log, "what the server sends", func() { over <- errFailed })
		over <- server.Receive(p.fromServer)
	}()
	var err error
	select {
	case err = <-over:
		err = p.lost(err)
	case <-p.out.failed: // the client takes no answers any more
	case <-ctx.Done():
	case <-gone:
		p.settle()
	}
	p.end(cancel)
	server.Close()
	p.judging.Wait()
	p.out.close()
	return err
}

// end lets nothing more be judged.
func (p *proxy) end(cancel context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cancel()
}

// begin starts what Run waits for, and nothing when it is over.
func (p *proxy) begin(work func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() == nil {
		p.judging.Go(rescue.Guarded(p.opt.Log, "a call that is judged", work))
	}
}

// settle waits until nothing is judged any more, or for grace.
func (p *proxy) settle() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.judging.Wait()
	}()
	select {
	case <-done:
	case <-p.ctx.Done():
	case <-time.After(grace):
	}
}

// lost tells the client for every open call that the server is no more.
func (p *proxy) lost(err error) error {
	var ended *Ended
	if !errors.As(err, &ended) {
		ended = &Ended{Code: 1, Why: fmt.Sprintf("the MCP server was lost: %v", err)}
	}
	for _, c := range p.calls.all() {
		c.cancel()
		if c.state != cancelled {
			p.out.put(failure(c.id, codeClosed, ended.Why))
		}
	}
	p.opt.Log.Error(ended.Why)
	return ended
}
