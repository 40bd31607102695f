//go:build linux || darwin

package host

import (
	"context"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

// TestADenialStands: a no over the socket holds for the same request for a while,
// unless its person says otherwise, and no yes has such a time.
func TestADenialStands(t *testing.T) {
	for _, test := range []struct {
		name     string
		params   map[string]any
		refused  bool
		stands   time.Duration // 0: the same is asked about
		answered bool          // tells until when
	}{
		{"nothing said", map[string]any{"decision": "deny"}, false, 10 * time.Minute, true},
		{"a time", map[string]any{"decision": "deny", "for": "2h"}, false, 2 * time.Hour, true},
		{"the session", map[string]any{"decision": "deny", "for": "session"}, false, 12 * time.Hour, false},
		{"once", map[string]any{"decision": "deny", "for": "once"}, false, 0, false},
		{"no time", map[string]any{"decision": "deny", "for": "soon"}, true, 0, false},
		{"a time before", map[string]any{"decision": "deny", "for": "-10m"}, true, 0, false},
		{"no time at all", map[string]any{"decision": "deny", "for": "0s"}, true, 0, false},
		{"longer than anything", map[string]any{"decision": "deny", "for": "721h"}, true, 0, false},
		{"of a yes", map[string]any{"decision": "allow-once", "for": "10m"}, true, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			b.askers.always = true
			_, err := b.Update(func(d *store.Document) error { return d.Set("main", "ask", "on-miss") })
			must(t, err)
			done := make(chan answer, 1)
			go func() {
				done <- b.ask(context.Background(), approval.Request{Command: []string{"touch", "never"}, Cwd: b.path("work"), AgentID: "main", SessionKey: "s"})
			}()
			var p approval.Prompt
			eventually(t, "it asks", func() bool {
				if list := b.Waiting(); len(list) == 1 {
					p = list[0]
				}
				return p.ID != ""
			})
			test.params["id"], test.params["digest"], test.params["count"] = p.ID, p.Digest(), p.Count
			var until DeniedUntil
			if err := b.call("pending.answer", test.params, &until); (err != nil) != test.refused {
				t.Fatalf("%v", err)
			}
			if test.refused {
				must(t, b.call("pending.answer", map[string]any{"id": p.ID, "decision": "deny", "for": "once"}, nil))
			}
			<-done
			list := b.Standing()
			if (len(list) == 1) != (test.stands > 0) || (until.Until != 0) != test.answered {
				t.Fatalf("%+v %+v", list, until)
			}
			if test.stands == 0 {
				return
			}
			if left := time.Until(time.UnixMilli(list[0].Until)); left > test.stands || left < test.stands-time.Minute {
				t.Errorf("it stands for %s", left)
			}
			if err := b.call("standing.forget", map[string]string{"id": "x"}, nil); err == nil {
				t.Error("what is not there was forgotten")
			}
			must(t, b.call("standing.forget", map[string]string{"id": list[0].ID}, nil))
			if left := b.Standing(); len(left) != 0 {
				t.Errorf("%+v", left)
			}
		})
	}
}

// TestForgetADenial: to be asked again about what was denied takes the person, and a
// no of theirs leaves it as it is.
func TestForgetADenial(t *testing.T) {
	b, g := windowed(t)
	b.askers.always = true
	b.mustSet(t, "ask", "on-miss")
	p, shown, done := b.waits("touch", "never")
	must(t, b.call("pending.answer", map[string]any{"id": p.ID, "digest": shown.Digest, "count": shown.Count, "decision": "deny"}, nil))
	<-done
	forget := func() error { return b.call("standing.forget", map[string]string{"id": b.Standing()[0].ID}, nil) }
	before := g.count()
	g.answer = refuse
	if err := forget(); err == nil || g.count() != before+1 || len(b.Standing()) != 1 {
		t.Errorf("nobody accepted it: %v, asked %d times, %+v", err, g.count()-before, b.Standing())
	}
	b.unwanted = unwanted{}
	g.answer = accept
	if err := forget(); err != nil || g.count() != before+2 || len(b.Standing()) != 0 {
		t.Errorf("it was accepted: %v, asked %d times, %+v", err, g.count()-before, b.Standing())
	}
}
