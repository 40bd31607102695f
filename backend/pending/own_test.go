package pending_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
)

var (
	mine   = approval.Peer{PID: 7, Started: 70}
	theirs = approval.Peer{PID: 8, Started: 80}
)

// ticketed is the question of a process about its call.
func ticketed(id string, peer approval.Peer, ticket string) approval.Prompt {
	p := question(id, "a")
	p.Peer, p.Ticket = peer, ticket
	return p
}

// A ticket leads to the question of the process that gave it, and to no other.
func TestOwn(t *testing.T) {
	b := pending.New()
	defer b.Close()
	asked(t, b, context.Background(), ticketed("1", mine, "one"), "1", later())
	asked(t, b, context.Background(), ticketed("2", theirs, "two"), "2", later())
	asked(t, b, context.Background(), ticketed("3", mine, ""), "3", later())
	ctx, cancel := context.WithCancel(context.Background())
	gone := asked(t, b, ctx, ticketed("4", mine, "gone"), "4", later())
	cancel()
	<-gone
	for _, c := range []struct {
		name   string
		peer   approval.Peer
		ticket string
		want   string
	}{
		{"its own", mine, "one", "1"}, {"the other's own", theirs, "two", "2"}, {"the ticket of another", mine, "two", ""},
		{"no ticket", mine, "", ""}, {"one that nobody gave", mine, "none", ""}, {"whose caller is gone", mine, "gone", ""},
		{"a later process with its id", approval.Peer{PID: mine.PID, Started: 71}, "one", ""},
	} {
		if p, ok := b.Own(c.peer, c.ticket); p.ID != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v", c.name, p.ID, ok)
		}
		deny := approval.Answer{Decision: approval.DecisionDeny}
		if err := b.AnswerOwn(c.peer, c.ticket, "1", "", deny); c.want != "1" && !errors.Is(err, pending.ErrUnknown) {
			t.Errorf("%s is answered: %v", c.name, err)
		} else if c.want == "1" && err != nil {
			t.Error(err)
		} else if c.want == "1" {
			asked(t, b, context.Background(), ticketed("1", mine, "one"), "1", later())
		}
	}
}

// Of those who share a question one is answered, by its own ticket, and the
// others wait on.
func TestAnswerOwn(t *testing.T) {
	b := pending.New()
	defer b.Close()
	one := asked(t, b, context.Background(), ticketed("1", mine, "one"), "k", later())
	two := asked(t, b, context.Background(), ticketed("2", theirs, "two"), "k", later())
	digest := seen(b, "1", 0).Digest
	for name, c := range map[string]struct {
		id, digest string
		decision   approval.Decision
		want       error
	}{
		"another question":       {"2", digest, approval.AllowOnce, pending.ErrUnknown},
		"not what was shown":     {"1", "x", approval.AllowOnce, pending.ErrOther},
		"what nobody offered":    {"1", digest, approval.AllowAlways, pending.ErrNotOffered},
		"nothing that is chosen": {"1", digest, "", pending.ErrNotOffered},
	} {
		if err := b.AnswerOwn(theirs, "two", c.id, c.digest, approval.Answer{Decision: c.decision}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.Lock(true)
	if err := b.AnswerOwn(theirs, "two", "1", digest, allow); !errors.Is(err, pending.ErrLocked) {
		t.Errorf("at a locked screen: %v", err)
	}
	b.Lock(false)
	if err := b.AnswerOwn(theirs, "two", "1", digest, allow); err != nil {
		t.Fatal(err)
	}
	if a := <-two; a.Decision != approval.AllowOnce {
		t.Errorf("%+v", a)
	}
	if list := b.List(); len(list) != 1 || list[0].Count != 1 || list[0].CallerGone || len(one) != 0 {
		t.Fatalf("the other one does not wait on: %+v", list)
	}
	if err := b.AnswerOwn(theirs, "two", "1", digest, allow); !errors.Is(err, pending.ErrUnknown) {
		t.Errorf("a second time: %v", err)
	}
	if err := b.AnswerOwn(mine, "one", "1", digest, approval.Answer{Decision: approval.DecisionDeny}); err != nil {
		t.Fatal(err)
	}
	if a := <-one; a.Decision != approval.DecisionDeny || len(b.List()) != 0 {
		t.Errorf("%+v, and %d wait", a, len(b.List()))
	}
}

// One that was answered alone does not expire any more.
func TestAnswerOwnEnds(t *testing.T) {
	b := pending.New()
	defer b.Close()
	soon := time.Now().Add(50 * time.Millisecond)
	one := asked(t, b, context.Background(), ticketed("1", mine, "one"), "k", soon)
	two := asked(t, b, context.Background(), ticketed("2", theirs, "two"), "k", soon)
	if err := b.AnswerOwn(mine, "one", "1", seen(b, "1", 0).Digest, allow); err != nil {
		t.Fatal(err)
	}
	if a := <-one; a.Decision != approval.AllowOnce {
		t.Errorf("%+v", a)
	}
	if a := <-two; a.Reason != approval.ReasonPromptExpired {
		t.Errorf("%+v", a)
	}
}
