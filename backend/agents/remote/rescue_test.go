package remote

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// mined is a host that panics at answers, or at being watched.
type mined struct {
	book
	answers, watches atomic.Bool
}

func (m *mined) Watch(ctx context.Context, cursor uint64) (uint64, []approval.Prompt, error) {
	if m.watches.Load() {
		panic("secret")
	}
	return m.book.Watch(ctx, cursor)
}

func (m *mined) Answer(ctx context.Context, p approval.Prompt, d approval.Decision, note string) error {
	if m.answers.Load() {
		panic("secret")
	}
	return m.book.Answer(ctx, p, d, note)
}

// TestPanics: an answer that makes us panic counts for nothing, its client is told,
// and its next one counts. A server that cannot follow what waits ends.
func TestPanics(t *testing.T) {
	host := &mined{}
	w := newWorldOf(t, func(b book) Host { host.book = b; return host })
	p := w.connect()
	_, answer := w.ask("s")
	id := p.next("approval_required")["requestId"].(string)
	host.answers.Store(true)
	before := rescue.Caught()
	yes := `{"type":"approval_response","sessionId":"s","requestId":"` + id + `","decision":"allow-once"}`
	p.say(yes)
	if m := p.next("approval_error"); m["error"] == "secret" {
		t.Error(m)
	}
	if n := rescue.Caught() - before; n != 1 {
		t.Errorf("%d were counted", n)
	}
	select {
	case a := <-answer:
		t.Fatalf("it was answered %s", a.Decision)
	default:
	}
	host.answers.Store(false)
	p.say(yes)
	if a := w.answerOf(answer); a.Decision != approval.AllowOnce {
		t.Error(a.Decision)
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	lost := &mined{}
	lost.watches.Store(true)
	if err := New(Options{Host: lost, Token: token}).Serve(t.Context(), l); err == nil {
		t.Error("it ended as if it was told to")
	}
}
