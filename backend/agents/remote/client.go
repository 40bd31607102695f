package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/coder/websocket"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/rescue"
)

// client is one connection. What it was shown is what it may answer.
type client struct {
	server *Server
	ws     *websocket.Conn
	shown  map[string]approval.Prompt // by requestID; the writer's and, under the lock of the server, the reader's
	// since are the ids that each session was shown since its last answer.
	since map[string]map[string]bool
	wake  chan struct{}
	// number says who came before whom, spoke that it gave an answer for a
	// question that it was shown. Both are under the lock of the server.
	number int
	spoke  bool
}

// awaken has the client look at what waits. It does not wait for it.
func (c *client) awaken() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run shows questions and takes answers until the connection ends.
func (c *client) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer c.ws.CloseNow()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer cancel()
		defer rescue.Catch(nil, "the answers of a client", nil)
		c.read(ctx)
	}()
	c.awaken()
	for {
		select {
		case <-c.wake:
			if c.show(ctx) != nil {
				cancel()
			}
		case <-ctx.Done():
			c.ws.CloseNow()
			<-ended
			return
		}
	}
}

// show sends what is gone among the questions, and then what is new: who sees a
// new one and answers at once must not be told that the one before waits too.
func (c *client) show(ctx context.Context) error {
	open := c.server.open()
	now := map[string]approval.Prompt{}
	for _, p := range open {
		now[requestID(p)] = p
	}
	for _, gone := range c.gone(now) {
		if err := c.write(ctx, withdrawn{"approval_withdrawn", gone.SessionKey, requestID(gone)}); err != nil {
			return err
		}
	}
	for _, p := range open {
		if was, ok := c.get(requestID(p)); ok && was.Digest() == p.Digest() && was.Expires == p.Expires {
			continue
		}
		c.set(p)
		if err := c.write(ctx, required(p)); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) get(id string) (approval.Prompt, bool) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	p, ok := c.shown[id]
	return p, ok
}

func (c *client) set(p approval.Prompt) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	id := requestID(p)
	c.shown[id] = p
	if c.since[p.SessionKey] == nil {
		c.since[p.SessionKey] = map[string]bool{}
	}
	if len(c.since[p.SessionKey]) < 2 { // more are as many as two
		c.since[p.SessionKey][id] = true
	}
}

func (c *client) gone(now map[string]approval.Prompt) (list []approval.Prompt) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	for id, p := range c.shown {
		if _, waits := now[id]; !waits {
			list = append(list, p)
			delete(c.shown, id)
		}
	}
	return list
}

func (c *client) write(ctx context.Context, message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	return c.ws.Write(ctx, websocket.MessageText, text)
}

// read takes answers. What is no message of ours ends the connection.
func (c *client) read(ctx context.Context) {
	for {
		kind, text, err := c.ws.Read(ctx)
		if err != nil {
			return
		}
		if kind != websocket.MessageText {
			c.ws.Close(websocket.StatusUnsupportedData, "messages are JSON texts")
			return
		}
		r, err := c.take(ctx, text)
		if err == nil {
			continue
		}
		if c.write(ctx, failure{"approval_error", r.SessionID, r.RequestID, display.Line(err.Error())}) != nil {
			return
		}
	}
}

// take takes one message.
func (c *client) take(ctx context.Context, text []byte) (r response, err error) {
	defer rescue.Catch(nil, "an answer", func() { err = errors.New("Countersign failed at this: its log says where") })
	if r, err = readResponse(text); err == nil {
		err = c.answer(ctx, r)
	}
	return r, err
}

// answer gives an answer to the question that it is for.
func (c *client) answer(ctx context.Context, r response) error {
	p, err := c.meant(r)
	if err != nil {
		return err
	}
	c.server.mu.Lock()
	c.spoke = true
	c.server.mu.Unlock()
	decision, note := r.Decision, r.Reason
	if len(r.ModifiedArgs) > 0 && decision != approval.DecisionDeny {
		// Only who makes the call can change it: it is told what would pass.
		decision, note = approval.DecisionDeny, "they would allow it with these arguments, so ask for that: "+string(r.ModifiedArgs)
	}
	return c.server.opt.Host.Answer(ctx, p, decision, note)
}

// meant is the question that an answer is for. An answer without an id is for
// the one that waits in its session, while there is just one and no other was
// shown since the last answer.
func (c *client) meant(r response) (approval.Prompt, error) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if r.RequestID != "" {
		p, ok := c.shown[r.RequestID]
		if !ok || p.SessionKey != r.SessionID {
			return p, errors.New("no such question was shown in this session: it was answered, or is over")
		}
		delete(c.since, p.SessionKey)
		return p, nil
	}
	var only approval.Prompt
	n := 0
	for _, p := range c.shown {
		if p.SessionKey == r.SessionID {
			only = p
			n++
		}
	}
	shown := len(c.since[r.SessionID])
	delete(c.since, r.SessionID)
	switch {
	case n != 1:
		return only, fmt.Errorf("%d questions wait in this session: say which with requestId", n)
	case shown > 1: // it may be for one that is gone
		return only, errors.New("several questions were shown in this session: say which with requestId")
	}
	return only, nil
}

// response is what a client says.
type response struct {
	Type         string            `json:"type"`
	SessionID    string            `json:"sessionId"`
	RequestID    string            `json:"requestId"`
	Decision     approval.Decision `json:"decision"`
	Reason       string            `json:"reason"`
	ModifiedArgs json.RawMessage   `json:"modifiedArgs"`
}

func readResponse(text []byte) (r response, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return response{}, errors.New("the message cannot be read: send one approval_response")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return response{}, errors.New("one message holds one approval_response")
	}
	switch {
	case r.Type != "approval_response":
		return response{}, errors.New("only approval_response is taken here")
	case r.Decision == approval.DecisionUnset:
		return r, errors.New("decision is missing")
	case len(r.Reason) > 2000:
		return r, errors.New("reason is longer than 2000 bytes")
	}
	return r, nil
}
