package gate_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/store"
)

// left sends a request whose caller hangs up, and returns its question.
func (b *bench) left(req approval.Request) approval.Prompt {
	b.t.Helper()
	p, hangUp, over := b.waits(req)
	hangUp()
	if r := <-over; r.Denied == nil || r.Denied.Reason != approval.ReasonApprovalCancelled || !strings.Contains(judge.Message(*r.Denied), string(approval.EndingNobody)) {
		b.t.Errorf("who hung up is told %+v", r.Denied)
	}
	return p
}

// waits sends a request and returns its question when it waits, how to hang up,
// and where its result will be.
func (b *bench) waits(req approval.Request) (approval.Prompt, func(), <-chan approval.Result) {
	b.t.Helper()
	had := map[string]bool{}
	for _, p := range b.pending.List() {
		had[p.ID] = true
	}
	req.Arrived = time.Now() // whatever the gate's clock says
	ctx, hangUp := context.WithCancel(b.t.Context())
	over := make(chan approval.Result, 1)
	go func() { over <- b.Run(ctx, req) }()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		for _, p := range b.pending.List() {
			if !had[p.ID] {
				return p, hangUp, over
			}
		}
		if len(over) > 0 {
			break
		}
	}
	b.t.Fatalf("it does not ask: %s", outcome(<-over))
	return approval.Prompt{}, nil, nil
}

func shownOf(p approval.Prompt) pending.Shown {
	return pending.Shown{Digest: p.Digest(), Count: p.Count}
}

// allowAgain keeps a yes for a request whose caller has gone.
func (b *bench) allowAgain(req approval.Request) {
	b.t.Helper()
	p := b.left(req)
	if err := b.AllowAgain(p.ID, shownOf(p), once); err != nil {
		b.t.Fatal(err)
	}
}

// asksNow expects that a request asks, and denies it.
func (b *bench) asksNow(t *testing.T, req approval.Request) {
	t.Helper()
	p, _, over := b.waits(req)
	if err := b.pending.Answer(p.ID, pending.Shown{}, no); err != nil {
		t.Error(err)
	}
	<-over
}

// A yes that is kept runs the identical request once, and nothing else.
func TestAllowAgain(t *testing.T) {
	b := newBench(t)
	b.script("tool", "echo ran $1")
	req := b.request("tool", "x")
	req.SessionKey = "s"
	b.allowAgain(req)
	if list := b.Standing(); len(list) != 1 || list[0].Command != "tool x" || list[0].Decision != approval.AllowOnce || list[0].AgentID != "main" {
		t.Errorf("%+v", list)
	}
	if got := outcome(b.Run(t.Context(), req)); got != `code 0 "ran x\n"` {
		t.Errorf("asked again: %s", got)
	}
	b.asksNow(t, req) // once is once
	if list := b.Standing(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestAllowAgainHoldsForNothingElse(t *testing.T) {
	deny := func(d *store.Document) error { d.Deny("", approval.DenyRule{Pattern: "tool"}); return nil }
	tests := []struct {
		name   string
		change func(b *bench, req *approval.Request)
		want   string // "asks", or what comes of it
	}{
		{"nothing", func(*bench, *approval.Request) {}, `code 0 "ran x\n"`},
		{"a file beside it", func(b *bench, _ *approval.Request) { os.WriteFile(b.path("beside"), nil, 0o600) }, `code 0 "ran x\n"`},
		{"another word", func(_ *bench, r *approval.Request) { r.Command = []string{"tool", "y"} }, "asks"},
		{"one more word", func(_ *bench, r *approval.Request) { r.Command = []string{"tool", "x", "y"} }, "asks"},
		{"words joined", func(_ *bench, r *approval.Request) { r.Command = []string{"tool x"} }, "denied not-found"},
		{"a text of it", func(_ *bench, r *approval.Request) { r.Command = []string{"bash", "-c", "tool x"} }, "asks"},
		{"another session", func(_ *bench, r *approval.Request) { r.SessionKey = "t" }, "asks"},
		{"no session", func(_ *bench, r *approval.Request) { r.SessionKey = "" }, "asks"},
		{"another agent", func(_ *bench, r *approval.Request) { r.AgentID = "other" }, "asks"},
		{"another environment", func(_ *bench, r *approval.Request) { r.Env = map[string]string{"CI": "1"} }, "asks"},
		{"another claim", func(_ *bench, r *approval.Request) { r.Claim.Ask = approval.AskAlways }, "asks"},
		{"another folder", func(b *bench, r *approval.Request) { r.Cwd = b.path("bin") }, "asks"},
		{"another folder of that name", func(b *bench, r *approval.Request) {
			os.Rename(b.path("work"), b.path("moved"))
			os.Mkdir(b.path("work"), 0o755)
		}, "asks"},
		{"another file", func(b *bench, _ *approval.Request) { b.script("tool", "echo ran x") }, "asks"},
		{"the file in place", func(b *bench, _ *approval.Request) {
			f, err := os.OpenFile(b.path("bin/tool"), os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				f.WriteString("echo evil\n")
				f.Close()
			}
		}, "asks"},
		{"another reason", func(b *bench, _ *approval.Request) {
			b.edit(func(d *store.Document) error { d.Defaults.Ask = approval.AskAlways; return nil })
		}, "asks"},
		{"a deny rule", func(b *bench, _ *approval.Request) { b.edit(deny) }, "denied denylisted"},
		{"a deny rule that goes again", func(b *bench, _ *approval.Request) {
			b.edit(deny)
			b.Recheck() // as the host does after each change
			b.edit(func(d *store.Document) error { d.Undeny("", approval.DenyRule{Pattern: "tool"}); return nil })
		}, "asks"},
		{"an entry meanwhile", func(b *bench, _ *approval.Request) {
			b.edit(func(d *store.Document) error { d.Add("main", approval.Entry{Pattern: "tool"}); return nil })
		}, `code 0 "ran x\n"`},
		{"nobody can be asked", func(b *bench, _ *approval.Request) { b.canAsk.Store(false) }, "denied ask-fallback"},
		{"ten minutes", func(b *bench, _ *approval.Request) { b.later(10 * time.Minute) }, "asks"},
		{"nine minutes", func(b *bench, _ *approval.Request) { b.later(9 * time.Minute) }, `code 0 "ran x\n"`},
		{"a clock that is set back", func(b *bench, _ *approval.Request) { b.later(-time.Hour) }, "asks"},
		{"forgotten", func(b *bench, _ *approval.Request) { b.Forget(b.Standing()[0].ID) }, "asks"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			b.t = t
			b.script("tool", "echo ran $1")
			if err := os.Mkdir(b.path("work"), 0o755); err != nil {
				t.Fatal(err)
			}
			req := b.request("tool", "x")
			req.SessionKey, req.Cwd = "s", b.path("work")
			b.allowAgain(req)
			test.change(b, &req)
			if test.want == "asks" {
				b.asksNow(t, req)
			} else if got := outcome(b.Run(t.Context(), req)); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// later sets the gate's clock.
func (b *bench) later(d time.Duration) { b.Now = func() time.Time { return time.Now().Add(d) } }

// What the file held when it was shown counts, though its times tell nothing.
func TestAllowAgainBindsContents(t *testing.T) {
	b := newBench(t)
	b.script("tool", "echo ran")
	req := b.request("tool")
	p := b.left(req)
	found, _, _ := b.pending.Find(p.ID)
	gate.SpoilContents(found.Bound) // as if somebody had written to it without a trace
	if err := b.AllowAgain(p.ID, shownOf(p), once); err != nil {
		t.Fatal(err)
	}
	if got := outcome(b.Run(t.Context(), req)); got != "denied drifted" {
		t.Errorf("%s", got)
	}
	b.asksNow(t, req)
}

// However many ask at the same time, one runs.
func TestAllowAgainOnce(t *testing.T) {
	b := newBench(t)
	b.script("tool", "echo ran >>"+b.path("mark"))
	req := b.request("tool")
	b.allowAgain(req)
	req.Deadline = time.Now().Add(3 * time.Second)
	var all sync.WaitGroup
	var ran atomic.Int32
	for range 15 {
		all.Go(func() {
			if r := b.Run(t.Context(), req); r.Denied == nil {
				ran.Add(1)
			}
		})
	}
	all.Wait()
	if text, _ := os.ReadFile(b.path("mark")); ran.Load() != 1 || string(text) != "ran\n" {
		t.Errorf("%d ran: %q", ran.Load(), text)
	}
}

// What is not offered, not seen, or not over is not kept.
func TestAllowAgainRefused(t *testing.T) {
	b := newBench(t)
	b.script("tool", "true")
	p, hangUp, over := b.waits(b.request("tool"))
	for _, test := range []struct {
		name  string
		id    string
		shown pending.Shown
		want  error
	}{
		{"it waits", p.ID, shownOf(p), pending.ErrWaits},
		{"another was shown", p.ID, pending.Shown{Digest: "x", Count: 1}, pending.ErrOther},
		{"nothing was shown", p.ID, pending.Shown{}, pending.ErrOther},
		{"there is none", "x", shownOf(p), pending.ErrUnknown},
	} {
		if err := b.AllowAgain(test.id, test.shown, once); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	hangUp()
	<-over
	if err := b.AllowAgain(p.ID, shownOf(p), once); err != nil {
		t.Error(err)
	}
	if err := b.AllowAgain(p.ID, shownOf(p), once); !errors.Is(err, pending.ErrUnknown) {
		t.Errorf("twice: %v", err)
	}
	if len(b.Standing()) != 1 {
		t.Errorf("%+v", b.Standing())
	}
}

// What a person says to the question that came first ends the yes that was
// kept meanwhile.
func TestAllowAgainAndAnswered(t *testing.T) {
	b := newBench(t)
	b.script("tool", "echo ran")
	req := b.request("tool")
	first := b.left(req)
	again, _, over := b.waits(req) // its question is open again
	if err := b.AllowAgain(first.ID, shownOf(first), once); !errors.Is(err, pending.ErrUnknown) {
		t.Errorf("to the question of before: %v", err)
	}
	if err := b.pending.Answer(again.ID, shownOf(again), once); err != nil {
		t.Fatal(err)
	}
	if got := outcome(<-over); got != `code 0 "ran\n"` {
		t.Error(got)
	}
	b.asksNow(t, req)
}

// A denial stands for identical requests, for a while or for the session.
func TestDenyFor(t *testing.T) {
	tests := []struct {
		name  string
		life  time.Duration
		gone  bool // its caller had left
		after time.Duration
		asks  bool
	}{
		{"at once", 10 * time.Minute, false, 0, false},
		{"the caller had gone", 10 * time.Minute, true, 0, false},
		{"nine minutes", 10 * time.Minute, false, 9 * time.Minute, false},
		{"ten minutes", 10 * time.Minute, false, 10 * time.Minute, true},
		{"the session", 0, false, 11 * time.Hour, false},
		{"the session is over", 0, false, 12 * time.Hour, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			b.t = t
			b.script("tool", "touch "+b.path("mark"))
			req := b.request("tool")
			req.SessionKey = "s"
			p, hangUp, over := b.waits(req)
			if test.gone {
				hangUp()
				<-over
			}
			if err := b.DenyFor(p.ID, approval.Answer{By: "panel", Note: "not today"}, test.life); err != nil {
				t.Fatal(err)
			}
			if !test.gone {
				if got := outcome(<-over); got != "denied user-denied" {
					t.Error(got)
				}
			}
			b.later(test.after)
			if test.asks {
				b.asksNow(t, req)
			} else {
				for range 3 {
					r := b.Run(t.Context(), req)
					if outcome(r) != "denied user-denied" || !strings.Contains(judge.Message(*r.Denied), "They say: not today.") {
						t.Errorf("%s, %+v", outcome(r), r.Denied)
					}
				}
			}
			other := req
			other.Command = []string{"tool", "y"}
			b.asksNow(t, other)
			if _, err := os.Stat(b.path("mark")); err == nil {
				t.Error("it ran")
			}
		})
	}
}

// A session goes on as long as something is asked in it.
func TestDenyForSessionGoesOn(t *testing.T) {
	b := newBench(t)
	req := b.request("touch", "x")
	p, hangUp, over := b.waits(req)
	if err := b.DenyFor(p.ID, no, 0); err == nil || errors.Is(err, pending.ErrUnknown) {
		t.Errorf("without a session: %v", err)
	}
	hangUp()
	<-over
	req.SessionKey = "s"
	p, _, over = b.waits(req)
	if err := b.DenyFor(p.ID, no, 0); err != nil {
		t.Fatal(err)
	}
	<-over
	for _, at := range []time.Duration{11 * time.Hour, 22 * time.Hour, 33 * time.Hour} {
		if b.later(at); outcome(b.Run(t.Context(), req)) != "denied user-denied" {
			t.Errorf("after %s it asks", at)
		}
	}
}

// The answers that stand are bounded: the oldest goes.
func TestStandingIsBounded(t *testing.T) {
	b := newBench(t)
	first := b.request("touch", "first")
	for i := range 205 {
		req := b.request("touch", strings.Repeat("x", i+1))
		if i == 0 {
			req = first
		}
		b.later(time.Duration(i) * time.Millisecond)
		p, _, over := b.waits(req)
		if err := b.DenyFor(p.ID, no, 10*time.Minute); err != nil {
			t.Fatal(err)
		}
		<-over
	}
	if n := len(b.Standing()); n != 200 {
		t.Errorf("%d stand", n)
	}
	b.asksNow(t, first)
}

// A no stands for the request, whatever its agent calls itself and its session, and
// whatever else was judged; not for what would run or change something else.
func TestDenyForHoldsFor(t *testing.T) {
	tests := []struct {
		name   string
		change func(b *bench, req *approval.Request)
		asks   bool
	}{
		{"the same", func(*bench, *approval.Request) {}, false},
		{"another session", func(_ *bench, r *approval.Request) { r.SessionKey = "t" }, false},
		{"no session", func(_ *bench, r *approval.Request) { r.SessionKey = "" }, false},
		{"another name of its family", func(_ *bench, r *approval.Request) { r.AgentID = "other" }, false},
		{"another process of its name", func(_ *bench, r *approval.Request) { r.Peer.Family = "f2" }, false},
		{"another claim", func(_ *bench, r *approval.Request) { r.Claim.Ask = approval.AskAlways }, false},
		{"another reason", func(b *bench, _ *approval.Request) {
			b.edit(func(d *store.Document) error { d.Defaults.Ask = approval.AskAlways; return nil })
		}, false},
		{"nobody can be asked", func(b *bench, _ *approval.Request) {
			b.edit(func(d *store.Document) error { d.Defaults.AskFallback = approval.SecurityFull; return nil })
			b.canAsk.Store(false)
		}, false},
		{"another name and family", func(_ *bench, r *approval.Request) { r.AgentID, r.Peer.Family = "other", "f2" }, true},
		{"another word", func(_ *bench, r *approval.Request) { r.Command = []string{"tool", "y"} }, true},
		{"another environment", func(_ *bench, r *approval.Request) { r.Env = map[string]string{"CI": "1"} }, true},
		{"another folder", func(b *bench, r *approval.Request) { r.Cwd = b.path("bin") }, true},
		{"another file", func(b *bench, _ *approval.Request) { b.script("tool", "echo mended") }, true},
		{"forgotten", func(b *bench, _ *approval.Request) { b.Forget(b.Standing()[0].ID) }, true},
		{"everything was stopped", func(b *bench, _ *approval.Request) { b.Stop("panel") }, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			b.t = t
			b.script("tool", "echo ran")
			req := b.request("tool", "x")
			req.SessionKey, req.Peer.Family = "s", "f1"
			p, _, over := b.waits(req)
			if err := b.DenyFor(p.ID, no, gate.DenyLife); err != nil {
				t.Fatal(err)
			}
			<-over
			test.change(b, &req)
			if test.asks {
				b.asksNow(t, req)
			} else if got := outcome(b.Run(t.Context(), req)); got != "denied user-denied" {
				t.Error(got)
			}
		})
	}
}

// An entry that covers a request lets it pass, whatever was said of it before.
func TestDenyForYieldsToTheList(t *testing.T) {
	b := newBench(t)
	b.script("tool", "echo ran")
	p, _, over := b.waits(b.request("tool"))
	if err := b.DenyFor(p.ID, no, gate.DenyLife); err != nil {
		t.Fatal(err)
	}
	<-over
	b.edit(func(d *store.Document) error { d.Add("main", approval.Entry{Pattern: "tool"}); return nil })
	if got := outcome(b.Run(t.Context(), b.request("tool"))); got != `code 0 "ran\n"` {
		t.Error(got)
	}
}

// A no answers whatever waits for the same, and ends the yes that stands for it; so
// does a yes end a no.
func TestDenyForAndTheOthers(t *testing.T) {
	b := newBench(t)
	b.script("tool", "echo ran")
	one, other := b.request("tool"), b.request("tool")
	one.SessionKey, other.SessionKey = "s", "t"
	b.allowAgain(other)
	p, _, over := b.waits(one)
	_, _, beside := b.waits(b.request("tool")) // of no session
	if err := b.DenyFor(p.ID, no, gate.DenyLife); err != nil {
		t.Fatal(err)
	}
	for _, c := range []<-chan approval.Result{over, beside} {
		if got := outcome(<-c); got != "denied user-denied" {
			t.Error(got)
		}
	}
	if list := b.Standing(); len(list) != 1 || list[0].Decision != approval.DecisionDeny {
		t.Errorf("%+v", list)
	}
	if got := outcome(b.Run(t.Context(), other)); got != "denied user-denied" {
		t.Error(got)
	}
	b.Forget(b.Standing()[0].ID)
	b.allowAgain(other)
	if list := b.Standing(); len(list) != 1 || list[0].Decision != approval.AllowOnce {
		t.Errorf("%+v", list)
	}
}

// A denial for the session ends with it, and leaves the others alone.
func TestDenyForOneSession(t *testing.T) {
	b := newBench(t)
	b.script("tool", "echo ran")
	req := b.request("tool")
	req.SessionKey = "s"
	p, _, over := b.waits(req)
	if err := b.DenyFor(p.ID, no, 0); err != nil {
		t.Fatal(err)
	}
	<-over
	other := req
	other.SessionKey = "t"
	b.asksNow(t, other)
	if got := outcome(b.Run(t.Context(), req)); got != "denied user-denied" {
		t.Error(got)
	}
}

// A person's no names the commands of a text that needed their yes.
func TestANoNamesItsCommands(t *testing.T) {
	for text, want := range map[string]string{
		"tool a":                          "tool a",
		"ls; tool a; tool b":              "tool a ; tool b",
		"tool a && tool a":                "tool a",
		"ls | tool a | tool b | tool c d": "tool a ; tool b ; tool c d",
	} {
		b := newBench(t, approval.Entry{Pattern: "ls"})
		b.script("tool", "cat")
		b.person(no, nil)
		req := b.request("bash", "-c", text)
		r := b.Run(t.Context(), req)
		if r.Denied == nil || r.Denied.Reason != approval.ReasonUserDenied || r.Denied.Segment != want || judge.Receipt(*r.Denied).Segment != want {
			t.Errorf("%s: %+v", text, r.Denied)
		}
	}
}
