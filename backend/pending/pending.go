// Package pending keeps the questions that wait for a person. It merges
// identical ones, gives each answer once, and ends those that nobody
// answers. It shows nothing and decides nothing: silence is a denial.
package pending

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// Errors of Ask and Answer. Their text is for people.
var (
	ErrTooMany    = errors.New("too many questions of this agent are waiting already")
	ErrFamily     = errors.New("too many questions of the programs that belong to this one are waiting already")
	ErrTooLong    = errors.New("the texts of the questions that wait would be too long together with this one")
	ErrFull       = errors.New("too many questions of all agents are waiting already")
	ErrUnknown    = errors.New("the question is not waiting: it was answered elsewhere, or is over")
	ErrGone       = errors.New("the agent stopped waiting, so nothing was run")
	ErrNotOffered = errors.New("this answer is not offered for this question")
	ErrMore       = errors.New("more of the same are waiting now than were shown: look again")
	ErrOther      = errors.New("this is not the question that was shown: look again")
	ErrNoHold     = errors.New("its caller gives up at a time of its own, so the clock of this question cannot be stopped")
)

// Limits and times. A family (see Family) has no
// more of Total and of Bytes than is free: at most a half.
const (
	PerAgent = 20
	Total    = 1000
	// Bytes bounds the text of all of them together: more would choke whoever
	// shows them, and nobody reads it.
	Bytes = 2 << 20
	// stays is how long a question is still shown after its caller has gone
	// or its time ran out.
	stays = 10 * time.Minute
)

// Book holds the questions of one host. It may be used by many at once.
type Book struct {
	mu        sync.Mutex
	questions []*question // oldest first
	cursor    uint64      // grows with every change
	changed   chan struct{}
	closed    bool
	locked    bool // nobody who may answer is there
	paused    bool // all clocks are stopped, as far as that can be
}

// question is one thing to decide. Each of its waiters is one run.
type question struct {
	prompt  approval.Prompt
	key     string
	waiters []*waiter
	drop    *time.Timer // runs while nobody waits
	held    bool        // a person stopped its clock
	// waited ends, by left, when nobody waits any more.
	waited context.Context
	left   context.CancelFunc
}

// New makes an empty book.
func New() *Book { return &Book{cursor: 1, changed: make(chan struct{})} }

// Ask puts a question and waits for its answer. A question with the same key
// that is already there is not shown twice: its answer counts for both. When
// the deadline passes the answer is a denial with reason prompt-expired; when
// ctx ends it is one with approval-cancelled, and a question whose ctx has
// ended is not put. NotPut tells of an error that the question was not put. p.Latest is
// how far Hold may move the deadline.
func (b *Book) Ask(ctx context.Context, p approval.Prompt, key string, deadline time.Time) (approval.Answer, error) {
	w := newWaiter(p, deadline)
	q, err := b.put(ctx, p, key, w)
	if err != nil {
		return approval.Answer{}, err
	}
	select {
	case a := <-w.answer:
		return a, nil
	case <-ctx.Done():
		return b.leave(q, w), nil
	}
}

func (b *Book) put(ctx context.Context, p approval.Prompt, key string, w *waiter) (*question, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		w.answer <- nobody(approval.ReasonApprovalCancelled, "the host is closing")
		return nil, nil
	case ctx.Err() != nil:
		w.answer <- callerGone()
		return nil, nil
	}
	i := slices.IndexFunc(b.questions, func(q *question) bool { return q.key == key })
	if i < 0 {
		if err := b.room(p); err != nil {
			return nil, err
		}
		i = len(b.questions)
		b.questions = append(b.questions, &question{prompt: p, key: key})
	}
	q := b.questions[i]
	if q.drop != nil { // it asks again: the question is open again, as it was asked now
		q.drop.Stop()
		q.drop, q.prompt = nil, p
	}
	if len(q.waiters) == 0 {
		q.waited, q.left = context.WithCancel(context.Background())
	}
	q.waiters = append(q.waiters, w)
	q.prompt.Count = len(q.waiters)
	q.prompt.Latest = max(q.prompt.Latest, p.Latest)
	w.timer = time.AfterFunc(time.Until(w.ends), rescue.Guarded(nil, "the end of a question", func() { b.expire(q, w) }))
	q.hold(q.held || b.paused)
	b.bump()
	return q, nil
}

// leave takes a waiter out whose caller has gone, unless its answer came
// first.
func (b *Book) leave(q *question, w *waiter) approval.Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case a := <-w.answer:
		return a
	default:
	}
	b.without(q, w, approval.ReasonApprovalCancelled)
	return callerGone()
}

// without takes a waiter out. The last one to leave leaves the question behind
// for a while.
func (b *Book) without(q *question, w *waiter, why approval.Reason) {
	w.timer.Stop()
	q.waiters = slices.DeleteFunc(q.waiters, func(other *waiter) bool { return other == w })
	q.prompt.Count = max(1, len(q.waiters))
	if len(q.waiters) == 0 {
		q.left()
		q.held, q.prompt.Held = false, false
		q.prompt.CallerGone, q.prompt.GoneBecause, q.prompt.GoneAt = true, why, time.Now().UnixMilli()
		q.drop = time.AfterFunc(stays, rescue.Guarded(nil, "a question that is over", func() { b.forget(q) }))
	}
	b.bump()
}

// forget drops a question that nobody came back for.
func (b *Book) forget(q *question) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(q.waiters) == 0 {
		b.remove(q)
	}
}

// Nobody in Answer.By says that no answer came.
const Nobody = "nobody"

func callerGone() approval.Answer {
	return nobody(approval.ReasonApprovalCancelled, approval.CallerLeft)
}

func nobody(why approval.Reason, sentence string) approval.Answer {
	return approval.Answer{
		Decision: approval.DecisionDeny, By: Nobody,
		Finding: approval.Finding{Reason: why, Sentence: sentence},
	}
}

// Shown is what a person saw when they answered: the digest of the question
// and how many requests shared it.
type Shown struct {
	Digest string
	Count  int
}

// Answer gives a question its answer, for all requests that were shown with
// it. Only the first counts: ErrUnknown says that another came before, ErrGone
// that nobody waits for it any more. A yes is not taken when the person saw
// another question (ErrOther), or fewer requests than share it now (ErrMore).
func (b *Book) Answer(id string, shown Shown, a approval.Answer) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	q, err := b.answerable(id, shown, a)
	switch {
	case err != nil:
		return err
	case a.Decision != approval.DecisionDeny && len(q.waiters) > shown.Count:
		return ErrMore
	}
	return b.give(q, a)
}

// answerable returns the question that a person answered, if it is the one
// that they saw.
func (b *Book) answerable(id string, shown Shown, a approval.Answer) (*question, error) {
	q := b.find(id)
	if q == nil {
		return nil, ErrUnknown
	}
	if b.locked && !a.Remote {
		return nil, ErrLocked
	}
	if !slices.Contains(q.prompt.Judgement.Choices, a.Decision) {
		return nil, ErrNotOffered
	}
	if _, ok := q.prompt.Judgement.Chosen(a.Choice, q.prompt.SessionKey); a.Decision == approval.AllowAlways && !ok ||
		a.Decision != approval.AllowAlways && a.Choice != (approval.Choice{}) {
		return nil, ErrNotOffered
	}
	if a.Decision == approval.DecisionDeny {
		return q, nil
	}
	if digest := q.prompt.Digest(); digest == "" || shown.Digest != digest {
		return nil, ErrOther
	}
	return q, nil
}

// give hands an answer to all who wait and takes the question out.
func (b *Book) give(q *question, a approval.Answer) error {
	waiters := q.waiters
	b.remove(q)
	if len(waiters) == 0 {
		return ErrGone
	}
	for i, w := range waiters {
		a.Shared = i > 0 && a.Decision == approval.AllowAlways
		w.answer <- a
	}
	return nil
}

// DenyAll gives every question this answer, and returns how many somebody waited
// for, and how many were left that nobody did. It calls end first, which may
// end the callers: the answer is there before any of them has left.
func (b *Book) DenyAll(a approval.Answer, end func()) (denied, left int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	end()
	for len(b.questions) > 0 {
		if b.give(b.questions[0], a) == nil {
			denied++
		} else {
			left++
		}
	}
	return denied, left
}

// find returns a question, nil if it is not there.
func (b *Book) find(id string) *question {
	i := slices.IndexFunc(b.questions, func(q *question) bool { return q.prompt.ID == id })
	if i < 0 {
		return nil
	}
	return b.questions[i]
}

func (b *Book) remove(q *question) {
	if q.drop != nil {
		q.drop.Stop()
	}
	for _, w := range q.waiters {
		w.timer.Stop()
	}
	q.waiters = nil
	q.left()
	b.questions = slices.DeleteFunc(b.questions, func(other *question) bool { return other == q })
	b.bump()
}

// Recheck asks about every question that somebody waits for whether it has
// an answer without a person by now, and gives it. judge is called without
// locks.
func (b *Book) Recheck(judge func(approval.Prompt) (approval.Answer, bool)) {
	for _, p := range b.List() {
		if p.CallerGone {
			continue
		}
		a, ok := judge(p)
		if !ok {
			continue
		}
		b.settle(p.ID, a)
	}
}

// settle answers a question if it still waits.
func (b *Book) settle(id string, a approval.Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.find(id); q != nil {
		_ = b.give(q, a) // nobody waits any more: then nothing is to be done
	}
}

// List returns the questions, those that somebody waits for first, each
// group oldest first.
func (b *Book) List() []approval.Prompt {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.list()
}

// Waiting is how many questions somebody waits for.
func (b *Book) Waiting() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, q := range b.questions {
		if len(q.waiters) > 0 {
			n++
		}
	}
	return n
}

func (b *Book) list() []approval.Prompt {
	list := make([]approval.Prompt, len(b.questions))
	for i, q := range b.questions {
		list[i] = q.prompt
	}
	slices.SortStableFunc(list, func(x, y approval.Prompt) int { return cmp.Compare(gone(x), gone(y)) })
	return list
}

func gone(p approval.Prompt) int {
	if p.CallerGone {
		return 1
	}
	return 0
}

// Watch waits until something changed since cursor, then returns all
// questions and the cursor to ask with next. It returns what is there when
// ctx ends.
func (b *Book) Watch(ctx context.Context, cursor uint64) (uint64, []approval.Prompt) {
	for {
		b.mu.Lock()
		now, changed, list := b.cursor, b.changed, b.list()
		b.mu.Unlock()
		if now != cursor || ctx.Err() != nil {
			return now, list
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

func (b *Book) bump() {
	b.cursor++
	close(b.changed)
	b.changed = make(chan struct{})
}

// Close ends all questions with approval-cancelled; later ones end at once.
func (b *Book) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for len(b.questions) > 0 {
		_ = b.give(b.questions[0], nobody(approval.ReasonApprovalCancelled, "the host is closing"))
	}
}
