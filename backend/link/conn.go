package link

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/countersign-app/countersign/backend/rescue"
)

// Conn is a connection whose handshake is over. Its methods may be called by
// many at once.
type Conn struct {
	ws    *websocket.Conn
	quiet time.Duration // silence after which the other end is gone, 0 for any

	mu    sync.Mutex
	calls map[string]chan frame
	last  uint64 // id of a call
	over  error  // set when nothing is read any more

	sending sync.Mutex // held while a frame is written, so that events stay in order
	seq     uint64
}

func newConn(ws *websocket.Conn) *Conn {
	ws.SetReadLimit(maxEarly)
	return &Conn{ws: ws, calls: map[string]chan frame{}}
}

// Handler takes what the other end sends, in its order, on the goroutine that
// reads: it must not block.
type Handler interface {
	Request(Request)
	Event(Event)
}

// ErrSilent ends a connection whose other end sent nothing for two ticks.
var ErrSilent = errors.New("the other end is silent")

// ErrClosed is what a call gets whose connection ended before its answer.
var ErrClosed = errors.New("the connection ended")

// errFailed ends a connection at which a mistake of ours was caught.
var errFailed = errors.New("Countersign failed at it: its log says where")

// Serve reads until the connection ends, and says why it did. It closes it. What
// makes us panic ends it too, and fails the calls that wait.
func (c *Conn) Serve(ctx context.Context, h Handler) (err error) {
	defer rescue.Catch(nil, "a connection", func() { err = c.end(ctx, errFailed) })
	for {
		f, err := c.read(ctx)
		if err != nil {
			return c.end(ctx, err)
		}
		switch f.Type {
		case typeRequest:
			h.Request(Request{f.ID, f.Method, f.Params})
		case typeEvent:
			h.Event(Event{f.Event, f.Payload})
		case typeResponse:
			c.answered(f)
		}
	}
}

// end closes the connection after err, and fails the calls that wait.
func (c *Conn) end(ctx context.Context, err error) error {
	code, reason := websocket.StatusGoingAway, ""
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, errFrame):
		code, reason = websocket.StatusPolicyViolation, "invalid frame"
	case errors.Is(err, ErrSilent):
		code, reason = 4000, "tick timeout"
	}
	c.mu.Lock()
	c.over = errors.Join(ErrClosed, err)
	calls := c.calls
	c.calls = nil
	c.mu.Unlock()
	for _, answer := range calls {
		close(answer)
	}
	c.ws.Close(code, reason)
	return err
}

// read returns the next frame. A reading that ctx ends closes the connection.
func (c *Conn) read(ctx context.Context) (frame, error) {
	within, cancel := ctx, context.CancelFunc(func() {})
	if c.quiet > 0 {
		within, cancel = context.WithTimeout(ctx, c.quiet)
	}
	defer cancel()
	kind, text, err := c.ws.Read(within)
	switch {
	case err != nil && within.Err() != nil && ctx.Err() == nil:
		return frame{}, ErrSilent
	case err != nil:
		return frame{}, readable(err)
	case kind != websocket.MessageText:
		return frame{}, errFrame
	}
	return parse(text)
}

// readable says in words why the other end is gone.
func readable(err error) error {
	var closed websocket.CloseError
	switch {
	case errors.As(err, &closed) && closed.Reason != "":
		return fmt.Errorf("the other end closed the connection: %s (%d)", strconv.Quote(closed.Reason), closed.Code)
	case errors.As(err, &closed):
		return fmt.Errorf("the other end closed the connection (%d)", closed.Code)
	case errors.Is(err, io.EOF):
		return errors.New("the other end is gone")
	}
	return err
}

func (c *Conn) write(ctx context.Context, f frame) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if len(text) > MaxPayload {
		return fmt.Errorf("a frame of %d bytes is too long to send", len(text))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// A write that is given up ends the connection, which is not its caller's
	// alone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return c.ws.Write(ctx, websocket.MessageText, text)
}

// Call sends a request, waits for its answer and reads it into out, unless
// that is nil. A refusal is an *Error. It needs somebody in Serve.
func (c *Conn) Call(ctx context.Context, method string, params, out any) error {
	body, err := raw(params)
	if err != nil {
		return err
	}
	answer := make(chan frame, 1)
	c.mu.Lock()
	if c.calls == nil {
		c.mu.Unlock()
		return c.over
	}
	c.last++
	id := strconv.FormatUint(c.last, 10)
	c.calls[id] = answer
	c.mu.Unlock()
	defer c.forget(id)
	if err := c.write(ctx, frame{Type: typeRequest, ID: id, Method: method, Params: body}); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case f, open := <-answer:
		if !open {
			return c.over
		}
		return f.result(out)
	}
}

// result is what a response says.
func (f frame) result(out any) error {
	switch {
	case !*f.OK && f.Error == nil:
		return errFrame
	case !*f.OK:
		return f.Error
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(f.Payload, out); err != nil {
		return fmt.Errorf("the answer cannot be read: %w", err)
	}
	return nil
}

func (c *Conn) answered(f frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer, waits := c.calls[f.ID]; waits {
		delete(c.calls, f.ID)
		answer <- f // it holds one
	}
}

func (c *Conn) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, id)
}

// Reply answers a request, with a refusal if that is not nil.
func (c *Conn) Reply(ctx context.Context, id string, payload any, refusal *Error) error {
	ok := refusal == nil
	f := frame{Type: typeResponse, ID: id, OK: &ok, Error: refusal}
	if ok {
		var err error
		if f.Payload, err = raw(payload); err != nil {
			return err
		}
	}
	return c.write(ctx, f)
}

// Send sends an event. Events of one connection arrive in the order in which
// they were sent.
func (c *Conn) Send(ctx context.Context, name string, payload any) error {
	body, err := raw(payload)
	if err != nil {
		return err
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	c.seq++
	return c.write(ctx, frame{Type: typeEvent, Event: name, Payload: body, Seq: c.seq})
}

// Ping asks the other end for a sign of life. It needs somebody in Serve.
func (c *Conn) Ping(ctx context.Context) error { return c.ws.Ping(ctx) }

// Drop ends the connection at once, and tells the other end nothing.
func (c *Conn) Drop() { c.ws.CloseNow() }

// Close ends the connection and tells the other end why.
func (c *Conn) Close(reason string) { c.ws.Close(websocket.StatusNormalClosure, reason) }
