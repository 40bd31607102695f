//go:build linux || darwin

package host

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/store"
)

var errNotYou = errors.New("macOS did not recognize you")

// waits puts a question and returns it as it is shown, and the answer to come.
func (b *bench) waits(command ...string) (approval.Prompt, pending.Shown, <-chan answer) {
	b.t.Helper()
	done := make(chan answer, 1)
	go func() {
		done <- b.ask(context.Background(), approval.Request{Command: command, Cwd: b.path("work"), AgentID: "main"})
	}()
	var p approval.Prompt
	eventually(b.t, "it asks", func() bool {
		list := b.Waiting()
		if len(list) == 1 && !list[0].CallerGone {
			p = list[0]
		}
		return p.ID != ""
	})
	return p, pending.Shown{Digest: p.Digest(), Count: p.Count}, done
}

// Every way to say yes needs the person where the policy wants that, and none
// to say no does.
func TestEveryYesIsConfirmed(t *testing.T) {
	b := newBench(t)
	b.askers.always = true
	_, err := b.Update(func(d *store.Document) error {
		d.Defaults.Ask = approval.AskOnMiss
		return d.Set("main", "presence", "always")
	})
	must(t, err)
	yes := approval.Answer{Decision: approval.AllowOnce, By: "panel"}
	ways := map[string]func(p approval.Prompt, s pending.Shown) error{
		"answer": func(p approval.Prompt, s pending.Shown) error { return b.Answer(p.ID, s, yes) },
		"always": func(p approval.Prompt, s pending.Shown) error {
			return b.Answer(p.ID, s, approval.Answer{Decision: approval.AllowAlways, By: "panel"})
		},
		"one": func(p approval.Prompt, s pending.Shown) error { return b.AllowOne(p.ID, s, yes) },
		"many": func(p approval.Prompt, s pending.Shown) error {
			return b.AnswerMany([]pending.Reply{{ID: p.ID, Shown: s, Decision: approval.AllowOnce}}, yes)[0]
		},
		"again": func(p approval.Prompt, s pending.Shown) error { return b.AllowAgain(p.ID, s, yes) },
		"call": func(p approval.Prompt, s pending.Shown) error {
			return b.call("pending.answer", map[string]any{"id": p.ID, "digest": s.Digest, "count": s.Count, "decision": "allow-once"}, nil)
		},
	}
	p, s, done := b.waits("touch", "never")
	for name, way := range ways {
		b.opt.Confirm = nil
		if err := way(p, s); err == nil || !strings.Contains(err.Error(), "cannot ask for them") {
			t.Errorf("%s where nobody can be asked: %v", name, err)
		}
		asked := 0
		b.opt.Confirm = func(what string, agents []string) error {
			if asked++; what != "allow “touch never”" || !slices.Equal(agents, []string{"main"}) {
				t.Errorf("%s: asked to %s for %q", name, what, agents)
			}
			return errNotYou
		}
		if err := way(p, s); err == nil || !strings.Contains(err.Error(), errNotYou.Error()) || asked != 1 {
			t.Errorf("%s of somebody else: %v, asked %d times", name, err, asked)
		}
	}
	if n := len(b.Standing()); n != 0 || len(done) != 0 {
		t.Fatalf("%d answers stand, %d came", n, len(done))
	}
	must(t, b.Answer(p.ID, s, approval.Answer{Decision: approval.DecisionDeny, By: "panel"}))
	if got := (<-done).String(); got != "refused user-denied" {
		t.Error(got)
	}
	b.opt.Confirm = func(string, []string) error { return nil }
	p, s, done = b.waits("touch", "it")
	must(t, b.Answer(p.ID, s, yes))
	if got := (<-done).String(); got != "code 0" {
		t.Error(got)
	}
}

// What was shown binds, whatever happens while the person is asked who they
// are.
func TestConfirmedTooLate(t *testing.T) {
	b := newBench(t)
	b.askers.always = true
	_, err := b.Update(func(d *store.Document) error {
		d.Defaults.Ask = approval.AskOnMiss
		return d.Set("", "presence", "always")
	})
	must(t, err)
	p, s, done := b.waits("touch", "it")
	b.opt.Confirm = func(string, []string) error {
		_, err := b.StopEverything("panel")
		return err
	}
	if err := b.Answer(p.ID, s, approval.Answer{Decision: approval.AllowOnce, By: "panel"}); !errors.Is(err, pending.ErrUnknown) {
		t.Errorf("a yes after everything was stopped: %v", err)
	}
	if got := (<-done).String(); got != "refused user-denied" {
		t.Error(got)
	}
}

// Only a high risk needs the person where the policy says so.
func TestRiskyYesIsConfirmed(t *testing.T) {
	b := newBench(t)
	b.askers.always = true
	var asked []string
	b.opt.Confirm = func(what string, _ []string) error {
		asked = append(asked, what)
		return nil
	}
	_, err := b.Update(func(d *store.Document) error {
		d.Defaults.Ask = approval.AskOnMiss
		return d.Set("", "presence", "risky")
	})
	must(t, err)
	for _, command := range [][]string{{"touch", "a"}, {"rm", "-rf", "/nowhere/at/all"}} {
		p, s, done := b.waits(command...)
		must(t, b.Answer(p.ID, s, approval.Answer{Decision: approval.AllowOnce, By: "panel"}))
		<-done
	}
	if !slices.Equal(asked, []string{"allow “rm -rf /nowhere/at/all”"}) {
		t.Errorf("asked for %q", asked)
	}
}

// An entry is a yes, too: where one has to be confirmed, what loosens has to be.
// What tightens has not.
func TestLooseningIsConfirmed(t *testing.T) {
	b := newBench(t)
	b.askers.always = true
	_, err := b.Update(func(d *store.Document) error {
		d.Defaults.Ask = approval.AskOnMiss
		return d.Set("other", "presence", "risky")
	})
	must(t, err)
	_, _, done := b.waits("touch", "it")
	entry := approval.Entry{Pattern: "/usr/bin/touch"}
	edits := map[string]func() error{
		"an entry": func() error {
			_, err := b.Update(func(d *store.Document) error { d.Add("main", entry); return nil })
			return err
		},
		"security": func() error {
			_, err := b.Update(func(d *store.Document) error { return d.Set("", "security", "full") })
			return err
		},
		"presence": func() error {
			_, err := b.Update(func(d *store.Document) error { return d.Set("other", "presence", "") })
			return err
		},
		"entries.add": func() error { return b.call("entries.add", map[string]any{"agentId": "main", "entry": entry}, nil) },
		"policy.set":  func() error { return b.call("policy.set", map[string]any{"field": "security", "value": "full"}, nil) },
		"an edit":     func() error { return b.AcceptEdit("any") },
	}
	before := b.store.Snapshot().Hash
	refused := func(name string, edit func() error) {
		t.Helper()
		b.opt.Confirm = nil
		if err := edit(); err == nil || !strings.Contains(err.Error(), "cannot ask for them") {
			t.Errorf("%s where nobody can be asked: %v", name, err)
		}
		b.opt.Confirm = func(string, []string) error { return errNotYou }
		if err := edit(); err == nil || !strings.Contains(err.Error(), errNotYou.Error()) {
			t.Errorf("%s by somebody else: %v", name, err)
		}
	}
	for name, edit := range edits {
		refused(name, edit)
	}
	held := b.holds(func(d *store.Document) error { return d.Set("", "security", "full") })
	refused("policy.accept", func() error { return b.call("policy.accept", map[string]any{"hash": held.Hash}, nil) })
	must(t, b.store.Reject(held.Hash))
	if b.store.Snapshot().Hash != before || len(done) != 0 {
		t.Fatal("something was edited, or the question answered")
	}
	_, err = b.Update(func(d *store.Document) error { d.Deny("", approval.DenyRule{Pattern: "wget"}); return nil })
	must(t, err)
	var asked []string
	b.opt.Confirm = func(what string, agents []string) error {
		asked = append(asked, what+" "+strings.Join(agents, " "))
		return nil
	}
	must(t, edits["an entry"]())
	if got := (<-done).String(); got != "code 0" || !slices.Equal(asked, []string{"loosen the policy *"}) {
		t.Errorf("%s, asked to %q", got, asked)
	}
}

// An edit that waits is taken by nobody else either.
func TestAcceptNeedsPresence(t *testing.T) {
	b := newBench(t)
	b.opt.OperateAnyone = true
	b.mustSet(t, "presence", "always")
	held := b.looserFile(t)
	take := func() error { return b.call("policy.accept", map[string]string{"hash": held.Hash}, nil) }
	for _, confirm := range []func(string, []string) error{nil, func(string, []string) error { return errNotYou }} {
		b.opt.Confirm = confirm
		if take() == nil || b.Held() == nil {
			t.Fatal("an edit was accepted")
		}
	}
	b.opt.Confirm = func(string, []string) error { return nil }
	must(t, take())
}

// What is confirmed is what was shown to loosen: an edit that loosens more when
// it is made is confirmed again.
func TestConfirmedEditStays(t *testing.T) {
	b := newBench(t)
	_, err := b.Update(func(d *store.Document) error { return d.Set("", "presence", "always") })
	must(t, err)
	patterns := []string{"/opt/a", "/opt/b", "/opt/b"}
	asked := 0
	b.opt.Confirm = func(string, []string) error { asked++; return nil }
	_, err = b.Update(func(d *store.Document) error {
		d.Add("main", approval.Entry{Pattern: patterns[asked]})
		return nil
	})
	must(t, err)
	if list := b.store.Snapshot().Policy("main").Allowlist; asked != 2 || list[len(list)-1].Pattern != "/opt/b" {
		t.Errorf("asked %d times, then %+v", asked, list)
	}
}
