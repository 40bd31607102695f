package gateway

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/link"
)

// TestPolicy gives nodes, and nobody else, what was signed, and tells them when
// it is another one.
func TestPolicy(t *testing.T) {
	w := newWorld(t, opened)
	node := w.node("one", func(request) (any, *link.Error) { return nil, nil })
	if got := node.call("policy.pull", nil); got != "null" {
		t.Error("nothing is signed: ", got)
	}
	file := w.opt.State.GatewayPolicy()
	for i, c := range []struct{ text, want string }{
		{`{"serial": 1}`, `{"serial":1}`},
		{`{"serial": 2}` + "\n", `{"serial":2}`},
		{`{`, "cannot be read"},
		{`"` + strings.Repeat("x", maxPolicy) + `"`, "cannot be read"},
	} {
		must(t, os.WriteFile(file, []byte(c.text), 0o600))
		at := time.Now().Add(time.Duration(i) * time.Second)
		must(t, os.Chtimes(file, at, at)) // clocks of files are coarse
		w.g.tick(time.Now())
		node.event("policy.changed")
		if got := strings.ReplaceAll(node.call("policy.pull", nil), " ", ""); !strings.Contains(got, strings.ReplaceAll(c.want, " ", "")) {
			t.Errorf("%.20s: %.100s, want %s", c.text, got, c.want)
		}
	}
	if got := w.operator().call("policy.pull", nil); !strings.HasPrefix(got, "INVALID_REQUEST") {
		t.Error("for an operator: ", got)
	}
	w.g.tick(time.Now())
	select {
	case e := <-node.events:
		for e.Name != "policy.changed" && len(node.events) > 0 {
			e = <-node.events
		}
		if e.Name == "policy.changed" {
			t.Error("it is told twice")
		}
	default:
	}
}
