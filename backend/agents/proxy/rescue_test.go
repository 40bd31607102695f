//go:build linux || darwin

package proxy

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// TestPanics: a call whose judging panics does not reach the server.
func TestPanics(t *testing.T) {
	s := newStage(t)
	for range 2 {
		s.client(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"panic"}}`)
		if got := s.line(); !strings.Contains(got, string(approval.ReasonInternal)) || strings.Contains(got, "secret") {
			t.Errorf("%s", got)
		}
	}
	s.getsNothing()
}

// boom panics at whatever it is asked.
type boom struct{}

func (boom) Read([]byte) (int, error)         { panic("secret") }
func (boom) Write([]byte) (int, error)        { panic("secret") }
func (boom) Send(Message) error               { panic("secret") }
func (boom) Receive(func([]byte) error) error { panic("secret") }
func (boom) Close()                           {}

// TestPanicsOfEnds: where reading or writing panics the proxy ends, and says that it
// failed.
func TestPanicsOfEnds(t *testing.T) {
	quiet, never := io.Pipe()
	defer never.Close()
	silent := func() Server {
		return &played{got: make(chan string, 10), say: make(chan string), end: make(chan error), done: make(chan struct{})}
	}
	for name, c := range map[string]struct {
		in     io.Reader
		out    io.Writer
		server Server
		fails  bool
	}{
		"what the client sends": {boom{}, io.Discard, silent(), true},
		"what the server sends": {quiet, io.Discard, boom{}, true},
		"what the client gets":  {strings.NewReader("no JSON\n"), boom{}, silent(), false},
	} {
		t.Run(name, func(t *testing.T) {
			before := rescue.Caught()
			err := Run(t.Context(), Options{Host: newHost(), In: c.in, Out: c.out, Log: slog.New(slog.DiscardHandler)}, c.server)
			var ended *Ended
			if is := errors.As(err, &ended); is != c.fails {
				t.Errorf("it ended with %v", err)
			}
			if n := rescue.Caught() - before; n != 1 {
				t.Errorf("%d were counted", n)
			}
		})
	}
}

// TestPanicsOfSend: a message whose passing on panics is answered, and the next one is
// taken.
func TestPanicsOfSend(t *testing.T) {
	s := stageOf(t, stuck{boom{}, make(chan struct{})})
	for id := range 2 {
		s.client(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/list"}`, id))
		if got := s.line(); !strings.Contains(got, "-32603") || strings.Contains(got, "secret") {
			t.Error(got)
		}
	}
}

// stuck sends nothing.
type stuck struct {
	boom
	over chan struct{}
}

func (s stuck) Receive(func([]byte) error) error { <-s.over; return nil }
func (s stuck) Close()                           { close(s.over) }
