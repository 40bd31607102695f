package link

import (
	"errors"
	"testing"

	"github.com/countersign-app/countersign/backend/rescue"
)

// broken panics at what it is sent.
type broken struct{}

func (broken) Request(Request) { panic("secret") }
func (broken) Event(Event)     { panic("secret") }

// TestPanics: what makes an end panic ends that connection alone, at both ends, and
// who waits there for an answer gets an error.
func TestPanics(t *testing.T) {
	for name, send := range map[string]func(*Conn) error{
		"a request": func(c *Conn) error { return c.Call(t.Context(), "test", struct{}{}, nil) },
		"an event":  func(c *Conn) error { return c.Send(t.Context(), "test", struct{}{}) },
	} {
		t.Run(name, func(t *testing.T) {
			before := rescue.Caught()
			g := newGateway(t)
			c, _, err := Dial(t.Context(), Options{URL: g.url(), Connect: theirs(), Device: device(t)})
			must(t, err)
			host := <-g.ends
			asked := make(chan struct{})
			host.answer = func(Request) (any, *Error) {
				close(asked)
				return nil, Refuse(CodeUnavailable, "%v", send(host.conn))
			}
			over := make(chan error, 1)
			go func() { over <- c.Serve(t.Context(), broken{}) }()
			if err := c.Call(t.Context(), "wait", struct{}{}, nil); err == nil {
				t.Error("who waited got an answer")
			}
			<-asked
			if err := <-over; !errors.Is(err, errFailed) {
				t.Errorf("it ended with %v", err)
			}
			if err := c.Call(t.Context(), "more", struct{}{}, nil); !errors.Is(err, ErrClosed) {
				t.Errorf("who asks later gets %v", err)
			}
			if n := rescue.Caught() - before; n != 1 {
				t.Errorf("%d were counted", n)
			}
			node, _ := join(t, g.url(), device(t))
			must(t, node.conn.Call(t.Context(), "echo", struct{}{}, nil))
		})
	}
}
