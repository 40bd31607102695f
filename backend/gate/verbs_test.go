//go:build linux || darwin

package gate_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

// ourselves puts our own program into a bench under other names: by a link, as a
// copy, and in a script that starts it.
func (b *bench) ourselves() {
	b.t.Helper()
	text, err := os.ReadFile(b.path("bin/countersign"))
	err = errors.Join(err, writeProgram(b.path("bin/copy"), text), os.Symlink("countersign", b.path("bin/link")))
	if err != nil {
		b.t.Fatal(err)
	}
}

// TestVerbsDenied: a verb that operates is denied whatever policy or a person
// says, and nobody is asked.
func TestVerbsDenied(t *testing.T) {
	t.Parallel()
	entries := []approval.Entry{{Pattern: "*"}, {Pattern: "bash"}, {Pattern: "countersign"}, {Pattern: "copy"}, {Pattern: "link"}, {Pattern: "env"}}
	full := func(d *store.Document) error {
		d.Defaults.Security, d.Defaults.AskFallback = approval.SecurityFull, approval.SecurityFull
		return nil
	}
	for _, security := range []string{"an entry", "full"} {
		b := newBench(t, entries...)
		b.ourselves()
		b.person(once, nil)
		if security == "full" {
			b.edit(full)
		}
		for _, words := range [][]string{
			{"countersign", "policy", "set", "security", "full"}, {"countersign", "stop"}, {b.path("bin/countersign"), "approvals", "approve", "1"},
			{"copy", "--json", "stop"}, {b.path("bin/link"), "stop"}, {"env", "countersign", "stop"}, {"bash", "-c", "countersign stop"},
			{"bash", "-c", "C=copy; $C stop; echo done"}, {"bash", "-c", "true && (link resume)"}, {"bash", "-c", "env -i bin/copy stop >out"},
			{"countersign", "run", "--", "countersign", "stop"}, {"python3", "-c", "import os; os.system('countersign stop')"},
		} {
			got := outcome(b.Run(context.Background(), b.request(words...)))
			if got != "denied floor" {
				t.Errorf("%s: %q: %s", security, words, got)
			}
		}
		if n := b.asked.Load(); n > 0 {
			t.Errorf("%s: a person was asked %d times", security, n)
		}
	}
}

// TestVerbsThatRead: what only reads goes the way of other programs.
func TestVerbsThatRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "countersign"})
	b.ourselves()
	b.person(no, nil)
	b.want([]string{"countersign", "policy", "show"}, `code 0 "countersign policy show\n"`)
	b.want([]string{"copy", "policy", "show"}, "denied user-denied")
	b.want([]string{"bash", "-c", "countersign history list && countersign version"}, `code 0 "countersign history list\ncountersign version\n"`)
}

// TestVerbsThatAsk: `run` passes where what it would run passes, and `run
// --approved` under an id that waits for this agent.
func TestVerbsThatAsk(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "hello"})
	b.ourselves()
	b.script("hello", "echo hello")
	b.person(no, nil)
	b.want([]string{"countersign", "run", "hello"}, `code 0 "countersign run `+b.path("bin/hello")+`\n"`)
	b.want([]string{"countersign", "run", "touch", "x"}, "denied user-denied")
	b.want([]string{"countersign", "run", "--gateway", "ws://x", "hello"}, "denied user-denied")

	held := b.call("bash_execute", "command", "hello")
	held.Who = approval.Ours
	o, err := b.Evaluate(context.Background(), held, approval.Peer{})
	if err != nil || o.Approved == "" {
		t.Fatal(said(o), err)
	}
	rewritten := b.call("bash_execute", "command", "countersign run --approved "+o.Approved)
	for _, c := range []struct{ agent, id, want string }{
		{"main", o.Approved, "allow"}, {"other", o.Approved, "deny replay"}, {"main", "invented", "deny replay"},
	} {
		rewritten.AgentID = c.agent
		rewritten.Args = b.call("bash_execute", "command", "countersign run --approved "+c.id).Args
		if got := b.evaluate(rewritten); got != c.want {
			t.Errorf("%s runs %s: %s, want %s", c.agent, c.id, got, c.want)
		}
	}
	b.DropApproved()
}
