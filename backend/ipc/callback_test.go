//go:build linux || darwin

package ipc

import (
	"context"
	"errors"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// TestPanicsOfClient: a caller that panics at what it is told meanwhile gets an
// error, the host ends what it asked for, and the next one is served.
func TestPanicsOfClient(t *testing.T) {
	ended := make(chan struct{})
	s := start(t, handler{exec: func(ctx context.Context, x Exec) ExecAnswer {
		if x.Request.Progress == nil {
			return echo(ctx, x)
		}
		x.Request.Progress(approval.EventAsked)
		<-ctx.Done()
		close(ended)
		return ExecAnswer{}
	}})
	before := rescue.Caught()
	c := dialServer(t, s)
	x := Exec{}
	x.Request.Command = []string{"ls"}
	x.Request.Progress = func(approval.EventKind) { panic("secret") }
	if _, err := c.Exec(t.Context(), testToken, x); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("it got %v", err)
	}
	<-ended
	if n := rescue.Caught() - before; n != 1 {
		t.Errorf("%d were counted", n)
	}
	if _, err := c.Exec(t.Context(), testToken, x); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("the broken connection gives %v", err)
	}
}
