package mcp

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// repeat is how often a client hears that a command still waits or runs: some
// give up on a call of which they hear nothing.
const repeat = 15 * time.Second

// What a client is told of a command that is not over.
const (
	tellsBefore  = "waiting to start"
	tellsWaiting = "waiting for approval"
	tellsRunning = "running"
)

// tellsOf is what a client is told of an event, "" for nothing.
func tellsOf(event approval.EventKind) string {
	switch event {
	case approval.EventAsked:
		return tellsWaiting
	case approval.EventStarted:
		return tellsRunning
	}
	return ""
}

// teller tells one client how far one command is.
type teller struct {
	events chan approval.EventKind
	over   chan struct{}
	done   chan struct{}
}

// newTeller begins to tell. send is called by one goroutine, with a count that
// grows; a nil one tells nobody.
func newTeller(send func(message string, count int)) *teller {
	t := &teller{events: make(chan approval.EventKind, 8), over: make(chan struct{}), done: make(chan struct{})}
	if send == nil {
		send = func(string, int) {}
	}
	go t.run(send)
	return t
}

func (t *teller) run(send func(message string, count int)) {
	defer close(t.done)
	defer rescue.Catch(nil, "what a client is told", nil)
	again := time.NewTicker(repeat)
	defer again.Stop()
	message, count := tellsBefore, 0
	for {
		select {
		case event := <-t.events:
			next := tellsOf(event)
			if next == "" {
				continue
			}
			message = next
			again.Reset(repeat)
		case <-again.C:
		case <-t.over:
			return
		}
		count++
		send(message, count)
	}
}

// tell notes an event, and returns at once.
func (t *teller) tell(event approval.EventKind) {
	select {
	case t.events <- event:
	default: // there are four of them
	}
}

// end waits until nothing more is told.
func (t *teller) end() {
	close(t.over)
	<-t.done
}

// progressOf is how the client of a call is told, nil if it does not want to
// be.
func progressOf(ctx context.Context, req *sdk.CallToolRequest) func(string, int) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	return func(message string, count int) {
		// A client that cannot be told is gone, and that ends the call.
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Message: message, Progress: float64(count)})
	}
}
