package pending_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
)

// small is a question of an agent about a text, with little at stake.
func small(id, agent, text string) approval.Prompt {
	p := question(id, agent)
	p.Plan.Text, p.Judgement.Risk.Level = text, approval.RiskLow
	return p
}

// One answer is for all of those that were shown, or for none.
func TestAnswerShared(t *testing.T) {
	all := func(b *pending.Book, ids ...string) map[string]pending.Shown {
		shown := map[string]pending.Shown{}
		for _, id := range ids {
			shown[id] = seen(b, id, 1)
		}
		return shown
	}
	for _, test := range []struct {
		name  string
		shown func(b *pending.Book) map[string]pending.Shown
		err   error
		left  int // of the six
	}{
		{"two", func(b *pending.Book) map[string]pending.Shown { return all(b, "1", "2") }, nil, 4},
		{"three", func(b *pending.Book) map[string]pending.Shown { return all(b, "1", "2", "3") }, nil, 3},
		{"another text among them", func(b *pending.Book) map[string]pending.Shown { return all(b, "1", "other") }, pending.ErrApart, 6},
		{"two of one agent", func(b *pending.Book) map[string]pending.Shown { return all(b, "1", "again") }, pending.ErrApart, 6},
		{"one without a name", func(b *pending.Book) map[string]pending.Shown { return all(b, "1", "nameless") }, pending.ErrApart, 6},
		{"one alone", func(b *pending.Book) map[string]pending.Shown { return all(b, "1") }, pending.ErrApart, 6},
		{"none", func(b *pending.Book) map[string]pending.Shown { return nil }, pending.ErrApart, 6},
		{"one that is over", func(b *pending.Book) map[string]pending.Shown { return all(b, "1", "2", "gone") }, pending.ErrUnknown, 6},
		{"what another one showed", func(b *pending.Book) map[string]pending.Shown {
			return map[string]pending.Shown{"1": seen(b, "2", 1), "2": seen(b, "1", 1)}
		}, pending.ErrOther, 6},
		{"one that was not shown", func(b *pending.Book) map[string]pending.Shown {
			return map[string]pending.Shown{"1": seen(b, "1", 1), "2": {}}
		}, pending.ErrOther, 6},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := pending.New()
			defer b.Close()
			for _, p := range []approval.Prompt{
				small("1", "a", "x"), small("2", "b", "x"), small("3", "c", "x"), small("again", "a", "x"), small("other", "d", "y"), small("nameless", "", "x"),
			} {
				asked(t, b, context.Background(), p, p.ID, later())
			}
			if err := b.AnswerShared(test.shown(b), allow); !errors.Is(err, test.err) {
				t.Errorf("%v, want %v", err, test.err)
			}
			if left := len(b.List()); left != test.left {
				t.Errorf("%d wait", left)
			}
		})
	}
}

// Nobody answers who is not offered it, while the screen is locked, or for one that hung up.
func TestAnswerSharedRefused(t *testing.T) {
	b := pending.New()
	defer b.Close()
	ctx, hangUp := context.WithCancel(context.Background())
	asked(t, b, context.Background(), small("1", "a", "x"), "1", later())
	over := asked(t, b, ctx, small("2", "b", "x"), "2", later())
	shown := map[string]pending.Shown{"1": seen(b, "1", 1), "2": seen(b, "2", 1)}
	if err := b.AnswerShared(shown, approval.Answer{Decision: approval.AllowAlways}); !errors.Is(err, pending.ErrNotOffered) {
		t.Errorf("for always: %v", err)
	}
	b.Lock(true)
	if err := b.AnswerShared(shown, allow); !errors.Is(err, pending.ErrLocked) {
		t.Errorf("locked: %v", err)
	}
	b.Lock(false)
	hangUp()
	<-over
	if err := b.AnswerShared(shown, allow); !errors.Is(err, pending.ErrApart) || b.Waiting() != 1 {
		t.Errorf("after one hung up: %v", err)
	}
}

// However one of them leaves at the same moment, both run or neither.
func TestAnswerSharedRace(t *testing.T) {
	for range 200 {
		b := pending.New()
		ctx, hangUp := context.WithCancel(context.Background())
		one := asked(t, b, context.Background(), small("1", "a", "x"), "1", later())
		two := asked(t, b, ctx, small("2", "b", "x"), "2", later())
		shown := map[string]pending.Shown{"1": seen(b, "1", 1), "2": seen(b, "2", 1)}
		var took atomic.Bool
		var all sync.WaitGroup
		all.Go(hangUp)
		all.Go(func() { took.Store(b.AnswerShared(shown, allow) == nil) })
		all.Wait()
		yes := (<-two).Decision == approval.AllowOnce
		if b.Close(); yes != took.Load() || yes != ((<-one).Decision == approval.AllowOnce) {
			t.Fatalf("the answer was taken: %v, the second ran: %v", took.Load(), yes)
		}
	}
}

func TestCanShare(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(p *approval.Prompt)
		want   bool
	}{
		{"the same", func(*approval.Prompt) {}, true},
		{"another session, claim and process", func(p *approval.Prompt) { p.SessionKey, p.Claim.Source, p.Peer.PID = "s", "x", 7 }, true},
		{"another time", func(p *approval.Prompt) { p.Asked, p.Expires, p.Latest = 1, 2, 3 }, true},
		{"a folder in which a file came", func(p *approval.Prompt) { p.Plan.Cwd.Mod, p.Plan.Cwd.Changed = 5, 5 }, true},
		{"another folder of that name", func(p *approval.Prompt) { p.Plan.Cwd.Ino = 9 }, false},
		{"another folder", func(p *approval.Prompt) { p.Plan.Cwd.Path = "/x" }, false},
		{"another program behind the word", func(p *approval.Prompt) { p.Plan.Segments = []approval.Segment{{Argv: []string{"x"}}} }, false},
		{"another variable", func(p *approval.Prompt) { p.Env = []approval.EnvChange{{Name: "A", Value: "1"}} }, false},
		{"who runs it", func(p *approval.Prompt) { p.Who = approval.Theirs }, false},
		{"another finding", func(p *approval.Prompt) { p.Judgement.Reason = approval.ReasonDeletes }, false},
		{"another offer", func(p *approval.Prompt) { p.Judgement.Offers = []approval.Offer{{Width: approval.WidthExact}} }, false},
		{"a call of a tool", func(p *approval.Prompt) { p.Plan.Tool = &approval.Tool{Command: true} }, false},
		{"two requests", func(p *approval.Prompt) { p.Count = 2 }, false},
		{"one that is over", func(p *approval.Prompt) { p.CallerGone = true }, false},
		{"more at stake", func(p *approval.Prompt) { p.Judgement.Risk.Level = approval.RiskMedium }, false},
	} {
		two := small("2", "b", "x")
		test.change(&two)
		if got := pending.CanShare([]approval.Prompt{small("1", "a", "x"), two}); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
		if got := pending.CanShare([]approval.Prompt{two, small("1", "a", "x")}); got != test.want {
			t.Errorf("%s, the other way round: %v", test.name, got)
		}
	}
	call := func(of approval.Tool) []approval.Prompt {
		one, two := small("1", "a", "x"), small("2", "b", "x")
		one.Plan.Tool, two.Plan.Tool = &approval.Tool{Said: "Bash", Digest: "1", Command: of.Command}, &of
		return []approval.Prompt{one, two}
	}
	for want, of := range map[bool]approval.Tool{true: {Said: "shell", Digest: "2", Command: true}, false: {Command: true, NoAlways: true}} {
		if got := pending.CanShare(call(of)); got != want {
			t.Errorf("a call that runs a command, as %+v: %v", of, got)
		}
	}
	for _, risk := range []struct {
		who     approval.Who
		level   approval.Risk
		reasons int
		want    bool
	}{
		{approval.Theirs, approval.RiskMedium, 1, true}, {approval.Theirs, approval.RiskMedium, 2, false}, {approval.Ours, approval.RiskMedium, 1, false},
		{approval.Theirs, approval.RiskHigh, 1, false}, {approval.Ours, approval.RiskLow, 1, true}, {approval.Ours, "", 0, false},
	} {
		list := []approval.Prompt{small("1", "a", "x"), small("2", "b", "x")}
		for i := range list {
			list[i].Who, list[i].Judgement.Risk = risk.who, approval.Weighed{Level: risk.level, Reasons: make([]approval.Finding, risk.reasons)}
		}
		if got := pending.CanShare(list); got != risk.want {
			t.Errorf("%s with %s risk for %d reasons: %v", risk.who, risk.level, risk.reasons, got)
		}
	}
	if pending.CanShare(call(approval.Tool{Said: "Bash", Digest: "1"})) {
		t.Error("calls of a tool without a command share")
	}
	secret := []approval.Prompt{small("1", "a", "x"), small("2", "b", "x")}
	for i := range secret {
		secret[i].Env = []approval.EnvChange{{Name: "TOKEN", Secret: true}}
	}
	if pending.CanShare(secret) {
		t.Error("two secrets are taken for the same one")
	}
	many := []approval.Prompt{}
	for _, agent := range []string{"a", "b", "c", "d", "e", "f"} {
		many = append(many, small(agent, agent, "x"))
	}
	if !pending.CanShare(many[:pending.MaxShared]) || pending.CanShare(many) {
		t.Error("more agents than a panel names")
	}
}
