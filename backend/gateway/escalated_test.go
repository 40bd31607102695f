package gateway

import (
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/link"
)

// TestEscalated has operators answer a question that waits on a node.
func TestEscalated(t *testing.T) {
	w := newWorld(t, opened)
	node := w.node("one", func(request) (any, *link.Error) { return nil, nil })
	other := w.node("two", func(request) (any, *link.Error) { return nil, nil })
	ask := func(l *line, id, more string) string {
		return l.call("node.approval.request", map[string]any{"id": id, "command": "git push" + more, "timeoutMs": 60_000, "nodeId": "forged"})
	}
	if got := ask(node, "q0", ""); !strings.Contains(got, "no-route") {
		t.Error("nobody looks: ", got)
	}
	boss := w.reviewer()
	for _, decision := range []string{"allow-once", "deny"} {
		said := make(chan string, 1)
		go func() {
			got := ask(node, "q-"+decision, "")
			for strings.Contains(got, "no-route") { // the operator is being let in
				got = ask(node, "q-"+decision, "")
			}
			said <- got
		}()
		text := string(boss.event("exec.approval.requested"))
		id := "q-" + decision + "@" + node.id[:12]
		for _, want := range []string{`"id":"` + id, `"nodeId":"` + node.id, "git push", `"escalated":true`} {
			if !strings.Contains(text, want) || strings.Contains(text, "forged") {
				t.Errorf("no %s in %s", want, text)
			}
		}
		if got := boss.call("exec.approval.resolve", map[string]string{"id": id, "decision": "allow-always"}); !strings.Contains(got, "not offered") {
			t.Error(got)
		}
		if got := other.call("node.approval.withdraw", idParams{"q-" + decision}); !strings.Contains(got, "unknown or expired") {
			t.Error("another node takes it back: ", got)
		}
		boss.call("exec.approval.resolve", map[string]string{"id": id, "decision": decision})
		if got := <-said; !strings.Contains(got, `"decision":"`+decision+`"`) || !strings.Contains(got, boss.id[:12]+`"`) || !strings.Contains(got, `"operator":"`) {
			t.Error(got)
		}
	}
	said := make(chan string, 1)
	go func() { said <- ask(node, "q1", " --force") }()
	boss.event("exec.approval.requested")
	if got := node.call("node.approval.withdraw", idParams{"q1"}); !strings.Contains(got, "true") {
		t.Error(got)
	}
	if got := <-said; !strings.Contains(got, "answered-elsewhere") {
		t.Error(got)
	}
	for told := ""; !strings.Contains(told, `"id":"q1@`); { // the first two were answered
		told = string(boss.event("exec.approval.resolved"))
	}
	for _, bad := range []map[string]any{{}, {"id": "x"}, {"id": "x", "command": "y"}, {"id": "a\nb", "command": "y", "timeoutMs": 1}, {"id": 1}} {
		if got := node.call("node.approval.request", bad); !strings.HasPrefix(got, "INVALID_REQUEST") {
			t.Errorf("%v: %s", bad, got)
		}
	}
}
