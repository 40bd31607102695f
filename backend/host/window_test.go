//go:build linux || darwin

package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/config"
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
// never, each loosening once. Every method of the socket is one of the three.
func TestEverydayUse(t *testing.T) {
	b, g := windowed(t, "/bin/echo")
	b.askers.always = true
	b.mustSet(t, "ask", "on-miss")
	left := maps.Clone(methods)
	// Agents ask with these, bridges say what others answered, and the rest waits,
	// opens the window or takes what a gateway signed.
	for _, name := range []string{
		"tool.decide", "approved.run", "pending.elicited", "pending.escalated", "pending.own", "pending.watch", "window.open",
		"policy.federate", "policy.propose", "tools.denied",
	} {
		delete(left, name)
	}
	calls := func(method string, params any, asked int) {
		t.Helper()
		delete(left, method)
		before := g.count()
		if err := b.call(method, params, nil); err != nil || g.count() != before+asked {
			t.Errorf("%s %v: %v, asked %d times, want %d", method, params, err, g.count()-before, asked)
		}
	}
	agent := map[string]string{"agentId": "main"}
	command := map[string]any{"agentId": "main", "command": []string{"/bin/echo"}, "cwd": b.home}
	entry := map[string]any{"agentId": "main", "entry": map[string]string{"pattern": "/usr/bin/true"}}
	denial := map[string]any{"agentId": "main", "deny": map[string]string{"pattern": "rm"}}
	project := func(name string, no bool) any {
		return map[string]any{"project": approval.Project{Path: b.path(name), No: no}}
	}
	must(t, os.MkdirAll(b.opt.State.Charters(), 0o700))
	must(t, os.WriteFile(filepath.Join(b.opt.State.Charters(), "work.json5"), []byte(`{autoApprove: ["true"]}`), 0o600))
	_, sum, err := config.Charters{Dir: b.opt.State.Charters()}.Read("work")
	must(t, err)
	skill, err := SkillAt("", "/usr/bin/true")
	must(t, err)
	for _, row := range []struct {
		method string
		params any
		asked  int
	}{
		// Reading.
		{"status", nil, 0}, {"pending.list", nil, 0}, {"policy.get", agent, 0}, {"entries.list", nil, 0}, {"explain", command, 0}, {"tool.explain", map[string]any{"tool": "file_read", "cwd": b.home}, 0}, {"denylist", command, 0},
		{"prepare", command, 0}, {"history.list", struct{}{}, 0}, {"history.stops", struct{}{}, 0}, {"history.verify", struct{}{}, 0}, {"running.list", nil, 0},
		{"metrics", nil, 0}, {"policy.file", nil, 0}, {"standing.list", nil, 0}, {"which", map[string]any{"bins": []string{"echo"}}, 0},
		// Tightening.
		{"policy.set", set("ask", "always"), 0}, {"policy.set", set("security", "deny"), 0}, {"entries.add", denial, 0},
		{"leases.end", map[string]bool{"all": true}, 0}, {"pause", struct{}{}, 0}, {"stop", struct{}{}, 0},
		// Loosening.
		{"resume", nil, 1}, {"environment.read", nil, 1}, {"policy.set", set("security", "allowlist"), 1}, {"policy.set", set("ask", "on-miss"), 1},
		{"entries.add", entry, 1}, {"entries.remove", map[string]string{"agentId": "main", "which": "/usr/bin/true"}, 0},
		{"charters.use", map[string]any{"agentId": "main", "name": "work", "sha256": sum}, 1},
		{"charters.use", map[string]any{"agentId": "main", "name": "work", "drop": true}, 1},
		{"skills.use", map[string]any{"agentId": "main", "skill": skill}, 1}, {"skills.use", map[string]any{"agentId": "main", "drop": "true"}, 0},
		{"start.show", map[string]string{"start": "developer-tools"}, 0}, {"start.take", map[string]string{"start": "developer-tools"}, 1},
		{"projects.list", nil, 0}, {"projects.add", project("bin", false), 1}, {"projects.remove", map[string]string{"path": b.path("bin")}, 0},
		{"projects.add", project("bin", true), 0}, {"projects.remove", map[string]string{"path": b.path("bin")}, 1},
	} {
		calls(row.method, row.params, row.asked)
	}
	p, shown, done := b.waits("touch", "never")
	calls("pending.hold", map[string]any{"id": p.ID, "on": false}, 0)
	calls("pending.answer", map[string]any{"id": p.ID, "digest": shown.Digest, "count": shown.Count, "decision": "deny"}, 0)
	<-done
	calls("standing.forget", map[string]any{"id": b.Standing()[0].ID}, 1)
	for _, name := range []string{"policy.accept", "policy.reject", "policy.follow", "running.stop"} {
		delete(left, name) // of other tests
	}
	if len(left) != 0 {
		t.Errorf("say of these whether a person is asked: %v", slices.Sorted(maps.Keys(left)))
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
	mode := Line{Line: store.Line{Agent: "main", Kind: store.LineMode, Was: "allowlist/off", Is: "full/off"}, Word: Looser}
	denial := Line{Line: store.Line{Agent: "main", Kind: store.LineDenial, Denial: approval.DenyRule{Pattern: "curl"}}, Word: Undoes}
	if len(c.Lines) == 2 && c.Lines[1].By.In == "window" && time.Since(c.Lines[1].By.When) < patience {
		denial.By = c.Lines[1].By // it was just made
	}
	if c.Who != "zsh in Terminal" || !reflect.DeepEqual(c.Lines, []Line{mode, denial}) {
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
	if _, err := b.person(context.Background(), ipc.Call{Method: "pending.answer"}, difference{lines: sentences("Allows once")}); !errors.Is(err, errPanel) {
		t.Errorf("a yes: %v", err)
	}
	many := difference{}
	for i := range maxShown + 1 {
		many.lines = append(many.lines, sentences(fmt.Sprint(i))...)
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
	if err := b.askWindow(ctx, ipc.Call{}, difference{lines: sentences("x")}); !errors.Is(err, errUnwanted) {
		t.Errorf("%v", err)
	}
	if deadline, limited := func() (at time.Time, ok bool) {
		g.answer = func(ctx context.Context, c Change) (string, error) { at, ok = ctx.Deadline(); return c.ID, nil }
		b.unwanted.until = nil
		must(t, b.askWindow(context.Background(), ipc.Call{}, difference{lines: sentences("x")}))
		return at, ok
	}(); !limited || time.Until(deadline) > confirmTime {
		t.Error("it may wait for ever")
	}
}

// TestAcceptsTheEditThatWasShown: policy.accept shows what waits, and takes
// nothing else.
func TestAcceptsTheEditThatWasShown(t *testing.T) {
	b, g := windowed(t)
	_, err := b.Update(func(d *store.Document) error { d.Deny("main", approval.DenyRule{Pattern: "curl"}); return nil })
	must(t, err)
	held := b.holds(func(d *store.Document) error {
		d.Agent("main").Denylist = nil
		d.Deny("main", approval.DenyRule{Pattern: "rm"})
		return d.Set("main", "security", "full")
	})
	must(t, b.call("policy.accept", map[string]string{"hash": held.Hash}, nil))
	words := []Word{}
	for _, l := range g.shown[0].Lines {
		words = append(words, l.Word)
	}
	if !slices.Equal(words, []Word{Looser, Tighter, Undoes}) || !g.shown[0].InForce || g.shown[0].Result != held.Hash || b.security() != approval.SecurityFull {
		t.Errorf("it shows %+v; security is %s", g.shown[0], b.security())
	}
}

// TestNothingWaits: where no edit waits, nobody is asked about one.
func TestNothingWaits(t *testing.T) {
	b, g := windowed(t)
	for method, params := range map[string]any{"policy.accept": map[string]string{"hash": "any"}, "policy.reject": nil} {
		var refused *ipc.Error
		if err := b.call(method, params, nil); !errors.As(err, &refused) || refused.Code != ipc.CodeNothing || g.count() != 0 {
			t.Errorf("%s: %v, asked %d times", method, err, g.count())
		}
	}
}

// looserFile edits the policy file by hand: main may do everything, its denylist is
// gone, and "other" is to deny. It returns the edit, which waits.
func (b *bench) looserFile(t *testing.T) store.Held {
	t.Helper()
	must(t, os.WriteFile(b.opt.State.Approvals(), b.looserText(t), 0o600))
	eventually(t, "an edit waits", func() bool { return b.Held() != nil })
	return *b.Held()
}

func (b *bench) looserText(t *testing.T) []byte {
	t.Helper()
	doc, err := ReadDocument(b.opt.State, b.home)
	must(t, err)
	must(t, doc.Set("main", "security", "full"))
	must(t, doc.Set("other", "security", "deny"))
	doc.Agent("main").Denylist = nil
	doc.Deny("other", approval.DenyRule{Pattern: "wget"})
	text, err := doc.Encode()
	must(t, err)
	return text
}

// TestTakesNoEditThatNobodySaw: a click for an edit that is not there yet is no
// click for one that comes while the person looks.
func TestTakesNoEditThatNobodySaw(t *testing.T) {
	b, g := windowed(t)
	held := b.looserFile(t)
	must(t, b.RejectEdit(held.Hash))
	text := b.looserText(t)
	g.answer = func(_ context.Context, c Change) (string, error) {
		must(t, os.WriteFile(b.opt.State.Approvals(), text, 0o600))
		eventually(t, "an edit waits", func() bool { return b.Held() != nil })
		return c.ID, nil
	}
	if err := b.call("policy.accept", map[string]string{"hash": held.Hash}, nil); err == nil || b.security() == approval.SecurityFull {
		t.Errorf("%v: security is %s after %+v", err, b.security(), g.shown)
	}
}

// TestRejectShowsTheWayBack: what the edit denied and a rejection permits again is
// shown, and no other edit is turned down.
func TestRejectShowsTheWayBack(t *testing.T) {
	b, g := windowed(t)
	held := b.looserFile(t)
	reject := func() error { return b.call("policy.reject", nil, nil) }
	g.answer = func(_ context.Context, c Change) (string, error) {
		must(t, os.WriteFile(b.opt.State.Approvals(), append(b.looserText(t), '\n'), 0o600))
		eventually(t, "another edit waits", func() bool { return b.Held() != nil && b.Held().Hash != held.Hash })
		return c.ID, nil
	}
	if reject() == nil || b.Held() == nil {
		t.Error("an edit that nobody saw was turned down")
	}
	g.answer = accept
	must(t, reject())
	want := []string{
		"looser: Puts the policy that was accepted last in the place of the edit that waits",
		"looser other: Mode: Deny → Only listed",
		"undoes other: Removes denial: wget, any arguments",
	}
	for _, c := range g.shown {
		if got := asRead(c.Lines); !slices.Equal(got, want) {
			t.Errorf("it shows %q, want %q", got, want)
		}
	}
}

// holds has somebody else edit the policy file, which waits then.
func (b *bench) holds(edit func(*store.Document) error) store.Held {
	b.t.Helper()
	b.writes(edit)
	eventually(b.t, "an edit waits", func() bool { return b.Held() != nil })
	return *b.Held()
}

// writes edits the policy file as somebody else does.
func (b *bench) writes(edit func(*store.Document) error) {
	b.t.Helper()
	doc, err := ReadDocument(b.opt.State, b.home)
	must(b.t, err)
	must(b.t, edit(doc))
	text, err := doc.Encode()
	must(b.t, err)
	must(b.t, os.WriteFile(b.opt.State.Approvals(), text, 0o600))
}

// asRead are lines as a person reads them.
func asRead(lines []Line) (list []string) {
	for _, l := range lines {
		list = append(list, strings.TrimSpace(string(l.Word)+" "+l.Agent)+": "+l.What())
	}
	return list
}

// TestCharterIsShown: what a charter forbids is shown with it, as the policy names it
// by a hash.
func TestCharterIsShown(t *testing.T) {
	b, g := windowed(t)
	must(t, os.MkdirAll(b.opt.State.Charters(), 0o700))
	must(t, os.WriteFile(filepath.Join(b.opt.State.Charters(), "work.json5"), []byte(`{alwaysReject: ["rm"], autoApprove: ["true"]}`), 0o600))
	_, sum, err := config.Charters{Dir: b.opt.State.Charters()}.Read("work")
	must(t, err)
	must(t, b.call("charters.use", map[string]any{"agentId": "main", "name": "work", "sha256": sum}, nil))
	for _, want := range []string{`The charter work forbids ["rm"]`, "The charter work asks each time about nothing"} {
		if got := asRead(g.shown[0].Lines); !slices.Contains(got, "looser: "+want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}

// TestPauseIsNotGivenAway: a host that gives way to the app ends, and its pause
// would end with it.
func TestPauseIsNotGivenAway(t *testing.T) {
	b := newBench(t)
	ended := 0
	b.opt.GiveWay = func() { ended++ }
	must(t, b.call("pause", struct{}{}, nil))
	if err := b.call("window.open", struct{}{}, nil); err == nil || ended != 0 {
		t.Errorf("%v: it gave way %d times", err, ended)
	}
	b.Resume()
	if err := b.call("window.open", struct{}{}, nil); err != nil || ended != 1 {
		t.Errorf("%v: it gave way %d times", err, ended)
	}
}

// TestPresenceOnceAfterTheClick: the window asks, then the person shows once that
// it is them, where the policy wants that.
func TestPresenceOnceAfterTheClick(t *testing.T) {
	b, g := windowed(t)
	b.mustSet(t, "presence", "always")
	var asked []string
	var fails error
	b.opt.Confirm = func(what string, _ []string) error { asked = append(asked, what); return fails }
	loosen := func() error {
		return b.editAs(func(d *store.Document) error {
			d.Add("main", approval.Entry{Pattern: "/usr/bin/true", AddedAt: int64(g.count() + len(asked))}) // another each time
			return d.Set("main", "security", "full")
		})
	}
	if fails = errNotYou; !errors.Is(loosen(), errNotYou) || b.security() == approval.SecurityFull {
		t.Errorf("somebody else: security is %s", b.security())
	}
	fails = nil
	if err := loosen(); err != nil || b.security() != approval.SecurityFull {
		t.Errorf("%v, security is %s", err, b.security())
	}
	if g.count() != 2 || len(asked) != 2 {
		t.Errorf("for two tries the window asked %d times, and %d times for the person", g.count(), len(asked))
	}
}
