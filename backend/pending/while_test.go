package pending

import (
	"context"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestWhile: what is done for a question ends with the last that waits for it,
// whatever takes it away.
func TestWhile(t *testing.T) {
	for name, end := range map[string]func(b *Book, first, second context.CancelFunc){
		"all have gone": func(_ *Book, first, second context.CancelFunc) { first(); second() },
		"it is denied": func(b *Book, _, _ context.CancelFunc) {
			b.DenyAll(approval.Answer{Decision: approval.DecisionDeny}, func() {})
		},
		"the host is ended": func(b *Book, _, _ context.CancelFunc) { b.Close() },
	} {
		b := New()
		first, leaveFirst := context.WithCancel(t.Context())
		second, leaveSecond := context.WithCancel(t.Context())
		for i, ctx := range []context.Context{first, second} {
			go b.Ask(ctx, approval.Prompt{ID: "1", AgentID: "a"}, "key", time.Now().Add(time.Hour))
			for cursor, list := b.Watch(t.Context(), 0); len(list) == 0 || list[0].Count <= i; {
				cursor, list = b.Watch(t.Context(), cursor)
			}
		}
		waited := b.While("1")
		if waited.Err() != nil || b.While("2").Err() == nil {
			t.Errorf("%s: %v, and of none %v", name, waited.Err(), b.While("2").Err())
		}
		if name == "all have gone" {
			leaveFirst()
			for cursor, list := b.Watch(t.Context(), 0); list[0].Count > 1; {
				cursor, list = b.Watch(t.Context(), cursor)
			}
			if waited.Err() != nil {
				t.Errorf("%s: one still waits", name)
			}
		}
		end(b, leaveFirst, leaveSecond)
		<-waited.Done()
		leaveFirst()
		leaveSecond()
	}
}
