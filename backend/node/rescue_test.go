//go:build linux || darwin

package node

import (
	"context"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/rescue"
)

// TestPanics: an invocation that panics is refused as our mistake, and the next ones
// of the same connection are served.
func TestPanics(t *testing.T) {
	serves["test.panic"] = func(*Node, context.Context, invocation, []byte) (any, error) { panic("secret") }
	defer delete(serves, "test.panic")
	g := newGateway(t)
	m := newMachine(t, g, "/bin/echo", "/usr/bin/echo").join(g)
	before := rescue.Caught()
	for _, id := range []string{"1", "2"} {
		r := <-m.send(id, "test.panic", struct{}{})
		if r.OK || r.Error == nil || !strings.Contains(string(r.Error.Details), "internal-error") || strings.Contains(r.Error.Error(), "secret") {
			t.Errorf("%+v", r.Error)
		}
	}
	if n := rescue.Caught() - before; n != 2 {
		t.Errorf("%d were counted", n)
	}
	if got := m.invoke("3", "system.which", map[string]any{"bins": []string{"echo"}}); !strings.Contains(got, "echo") {
		t.Errorf("then %s", got)
	}
}
