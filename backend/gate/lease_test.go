package gate_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/store"
)

// chosen is allow-always with a choice.
func chosen(w approval.Width, here bool, keep approval.Keep) approval.Answer {
	return approval.Answer{Decision: approval.AllowAlways, By: "panel", Choice: approval.Choice{Width: w, Here: here, Keep: keep}}
}

// Each answer to "tool build ./x" is remembered as wide as was chosen, and no
// wider: what comes then passes or asks.
func TestWidths(t *testing.T) {
	t.Parallel()
	const passes, asks = `code 0 "ran\n"`, "denied ask-fallback"
	tests := []struct {
		width                             approval.Width
		here                              bool
		same, words, other, elsewhereSame string
	}{
		{approval.WidthExact, false, passes, asks, asks, asks},
		{approval.WidthWords, false, passes, passes, asks, passes},
		{approval.WidthWords, true, passes, passes, asks, asks},
		{approval.WidthProgram, false, passes, passes, passes, passes},
		{approval.WidthProgram, true, passes, passes, passes, asks},
	}
	for _, test := range tests {
		t.Run(string(test.width), func(t *testing.T) {
			b := newBench(t)
			b.script("tool", "echo ran")
			b.person(chosen(test.width, test.here, approval.KeepGood), nil)
			b.want([]string{"tool", "build", "./x"}, passes)
			rows, err := b.history.List(context.Background(), history.Query{})
			if last := rows[len(rows)-1]; err != nil || !strings.HasPrefix(last.Choice, string(test.width)) || strings.Contains(last.Choice, "here") != test.here {
				t.Errorf("the record says %q, %v", last.Choice, err)
			}
			b.canAsk.Store(false)
			b.want([]string{"tool", "build", "./x"}, test.same)
			b.want([]string{"tool", "build", "./y"}, test.words)
			b.want([]string{"tool", "push"}, test.other)
			if err := os.Mkdir(b.path("elsewhere"), 0o755); err != nil {
				t.Fatal(err)
			}
			req := b.request("tool", "build", "./x")
			req.Cwd = t.TempDir()
			if got := outcome(b.Run(context.Background(), req)); got != test.elsewhereSame {
				t.Errorf("in another folder: %s, want %s", got, test.elsewhereSame)
			}
			b.script("tool", "echo another") // the entry knows the file
			b.want([]string{"tool", "build", "./x"}, asks)
		})
	}
}

// What is kept for a while ends: by the clock, by its uses, with its session.
func TestKeep(t *testing.T) {
	t.Parallel()
	const passes, asks = `code 0 "ran\n"`, "denied ask-fallback"
	run := func(keep approval.Keep, after time.Duration, session string) (*bench, func(session, want string)) {
		b := newBench(t)
		var later atomic.Int64
		b.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
		b.script("tool", "echo ran")
		b.person(chosen(approval.WidthExact, false, keep), nil)
		ask := func(session, want string) {
			t.Helper()
			req := b.request("tool", "x")
			req.SessionKey, req.Deadline = session, time.Time{}
			if got := outcome(b.Run(context.Background(), req)); got != want {
				t.Errorf("kept %s: %s in session %q after %s, want %s", keep, got, session, after, want)
			}
		}
		ask(session, passes)
		b.canAsk.Store(false)
		later.Store(int64(after))
		return b, ask
	}
	for _, test := range []struct {
		keep  approval.Keep
		after time.Duration
		want  string
	}{
		{approval.Keep10m, 9 * time.Minute, passes},
		{approval.Keep10m, 11 * time.Minute, asks},
		{approval.Keep1h, 59 * time.Minute, passes},
		{approval.Keep1h, 61 * time.Minute, asks},
		{approval.KeepSession, 11 * time.Hour, passes},
		{approval.KeepSession, 13 * time.Hour, asks},
		{approval.KeepNext5, 29 * 24 * time.Hour, passes},
		{approval.KeepNext5, 31 * 24 * time.Hour, asks},
		{approval.KeepGood, 400 * 24 * time.Hour, passes},
	} {
		_, ask := run(test.keep, test.after, "s")
		ask("s", test.want)
	}
	_, ask := run(approval.KeepNext5, 0, "s")
	for range 5 {
		ask("", passes)
	}
	ask("", asks)

	b, ask := run(approval.KeepSession, 0, "s")
	ask("", asks)
	ask("other", asks)
	ask("s", passes)
	b.Now = func() time.Time { return time.Now().Add(11 * time.Hour) }
	ask("s", passes) // which goes on
	b.Now = func() time.Time { return time.Now().Add(22 * time.Hour) }
	ask("s", passes)
	b.Now = func() time.Time { return time.Now().Add(35 * time.Hour) }
	ask("s", asks)
	ask("s", asks) // it does not come back with the next request
	if left := b.store.Snapshot().Policy("main").Allowlist; len(left) != 0 {
		t.Errorf("what was allowed for a session that is over is still there: %+v", left)
	}
}

// A host that starts anew learns from the history whether a session is over.
func TestSessionAfterRestart(t *testing.T) {
	t.Parallel()
	key := "s"
	for _, test := range []struct {
		since time.Duration
		want  string
	}{
		{11 * time.Hour, `code 0 "ran\n"`},
		{13 * time.Hour, "denied ask-fallback"},
	} {
		b := newBench(t)
		b.script("tool", "echo ran")
		b.canAsk.Store(false)
		now := time.Now()
		b.Now = func() time.Time { return now.Add(-test.since) }
		req := b.request("other")
		req.SessionKey, req.Deadline = key, time.Time{}
		b.Run(context.Background(), req)
		b.edit(func(d *store.Document) error {
			d.Add("main", approval.Entry{Pattern: "tool", SessionKey: key, AddedAt: now.Add(-test.since).UnixMilli()})
			return nil
		})
		b.ForgetSessions()
		b.Now = time.Now
		req = b.request("tool")
		req.SessionKey = key
		if got := outcome(b.Run(context.Background(), req)); got != test.want {
			t.Errorf("%s after the last request: %s, want %s", test.since, got, test.want)
		}
	}
}

// A choice counts only if the question offers it.
func TestOnlyOfferedWidths(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		say  approval.Answer
	}{
		{"a width that is none", chosen("all", false, approval.KeepGood)},
		{"a keep that is none", chosen(approval.WidthExact, false, "ever")},
		{"no words", chosen(approval.WidthWords, false, approval.KeepGood)},
		{"exact is here already", chosen(approval.WidthExact, true, approval.KeepGood)},
		{"a session without a name", chosen(approval.WidthExact, false, approval.KeepSession)},
		{"a lease without a width", chosen("", false, approval.Keep1h)},
		{"a choice beside once", approval.Answer{Decision: approval.AllowOnce, Choice: approval.Choice{Width: approval.WidthExact}}},
		{"a choice beside deny", approval.Answer{Decision: approval.DecisionDeny, Choice: approval.Choice{Keep: approval.Keep1h}}},
	}
	for _, test := range tests {
		b := newBench(t)
		b.script("tool", "echo ran")
		var refused atomic.Bool
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			_, list := b.pending.Watch(ctx, 1)
			p := list[0]
			err := b.pending.Answer(p.ID, pending.Shown{Digest: p.Digest(), Count: 1}, test.say)
			refused.Store(errors.Is(err, pending.ErrNotOffered))
			_ = b.pending.Answer(p.ID, pending.Shown{}, no)
		}()
		b.want([]string{"tool", "X"}, "denied user-denied")
		if !refused.Load() {
			t.Errorf("%s: it was taken", test.name)
		}
		if left := b.store.Snapshot().Policy("main").Allowlist; len(left) != 0 {
			t.Errorf("%s: it wrote %+v", test.name, left)
		}
		cancel()
	}
}

// A caller that runs the command itself learns of a lease, and of what is
// narrower than the program, as of allow once: it would remember the program for
// good.
func TestLeaseForTheirs(t *testing.T) {
	t.Parallel()
	for choice, want := range map[approval.Choice]approval.Decision{
		{Width: approval.WidthProgram, Keep: approval.Keep1h}:               approval.AllowOnce,
		{Width: approval.WidthProgram, Keep: approval.KeepGood}:             approval.AllowAlways,
		{Width: approval.WidthProgram, Here: true, Keep: approval.KeepGood}: approval.AllowOnce,
		{Width: approval.WidthExact, Keep: approval.KeepGood}:               approval.AllowOnce,
		{Keep: approval.KeepGood}:                                           approval.AllowAlways,
	} {
		b := newBench(t)
		b.script("tool", "echo ran")
		b.person(approval.Answer{Decision: approval.AllowAlways, By: "panel", Choice: choice}, nil)
		req := approval.Request{Text: "tool x", Cwd: b.dir, Who: approval.Theirs, AgentID: "main", Deadline: time.Now().Add(time.Minute)}
		if got, _ := b.Decide(context.Background(), req, nil); got != want {
			t.Errorf("%+v: %s, want %s", choice, got, want)
		}
		b.canAsk.Store(false)
		if got, _ := b.Decide(context.Background(), req, nil); got != approval.AllowOnce {
			t.Errorf("%+v: then %s", choice, got)
		}
	}
	b := newBench(t)
	b.script("tool", "echo ran")
	b.personWho(func(p approval.Prompt) approval.Answer {
		if len(p.Judgement.Offers) > 0 || slices.Contains(p.Judgement.Choices, approval.AllowAlways) {
			t.Errorf("a caller that can use allow-once only is offered %v", p.Judgement.Offers)
		}
		return no
	})
	req := approval.Request{Text: "tool x", Cwd: b.dir, Who: approval.Theirs, AgentID: "main", Deadline: time.Now().Add(time.Minute)}
	b.Decide(context.Background(), req, []approval.Decision{approval.AllowOnce, approval.DecisionDeny})
}

// Leases that are long over go when the next one is written.
func TestEndedLeasesGo(t *testing.T) {
	t.Parallel()
	ended := func(ago time.Duration) approval.Entry {
		return approval.Entry{Pattern: "old" + ago.String(), ExpiresAt: time.Now().Add(-ago).UnixMilli()}
	}
	b := newBench(t, ended(time.Hour), ended(48*time.Hour))
	b.script("tool", "echo ran")
	b.person(chosen(approval.WidthExact, false, approval.Keep1h), nil)
	b.want([]string{"tool"}, `code 0 "ran\n"`)
	var left []string
	for _, e := range b.store.Snapshot().Policy("main").Allowlist {
		left = append(left, e.Pattern)
	}
	if want := []string{"old1h0m0s", b.path("bin/tool")}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
}

// A session that is over does not come back for who asks twice, and hangs up
// the first time.
func TestSessionOverForWhoHangsUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.script("tool", "echo ran")
	b.person(chosen(approval.WidthExact, false, approval.KeepSession), nil)
	req := b.request("tool")
	req.SessionKey, req.Deadline = "s", time.Time{}
	if got := outcome(b.Run(context.Background(), req)); got != `code 0 "ran\n"` {
		t.Fatal(got)
	}
	b.canAsk.Store(false)
	b.ForgetSessions() // the host started anew
	b.later(13 * time.Hour)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	b.Run(gone, req)
	if got := outcome(b.Run(context.Background(), req)); got != "denied ask-fallback" {
		t.Error(got)
	}
}

// One answer to requests that share a question is remembered once.
func TestMergedLease(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.script("tool", "echo ran")
	done := make(chan approval.Result, 4)
	for range 4 {
		cursor, _ := b.pending.Watch(context.Background(), 0)
		go func() { done <- b.Run(context.Background(), b.request("tool")) }()
		b.pending.Watch(context.Background(), cursor)
	}
	list := b.pending.List()
	if len(list) != 1 || list[0].Count != 4 {
		t.Fatalf("%d questions", len(list))
	}
	if err := b.pending.Answer(list[0].ID, pending.Shown{Digest: list[0].Digest(), Count: 4}, chosen(approval.WidthExact, false, approval.KeepNext5)); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if got := outcome(<-done); got != `code 0 "ran\n"` {
			t.Error(got)
		}
	}
	uses := 0
	for _, e := range b.store.Snapshot().Policy("main").Allowlist {
		uses += *e.UsesLeft
	}
	if uses != 5 {
		t.Errorf("next five became %d", uses)
	}
}
