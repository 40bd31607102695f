package pending_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
)

// Several are answered together, and each as if it were alone.
func TestAnswerMany(t *testing.T) {
	tests := []struct {
		name    string
		replies func(b *pending.Book) []pending.Reply
		errs    []error
		got     map[string]approval.Decision // of "1", "2" and "3"; the rest still wait
	}{
		{"all fit", func(b *pending.Book) []pending.Reply {
			return []pending.Reply{
				{ID: "1", Shown: seen(b, "1", 1), Decision: approval.AllowOnce},
				{ID: "2", Decision: approval.DecisionDeny}, {ID: "3", Shown: seen(b, "3", 1), Decision: approval.AllowOnce},
			}
		}, []error{nil, nil, nil}, map[string]approval.Decision{"1": approval.AllowOnce, "2": approval.DecisionDeny, "3": approval.AllowOnce}},
		{"each is judged alone", func(b *pending.Book) []pending.Reply {
			return []pending.Reply{
				{ID: "1", Shown: seen(b, "2", 1), Decision: approval.AllowOnce}, // another digest
				{ID: "2", Shown: seen(b, "2", 0), Decision: approval.AllowOnce}, // more than were seen
				{ID: "3", Shown: seen(b, "3", 1), Decision: approval.AllowOnce},
				{ID: "3", Shown: seen(b, "3", 1), Decision: approval.AllowOnce}, // twice
				{ID: "nothing", Decision: approval.DecisionDeny},
			}
		}, []error{pending.ErrOther, pending.ErrMore, nil, pending.ErrUnknown, pending.ErrUnknown}, map[string]approval.Decision{"3": approval.AllowOnce}},
		{"one for always", func(b *pending.Book) []pending.Reply {
			return []pending.Reply{{ID: "1", Decision: approval.DecisionDeny}, {ID: "2", Shown: seen(b, "2", 1), Decision: approval.AllowAlways}}
		}, []error{pending.ErrTogether, pending.ErrTogether}, nil},
		{"one without a decision", func(b *pending.Book) []pending.Reply {
			return []pending.Reply{{ID: "1", Decision: approval.DecisionDeny}, {ID: "2"}}
		}, []error{pending.ErrTogether, pending.ErrTogether}, nil},
		{"another agent among them", func(b *pending.Book) []pending.Reply {
			return []pending.Reply{{ID: "1", Decision: approval.DecisionDeny}, {ID: "other", Decision: approval.DecisionDeny}}
		}, []error{pending.ErrTogether, pending.ErrTogether}, nil},
		{"none", func(*pending.Book) []pending.Reply { return nil }, []error{}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := pending.New()
			done := map[string]<-chan approval.Answer{}
			for _, id := range []string{"1", "2", "3"} {
				p := question(id, "a")
				p.Plan.Text = "text " + id
				p.Judgement.Choices = append(p.Judgement.Choices, approval.AllowAlways)
				done[id] = asked(t, b, context.Background(), p, id, later())
			}
			asked(t, b, context.Background(), question("other", "b"), "other", later())
			errs := b.AnswerMany(test.replies(b), approval.Answer{By: "panel", Note: "so"})
			for i, err := range errs {
				if !errors.Is(err, test.errs[i]) {
					t.Errorf("reply %d: %v, want %v", i, err, test.errs[i])
				}
			}
			if left := len(b.List()); len(errs) != len(test.errs) || left != 4-len(test.got) {
				t.Errorf("%d errors, %d wait", len(errs), left)
			}
			for id, want := range test.got {
				if a := <-done[id]; a.Decision != want || a.By != "panel" || a.Note != "so" {
					t.Errorf("%s got %+v", id, a)
				}
			}
			b.Close()
		})
	}
}

// Of those who share a question one runs, however many there are by then.
func TestAllowOne(t *testing.T) {
	b := pending.New()
	var done []<-chan approval.Answer
	for _, id := range []string{"1", "2", "3"} {
		done = append(done, asked(t, b, context.Background(), question(id, "a"), "k", later()))
	}
	who := approval.Answer{By: "panel", Note: "one is enough"}
	if err := b.AllowOne("1", pending.Shown{Digest: "x"}, who); !errors.Is(err, pending.ErrOther) {
		t.Errorf("to another question: %v", err)
	}
	if err := b.AllowOne("1", seen(b, "1", 2), who); err != nil {
		t.Fatal(err)
	}
	for i, want := range []approval.Decision{approval.AllowOnce, approval.DecisionDeny, approval.DecisionDeny} {
		if a := <-done[i]; a.Decision != want || a.Note != "one is enough" {
			t.Errorf("%d got %+v", i, a)
		}
	}
	if err := b.AllowOne("1", pending.Shown{}, who); !errors.Is(err, pending.ErrUnknown) {
		t.Errorf("a second time: %v", err)
	}
	alone := asked(t, b, context.Background(), question("4", "a"), "4", later())
	if err := b.AllowOne("4", seen(b, "4", 1), who); err != nil || (<-alone).Decision != approval.AllowOnce {
		t.Errorf("of one: %v", err)
	}
	never := question("5", "a")
	never.Judgement.Choices = []approval.Decision{approval.DecisionDeny}
	asked(t, b, context.Background(), never, "5", later())
	if err := b.AllowOne("5", seen(b, "5", 1), who); !errors.Is(err, pending.ErrNotOffered) {
		t.Errorf("where it is not offered: %v", err)
	}
	b.Close()
}

// However many give the one yes, it is had once.
func TestAllowOneRace(t *testing.T) {
	b := pending.New()
	var all sync.WaitGroup
	var ran atomic.Int32
	for range 50 {
		all.Go(func() {
			if a, err := b.Ask(context.Background(), question("1", "a"), "k", later()); err == nil && a.Decision == approval.AllowOnce {
				ran.Add(1)
			}
		})
	}
	for list := b.List(); len(list) == 0 || list[0].Count < 50; list = b.List() {
		time.Sleep(time.Millisecond)
	}
	for range 20 {
		all.Go(func() { _ = b.AllowOne("1", seen(b, "1", 50), approval.Answer{By: "panel"}) })
	}
	all.Wait()
	if ran.Load() != 1 {
		t.Errorf("%d ran", ran.Load())
	}
}
