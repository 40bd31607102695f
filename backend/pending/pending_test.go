package pending_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
)

func question(id, agent string) approval.Prompt {
	return approval.Prompt{ID: id, AgentID: agent, Count: 1, Judgement: approval.Judgement{
		Choices: []approval.Decision{approval.AllowOnce, approval.DecisionDeny},
	}}
}

// asked puts a question in the background and waits until it is there.
func asked(t *testing.T, b *pending.Book, ctx context.Context, p approval.Prompt, key string, deadline time.Time) <-chan approval.Answer {
	t.Helper()
	cursor, _ := b.Watch(context.Background(), 0)
	done := make(chan approval.Answer, 1)
	go func() {
		a, err := b.Ask(ctx, p, key, deadline)
		if err != nil {
			a.Sentence = err.Error()
		}
		done <- a
	}()
	b.Watch(context.Background(), cursor)
	return done
}

// seen is what a person sees who looks at a question now, when so many share
// it.
func seen(b *pending.Book, id string, count int) pending.Shown {
	for _, p := range b.List() {
		if p.ID == id {
			return pending.Shown{Digest: p.Digest(), Count: count}
		}
	}
	return pending.Shown{}
}

func later() time.Time { return time.Now().Add(time.Hour) }

var allow = approval.Answer{Decision: approval.AllowOnce, By: "terminal"}

func TestAnswerOnce(t *testing.T) {
	b := pending.New()
	done := asked(t, b, context.Background(), question("1", "a"), "k", later())
	var won atomic.Int32
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			a := approval.Answer{Decision: approval.DecisionDeny, By: fmt.Sprint(i)}
			if err := b.Answer("1", seen(b, "1", 1), a); err == nil {
				won.Add(1)
			} else if !errors.Is(err, pending.ErrUnknown) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if a := <-done; won.Load() != 1 || a.Decision != approval.DecisionDeny {
		t.Errorf("%d answers counted; got %+v", won.Load(), a)
	}
	if left := b.List(); len(left) != 0 {
		t.Errorf("still waiting: %+v", left)
	}
}

func TestOnlyOfferedAnswers(t *testing.T) {
	b := pending.New()
	done := asked(t, b, context.Background(), question("1", "a"), "k", later())
	for _, d := range []approval.Decision{approval.AllowAlways, approval.DecisionUnset, "yes"} {
		if err := b.Answer("1", seen(b, "1", 1), approval.Answer{Decision: d}); !errors.Is(err, pending.ErrNotOffered) {
			t.Errorf("%q: %v", d, err)
		}
	}
	if err := b.Answer("2", seen(b, "2", 1), allow); !errors.Is(err, pending.ErrUnknown) {
		t.Errorf("another id: %v", err)
	}
	other := question("1", "a")
	other.Plan.Text = "something harmless"
	if err := b.Answer("1", pending.Shown{Digest: other.Digest(), Count: 1}, allow); !errors.Is(err, pending.ErrOther) {
		t.Errorf("a yes to something else: %v", err)
	}
	if err := b.Answer("1", seen(b, "1", 1), allow); err != nil {
		t.Error(err)
	}
	if a := <-done; a != allow {
		t.Errorf("got %+v", a)
	}
}

// Who is ended by the denial of everything has its answer, and is counted.
func TestDenyAll(t *testing.T) {
	const many = 8
	deny := approval.Answer{Decision: approval.DecisionDeny, By: "panel"}
	for range 100 {
		b := pending.New()
		ctx, end := context.WithCancel(t.Context())
		var answers []<-chan approval.Answer
		for i := range many {
			id := fmt.Sprint(i)
			answers = append(answers, asked(t, b, ctx, question(id, "a"), id, later()))
		}
		if denied, left := b.DenyAll(deny, end); denied != many || left != 0 {
			t.Fatalf("denied %d of %d", denied, many)
		}
		for _, a := range answers {
			if a := <-a; a.By != deny.By {
				t.Fatalf("got %+v", a)
			}
		}
		if a, err := b.Ask(ctx, question("late", "a"), "late", later()); err != nil || a.By != pending.Nobody {
			t.Fatalf("put after the end: %+v, %v", a, err)
		}
	}
}

// A question that nobody waits for any more is taken away with the others, and
// counted apart: nobody is told of its denial.
func TestDenyAllLeft(t *testing.T) {
	b := pending.New()
	ctx, hangUp := context.WithCancel(t.Context())
	gone := asked(t, b, ctx, question("1", "a"), "1", later())
	waits := asked(t, b, t.Context(), question("2", "a"), "2", later())
	hangUp()
	<-gone
	if denied, left := b.DenyAll(approval.Answer{Decision: approval.DecisionDeny, By: "panel"}, func() {}); denied != 1 || left != 1 {
		t.Errorf("%d denied, %d left", denied, left)
	}
	if a := <-waits; a.By != "panel" {
		t.Errorf("%+v", a)
	}
}

func TestExpiry(t *testing.T) {
	b := pending.New()
	a, err := b.Ask(context.Background(), question("1", "a"), "k", time.Now().Add(-time.Second))
	if err != nil || a.Decision != approval.DecisionDeny || a.Reason != approval.ReasonPromptExpired || a.By != "nobody" {
		t.Errorf("%+v, %v", a, err)
	}
	list := b.List()
	if len(list) != 1 || !list[0].CallerGone || list[0].GoneBecause != approval.ReasonPromptExpired || list[0].GoneAt == 0 {
		t.Errorf("the question is not left to be seen: %+v", list)
	}
	if err := b.Answer("1", seen(b, "1", 1), allow); !errors.Is(err, pending.ErrGone) {
		t.Errorf("answering it: %v", err)
	}
	if err := b.Answer("1", seen(b, "1", 1), allow); !errors.Is(err, pending.ErrUnknown) {
		t.Errorf("answering it again: %v", err)
	}
}

func TestCallerGone(t *testing.T) {
	b := pending.New()
	ctx, cancel := context.WithCancel(context.Background())
	done := asked(t, b, ctx, question("1", "a"), "k", later())
	cancel()
	if a := <-done; a.Reason != approval.ReasonApprovalCancelled || a.Decision != approval.DecisionDeny {
		t.Errorf("%+v", a)
	}
	if list := b.List(); len(list) != 1 || list[0].GoneBecause != approval.ReasonApprovalCancelled || list[0].Digest() != question("1", "a").Digest() {
		t.Errorf("%+v", list)
	}
	// It asks again: the same question is open once more, under its new id.
	again := asked(t, b, context.Background(), question("2", "a"), "k", later())
	list := b.List()
	if len(list) != 1 || list[0].ID != "2" || list[0].CallerGone || list[0].GoneBecause != "" || list[0].Count != 1 {
		t.Fatalf("%+v", list)
	}
	if err := b.Answer("2", seen(b, "2", 1), allow); err != nil {
		t.Fatal(err)
	}
	if a := <-again; a != allow {
		t.Errorf("%+v", a)
	}
}

func TestMerge(t *testing.T) {
	b := pending.New()
	first := asked(t, b, context.Background(), question("1", "a"), "same", later())
	ctx, cancel := context.WithCancel(context.Background())
	second := asked(t, b, ctx, question("2", "a"), "same", later())
	third := asked(t, b, context.Background(), question("3", "a"), "same", later())
	other := asked(t, b, context.Background(), question("4", "a"), "other", later())
	list := b.List()
	if len(list) != 2 || list[0].ID != "1" || list[0].Count != 3 || list[1].Count != 1 {
		t.Fatalf("%+v", list)
	}
	cancel()
	if a := <-second; a.Reason != approval.ReasonApprovalCancelled {
		t.Errorf("who hung up got %+v", a)
	}
	if err := b.Answer("1", seen(b, "1", 1), allow); !errors.Is(err, pending.ErrMore) {
		t.Errorf("a yes to one, when two wait: %v", err)
	}
	if err := b.Answer("1", seen(b, "1", 2), allow); err != nil {
		t.Fatal(err)
	}
	if x, y := <-first, <-third; x != allow || y != allow {
		t.Errorf("got %+v and %+v", x, y)
	}
	b.Close()
	if a := <-other; a.Reason != approval.ReasonApprovalCancelled {
		t.Errorf("at the end: %+v", a)
	}
}

func TestLimits(t *testing.T) {
	b := pending.New()
	defer b.Close()
	for i := range pending.PerAgent {
		asked(t, b, context.Background(), question(fmt.Sprint(i), "a"), fmt.Sprint(i), later())
	}
	if _, err := b.Ask(context.Background(), question("x", "a"), "x", later()); !errors.Is(err, pending.ErrTooMany) {
		t.Errorf("one more of the same agent: %v", err)
	}
	asked(t, b, context.Background(), question("y", "a"), "0", later()) // merges
	for i := pending.PerAgent; i < pending.Total; i++ {
		asked(t, b, context.Background(), question(fmt.Sprint(i), fmt.Sprint("agent", i)), fmt.Sprint(i), later())
	}
	if _, err := b.Ask(context.Background(), question("z", "z"), "z", later()); !errors.Is(err, pending.ErrFull) || !pending.NotPut(err) {
		t.Errorf("one more in all: %v", err)
	}
}

// Questions that nobody waits for make room for new ones.
func TestRoom(t *testing.T) {
	b := pending.New()
	defer b.Close()
	for i := range pending.Total + 10 {
		if _, err := b.Ask(context.Background(), question(fmt.Sprint(i), "a"), fmt.Sprint(i), time.Now()); err != nil {
			t.Fatal(i, err)
		}
	}
	if list := b.List(); len(list) != pending.Total || list[0].ID != "10" {
		t.Errorf("%d questions, the oldest is %s", len(list), list[0].ID)
	}
}

func TestRecheck(t *testing.T) {
	b := pending.New()
	defer b.Close()
	covered := asked(t, b, context.Background(), question("1", "a"), "1", later())
	asked(t, b, context.Background(), question("2", "a"), "2", later())
	always := approval.Answer{Decision: approval.AllowAlways, By: "policy"}
	b.Recheck(func(p approval.Prompt) (approval.Answer, bool) { return always, p.ID == "1" })
	if a := <-covered; a != always {
		t.Errorf("%+v", a)
	}
	if list := b.List(); len(list) != 1 || list[0].ID != "2" {
		t.Errorf("%+v", list)
	}
}

func TestWatch(t *testing.T) {
	b := pending.New()
	defer b.Close()
	cursor, list := b.Watch(context.Background(), 0)
	if len(list) != 0 {
		t.Fatalf("%+v", list)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if same, _ := b.Watch(ended, cursor); same != cursor {
		t.Errorf("nothing changed, and the cursor went from %d to %d", cursor, same)
	}
	asked(t, b, context.Background(), question("1", "a"), "1", later())
	next, list := b.Watch(context.Background(), cursor)
	if next == cursor || len(list) != 1 {
		t.Errorf("cursor %d, %+v", next, list)
	}
}

func TestClosed(t *testing.T) {
	b := pending.New()
	b.Close()
	if a, err := b.Ask(context.Background(), question("1", "a"), "1", later()); err != nil || a.Reason != approval.ReasonApprovalCancelled {
		t.Errorf("%+v, %v", a, err)
	}
}

// Many ask, hang up and are answered at the same time: each gets exactly one
// answer, and nothing is left.
func TestRace(t *testing.T) {
	b := pending.New()
	var all sync.WaitGroup
	var got atomic.Int32
	for i := range 200 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i%7)*time.Millisecond)
			defer cancel()
			a, err := b.Ask(ctx, question(fmt.Sprint(i), fmt.Sprint(i)), fmt.Sprint(i%20), later())
			if err == nil && a.Decision != "" {
				got.Add(1)
			}
		})
		all.Go(func() {
			for _, p := range b.List() {
				_ = b.Answer(p.ID, pending.Shown{Digest: p.Digest(), Count: p.Count}, allow)
			}
		})
	}
	all.Wait()
	if got.Load() != 200 {
		t.Errorf("%d of 200 got an answer", got.Load())
	}
	for _, p := range b.List() {
		if !p.CallerGone {
			t.Errorf("left open: %+v", p)
		}
	}
}

// The texts of all questions together are bounded. What nobody waits for any
// more makes room.
func TestBytes(t *testing.T) {
	b := pending.New()
	long := func(id string) approval.Prompt {
		p := question(id, "agent "+id)
		p.Plan.Text = strings.Repeat("x", pending.Bytes/2-1000)
		return p
	}
	ctx, hangUp := context.WithCancel(context.Background())
	asked(t, b, ctx, long("1"), "1", later())
	asked(t, b, context.Background(), long("2"), "2", later())
	if _, err := b.Ask(context.Background(), long("3"), "3", later()); !errors.Is(err, pending.ErrTooLong) || !pending.NotPut(err) {
		t.Errorf("a third one: %v", err)
	}
	asked(t, b, context.Background(), question("4", "a"), "4", later())
	hangUp()
	for list := b.List(); !list[len(list)-1].CallerGone; list = b.List() {
		time.Sleep(time.Millisecond)
	}
	asked(t, b, context.Background(), long("3"), "3", later())
	if list := b.List(); len(list) != 3 || list[0].ID != "2" || list[2].ID != "3" {
		t.Errorf("%d questions wait", len(list))
	}
}

// TestSettled: what was decided without an answer is no question any more, unless
// somebody else waits for it.
func TestSettled(t *testing.T) {
	b := pending.New()
	over := asked(t, b, context.Background(), question("1", "a"), "k", time.Now())
	<-over
	if b.Settled("other"); len(b.List()) != 1 || b.Waiting() != 0 {
		t.Errorf("%+v, %d waiting", b.List(), b.Waiting())
	}
	longer := asked(t, b, context.Background(), question("2", "a"), "k", later())
	if b.Settled("k"); len(b.List()) != 1 || b.Waiting() != 1 {
		t.Errorf("%+v, %d waiting", b.List(), b.Waiting())
	}
	if err := b.Answer("2", seen(b, "2", 1), allow); err != nil || (<-longer).Decision != approval.AllowOnce {
		t.Error(err)
	}
	<-asked(t, b, context.Background(), question("3", "a"), "k", time.Now())
	if b.Settled("k"); len(b.List()) != 0 {
		t.Errorf("%+v", b.List())
	}
}
