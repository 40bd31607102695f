//go:build linux || darwin

package gate_test

import (
	"context"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/rescue"
	"github.com/countersign-app/countersign/backend/store"
)

// TestPanics: what makes us panic anywhere on its way is denied and recorded as
// that, runs nothing, holds nothing back, and the next request is served.
func TestPanics(t *testing.T) {
	b := newBench(t)
	one := b.script("one", "echo one")
	b.edit(func(d *store.Document) error {
		d.Add("*", approval.Entry{Pattern: one})
		for _, cat := range []string{"/bin/cat", "/usr/bin/cat"} {
			d.Add("*", approval.Entry{Pattern: cat})
		}
		return nil
	})
	text := approval.Request{Command: []string{"bash", "-c", "one && { one; } | cat"}, Cwd: b.dir, Who: approval.Ours}
	for name, arm := range map[string]func(boom func()){
		"at the question":  func(boom func()) { b.onEvent = map[approval.EventKind]func(){approval.EventAsked: boom} },
		"at the start":     func(boom func()) { b.onEvent = map[approval.EventKind]func(){approval.EventStarted: boom} },
		"before a program": func(boom func()) { b.afterCheck = boom },
	} {
		t.Run(name, func(t *testing.T) {
			b.onEvent, b.afterCheck = nil, nil
			defer func() { b.onEvent, b.afterCheck = nil, nil }()
			before := rescue.Caught()
			arm(func() { panic("secret") })
			req := text
			if name == "at the question" {
				req.Command = []string{"bash", "-c", "one; nothing-of-that-name"}
			}
			got := b.Run(context.Background(), req)
			if got.Denied == nil || got.Denied.Reason != approval.ReasonInternal || got.Denied.Code != approval.CodeUnavailable || got.Success() {
				t.Fatalf("%+v", got)
			}
			if rescue.Caught() == before {
				t.Error("it was not counted")
			}
			if row := b.row(got.Denied.RunID); row.Reason != approval.ReasonInternal || row.State != history.Denied && row.State != history.Done {
				t.Errorf("recorded as %s %s", row.State, row.Reason)
			}
			b.onEvent, b.afterCheck = nil, nil
			if n := len(b.runner.Running()); n != 0 {
				t.Errorf("%d run on", n)
			}
			if got := b.Run(context.Background(), approval.Request{Command: []string{b.path("bin/one")}, Cwd: b.dir, Who: approval.Ours}); string(got.Stdout) != "one\n" {
				t.Errorf("the next one: %+v", got)
			}
		})
	}
	b.onEvent = map[approval.EventKind]func(){approval.EventAsked: func() { panic("secret") }}
	call := b.call("create_issue")
	call.Server = "github"
	if got := b.evaluate(call); got != "deny internal-error" {
		t.Errorf("a call of a tool: %s", got)
	}
	if d, answered := b.Decide(context.Background(), approval.Request{Command: []string{"touch", "x"}, Cwd: b.dir, Who: approval.Theirs}, nil); d != approval.DecisionDeny || !answered {
		t.Errorf("a request: %s %v", d, answered)
	}
}
