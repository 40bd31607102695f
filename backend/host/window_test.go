//go:build linux || darwin

package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/family"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/store"
)

// glass is a window of a test: a person who is shown changes and answers each.
type glass struct {
	mu     sync.Mutex
	shown  []Change
	answer func(context.Context, Change) (string, error)
}

func (g *glass) ask(ctx context.Context, c Change) (string, error) {
	g.mu.Lock()
	g.shown = append(g.shown, c)
	answer := g.answer
	g.mu.Unlock()
	return answer(ctx, c)
}

func (g *glass) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.shown)
}

func accept(_ context.Context, c Change) (string, error) { return c.ID, nil }
func refuse(context.Context, Change) (string, error)     { return "", nil }
func wait(ctx context.Context, _ Change) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

var zsh = family.Seat{Terminal: 34816, Session: 21, Shell: "zsh", In: "Terminal"}

// windowed is a host with a panel; calls come from a seat.
func windowed(t *testing.T, allowed ...string) (*bench, *glass) {
	t.Helper()
	b, g := newBench(t, allowed...), &glass{answer: accept}
	b.opt.Panel, b.opt.AskPerson = true, g.ask
	b.seat = func(approval.Peer) (family.Seat, error) { return zsh, nil }
	return b, g
}

// security is what holds for agent main.
func (b *bench) security() approval.Security { return b.Policy().Policy("main").Security }

// TestEverydayUse counts what a person is asked in a day: reading and tightening
// never, each loosening once.
func TestEverydayUse(t *testing.T) {
	b, g := windowed(t, "/bin/echo")
	b.askers.always = true
	b.mustSet(t, "ask", "on-miss")
	id := func(p approval.Prompt) map[string]any { return map[string]any{"id": p.ID} }
	agent := map[string]string{"agentId": "main"}
	command := map[string]any{"agentId": "main", "command": []string{"/bin/echo"}, "cwd": b.home}
	quiet := []struct {
		method string
		params any
	}{
		{"status", nil}, {"pending.list", nil}, {"policy.get", agent}, {"explain", command}, {"denylist", command}, {"prepare", command},
		{"history.list", struct{}{}}, {"history.verify", struct{}{}}, {"running.list", nil}, {"metrics", nil}, {"policy.file", nil},
		{"which", map[string]any{"bins": []string{"echo"}}},
		{"policy.set", set("ask", "always")}, {"policy.set", set("security", "deny")}, {"policy.set", set("askFallback", "deny")},
		{"entries.add", map[string]any{"agentId": "main", "deny": map[string]string{"pattern": "rm"}}},
		{"leases.end", map[string]bool{"all": true}}, {"pause", struct{}{}}, {"stop", struct{}{}},
	}
	for _, row := range quiet {
		if err := b.call(row.method, row.params, nil); err != nil {
			t.Errorf("%s: %v", row.method, err)
		}
	}
	b.Resume()
	b.mustSet(t, "security", "allowlist")
	b.mustSet(t, "ask", "on-miss")
	p, shown, done := b.waits("touch", "never")
	must(t, b.call("pending.hold", id(p), nil))
	must(t, b.call("pending.answer", map[string]any{"id": p.ID, "digest": shown.Digest, "count": shown.Count, "decision": "deny"}, nil))
	<-done
	if g.count() != 0 {
		t.Fatalf("reading and tightening asked: %+v", g.shown)
	}
	for _, row := range []struct {
		method string
		params any
	}{
		{"policy.set", set("security", "full")}, {"resume", nil}, {"environment.read", nil},
		{"entries.add", map[string]any{"agentId": "main", "entry": map[string]string{"pattern": "/usr/bin/true"}}},
	} {
		before := g.count()
		if err := b.call(row.method, row.params, nil); err != nil || g.count() != before+1 {
			t.Errorf("%s: %v, asked %d times", row.method, err, g.count()-before)
		}
	}
	must(t, b.call("entries.remove", map[string]string{"agentId": "main", "which": "/usr/bin/true"}, nil))
	if g.count() != 4 {
		t.Errorf("taking an entry away asked")
	}
}

// TestWindowShowsTheDifference: line by line, with what it takes back apart, who
// wants it, and the hashes before and after.
func TestWindowShowsTheDifference(t *testing.T) {
	b, g := windowed(t)
	_, err := b.Update(func(d *store.Document) error {
		d.Deny("main", approval.DenyRule{Pattern: "curl"})
		return nil
	})
	must(t, err)
	before, err := b.Policy().Document.Meaning()
	must(t, err)
	must(t, b.editAs(func(d *store.Document) error {
		d.Agent("main").Denylist = nil
		return d.Set("main", "security", "full")
	}))
	after, err := b.Policy().Document.Meaning()
	must(t, err)
	c := g.shown[0]
	if c.Who != "zsh in Terminal" || len(c.Lines) != 1 || !strings.Contains(c.Lines[0], "full") || len(c.Undoes) != 1 || !strings.Contains(c.Undoes[0], "curl") {
		t.Errorf("it shows %+v", c)
	}
	if c.Base != before || c.Result != after || before == after || c.Process == "" || c.Until.Sub(c.Asked) != confirmTime {
		t.Errorf("it is about %+v, want %s and %s", c, before, after)
	}
}

// editAs edits the policy as a call of the command line would.
func (b *bench) editAs(edit func(*store.Document) error) error {
	_, err := b.update(context.Background(), ipc.Call{Method: "policy.set"}, "", edit)
	return err
}

// TestOnlyWhatWasShown: a click is good for one change, as it was shown, while the
// terminal still waits.
func TestOnlyWhatWasShown(t *testing.T) {
	for name, row := range map[string]struct {
		answer func(*bench) func(context.Context, Change) (string, error)
		want   error
	}{
		"a no": {func(*bench) func(context.Context, Change) (string, error) { return refuse }, errUnwanted},
		"a click on another change": {func(*bench) func(context.Context, Change) (string, error) {
			return func(context.Context, Change) (string, error) { return "another", nil }
		}, errUnwanted},
		"the base changed": {func(b *bench) func(context.Context, Change) (string, error) {
			return func(_ context.Context, c Change) (string, error) {
				_, err := b.Update(func(d *store.Document) error {
					d.Deny("other", approval.DenyRule{Pattern: "rm"})
					return nil
				})
				return c.ID, err
			}
		}, errOtherwise},
		"it left its terminal": {func(b *bench) func(context.Context, Change) (string, error) {
			return func(_ context.Context, c Change) (string, error) {
				b.seat = func(approval.Peer) (family.Seat, error) { return family.Seat{}, family.ErrNotInFront }
				return c.ID, nil
			}
		}, errPanel},
	} {
		b, g := windowed(t)
		g.answer = row.answer(b)
		err := b.editAs(func(d *store.Document) error { return d.Set("main", "security", "full") })
		if !errors.Is(err, row.want) || b.security() == approval.SecurityFull {
			t.Errorf("%s: %v, security %s", name, err, b.security())
		}
		if g.count() != 1 {
			t.Errorf("%s: asked %d times", name, g.count())
		}
	}
	// When an entry was used last says nothing about what may run.
	b, g := windowed(t)
	_, err := b.Update(func(d *store.Document) error {
		d.Add("main", approval.Entry{ID: "e", Pattern: "/usr/bin/true"})
		return nil
	})
	must(t, err)
	g.answer = func(_ context.Context, c Change) (string, error) {
		_, err := b.Update(func(d *store.Document) error { d.Agent("main").Allowlist[0].LastUsedAt++; return nil })
		return c.ID, err
	}
	if err := b.editAs(func(d *store.Document) error { return d.Set("main", "security", "full") }); err != nil {
		t.Errorf("an entry was used meanwhile: %v", err)
	}
}

// TestNotInTheWindow: what is no seat, a yes to a question, and where the window
// cannot ask, stay for the person to do there.
func TestNotInTheWindow(t *testing.T) {
	b, g := windowed(t)
	loosen := func() error {
		return b.editAs(func(d *store.Document) error { return d.Set("main", "security", "full") })
	}
	b.seat = func(approval.Peer) (family.Seat, error) { return family.Seat{}, family.ErrBetween }
	if err := loosen(); !errors.Is(err, errPanel) {
		t.Errorf("no seat: %v", err)
	}
	b.seat = func(approval.Peer) (family.Seat, error) { return zsh, nil }
	if _, err := b.person(context.Background(), ipc.Call{Method: "pending.answer"}, difference{lines: []string{"Allows once"}}); !errors.Is(err, errPanel) {
		t.Errorf("a yes: %v", err)
	}
	many := difference{}
	for i := range maxShown + 1 {
		many.lines = append(many.lines, fmt.Sprint(i))
	}
	if _, err := b.person(context.Background(), ipc.Call{Method: "policy.set"}, many); !errors.Is(err, errTooLong) {
		t.Errorf("too many lines: %v", err)
	}
	if g.count() != 0 {
		t.Errorf("the window showed %+v", g.shown)
	}
	b.opt.AskPerson = nil
	if err := loosen(); !errors.Is(err, errPanel) {
		t.Errorf("no hook: %v", err)
	}
	if b.security() == approval.SecurityFull {
		t.Error("it was loosened")
	}
}

// TestChangeGoesWithItsConnection: nothing is left on the panel of a command line
// that has gone, and nothing of it counts.
func TestChangeGoesWithItsConnection(t *testing.T) {
	b, g := windowed(t)
	over := make(chan struct{})
	g.answer = func(ctx context.Context, c Change) (string, error) {
		<-ctx.Done()
		close(over)
		return c.ID, nil // a click that comes too late
	}
	client, err := ipc.Dial(b.opt.State)
	must(t, err)
	ended := make(chan error, 1)
	go func() {
		ended <- client.Call(context.Background(), b.key, "policy.set", set("security", "full"), nil)
	}()
	eventually(t, "the window shows it", func() bool { return g.count() == 1 })
	client.Close()
	<-over
	<-ended
	eventually(t, "it counts as unwanted", func() bool { return errors.Is(b.unwanted.hears(zsh, time.Now()), errQuiet) })
	if b.security() == approval.SecurityFull {
		t.Error("it was loosened")
	}
}

// TestUnwanted: after a no, silence or a change that went, its terminal is not
// heard for ten minutes; after three in a row none is.
func TestUnwanted(t *testing.T) {
	b, g := windowed(t)
	loosen := func() error {
		return b.editAs(func(d *store.Document) error { return d.Set("main", "security", "full") })
	}
	at := func(session int) {
		b.seat = func(approval.Peer) (family.Seat, error) { return family.Seat{Terminal: 34816, Session: session}, nil }
	}
	later := func() {
		for place, until := range b.unwanted.until {
			b.unwanted.until[place] = until.Add(-quietTime)
		}
	}
	at(1)
	g.answer = refuse
	for i, want := range []error{errUnwanted, errQuiet, errQuiet} {
		if err := loosen(); !errors.Is(err, want) {
			t.Errorf("try %d: %v", i, err)
		}
	}
	later()
	g.answer = accept
	if err := loosen(); err != nil {
		t.Errorf("after ten minutes: %v", err)
	}
	b.mustSet(t, "security", "deny")
	g.answer = func(context.Context, Change) (string, error) { return "", errors.New("the panel is busy") }
	if err := loosen(); err == nil || errors.Is(err, errUnwanted) {
		t.Errorf("not shown: %v", err)
	}
	// An accepted one begins the row anew; other terminals count in it, too.
	g.answer = refuse
	for session := range maxUnwanted {
		at(session)
		if err := loosen(); !errors.Is(err, errUnwanted) {
			t.Errorf("terminal %d: %v", session, err)
		}
	}
	later()
	at(9)
	g.answer = accept
	if err := loosen(); !errors.Is(err, errShutOut) || b.security() == approval.SecurityFull {
		t.Errorf("after three: %v", err)
	}
	must(t, b.editAs(func(d *store.Document) error { return d.Set("main", "ask", "always") }))
}

// TestSilence: what nobody answers in its time was not wanted.
func TestSilence(t *testing.T) {
	b, g := windowed(t)
	g.answer = wait
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.askWindow(ctx, ipc.Call{}, difference{lines: []string{"x"}}); !errors.Is(err, errUnwanted) {
		t.Errorf("%v", err)
	}
	if deadline, limited := func() (at time.Time, ok bool) {
		g.answer = func(ctx context.Context, c Change) (string, error) { at, ok = ctx.Deadline(); return c.ID, nil }
		b.unwanted.until = nil
		must(t, b.askWindow(context.Background(), ipc.Call{}, difference{lines: []string{"x"}}))
		return at, ok
	}(); !limited || time.Until(deadline) > confirmTime {
		t.Error("it may wait for ever")
	}
}

// TestAcceptsTheEditThatWasShown: policy.accept shows what waits, and takes
// nothing else.
func TestAcceptsTheEditThatWasShown(t *testing.T) {
	b, g := windowed(t)
	doc, err := ReadDocument(b.opt.State, b.home)
	must(t, err)
	must(t, doc.Set("main", "security", "full"))
	text, err := doc.Encode()
	must(t, err)
	must(t, os.WriteFile(b.opt.State.Approvals(), text, 0o600))
	eventually(t, "an edit waits", func() bool { return b.Held() != nil })
	held := *b.Held()
	must(t, b.call("policy.accept", map[string]string{"hash": held.Hash}, nil))
	if !slices.Equal(g.shown[0].Lines, held.Loosens) || g.shown[0].Result != held.Hash || b.security() != approval.SecurityFull {
		t.Errorf("it shows %+v; security is %s", g.shown[0], b.security())
	}
}
