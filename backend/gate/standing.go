package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/pending"
)

const (
	// againLife is how long a yes is kept for a request that is asked again
	// (product.md, defaults and numbers).
	againLife = 10 * time.Minute
	// maxStanding bounds the answers that stand; the oldest goes for a new one.
	maxStanding = 200
)

// earlier follows who answered, where the answer was given before.
const earlier = " (earlier)"

// Errors of DenyFor and AllowAgain, beside those of package pending.
var (
	errNoSession = errors.New("the agent named no session: deny it for 10 minutes, or always")
	errUnbound   = errors.New("what was asked is not known well enough any more: wait until the agent asks again")
)

// standing are the answers that a person gave to identical requests that are
// still to come. They are kept in memory and end with the host.
type standing struct {
	mu   sync.Mutex
	list map[answerKey]*standingAnswer
}

type answerKey [sha256.Size]byte

type standingAnswer struct {
	approval.Answer
	agentID string
	command string          // as it may be shown
	prompt  approval.Prompt // of a yes, and what that is bound to
	bound   *bound
	since   time.Time
	life    time.Duration
	renewed bool // by each request that it answers: it is for a session
}

// bound is what a yes holds for: what was shown, and what its files held.
type bound struct {
	plan      approval.Plan
	judgement approval.Judgement
	held      contents
}

// over reports whether an answer stands no more. Neither a clock that is set
// nor a machine that sleeps makes it last longer.
func (a *standingAnswer) over(now time.Time) bool {
	byWall := now.Round(0).Sub(a.since.Round(0))
	return now.Sub(a.since) >= a.life || byWall >= a.life || byWall < 0
}

// put makes an answer stand, in the place of another one to the same request.
func (s *standing) put(key string, a *standingAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list == nil {
		s.list = map[answerKey]*standingAnswer{}
	}
	maps.DeleteFunc(s.list, func(_ answerKey, have *standingAnswer) bool { return have.over(a.since) })
	for len(s.list) >= maxStanding {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(s.list)), func(x, y answerKey) int { return s.list[x].since.Compare(s.list[y].since) })
		delete(s.list, oldest)
	}
	s.list[sha256.Sum256([]byte(key))] = a
}

// take returns the answer that stands for a request, if there is one. A yes is
// had once.
func (s *standing) take(key string, now time.Time) (standingAnswer, bool) {
	k := answerKey(sha256.Sum256([]byte(key)))
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.list[k]
	if a == nil || a.over(now) {
		delete(s.list, k)
		return standingAnswer{}, false
	}
	if a.bound != nil {
		delete(s.list, k)
	}
	if a.renewed {
		a.since = now
	}
	return *a, true
}

// drop ends the answers that are no more to stand.
func (s *standing) drop(which func(id string, a *standingAnswer) bool) (dropped int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.list)
	maps.DeleteFunc(s.list, func(k answerKey, a *standingAnswer) bool { return which(k.id(), a) })
	return before - len(s.list)
}

func (k answerKey) id() string { return hex.EncodeToString(k[:8]) }

// dropKey ends the answer to one request, if it is this one.
func (s *standing) dropKey(key string, d approval.Decision) {
	k := answerKey(sha256.Sum256([]byte(key)))
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.list[k]; a != nil && a.Decision == d {
		delete(s.list, k)
	}
}

// DenyFor denies a question, and for a while each identical request that
// comes: for as long as life, or with 0 for the session. Nobody needs to wait
// for the answer any more. Its errors are those of pending.Answer.
func (g *Gate) DenyFor(id string, a approval.Answer, life time.Duration) error {
	p, key, ok := g.Pending.Find(id)
	switch {
	case !ok:
		return pending.ErrUnknown
	case life == 0 && p.SessionKey == "":
		return errNoSession
	}
	a.Decision = approval.DecisionDeny
	stands := g.stands(a, p, cmp.Or(life, sessionLife))
	stands.renewed = life == 0
	g.standing.put(key, stands)
	if err := g.Pending.Answer(id, pending.Shown{}, a); err != nil && !errors.Is(err, pending.ErrGone) {
		g.standing.dropKey(key, approval.DecisionDeny)
		return err
	}
	return nil
}

func (g *Gate) stands(a approval.Answer, p approval.Prompt, life time.Duration) *standingAnswer {
	return &standingAnswer{Answer: a, agentID: p.AgentID, command: shorten(display.Redact(p.Plan.Text)), since: g.Now(), life: life}
}

// AllowAgain keeps one yes for the identical request, when its caller has gone
// and if it asks again soon. It is bound as a yes to a question that waits is,
// and had once. Its errors are those of pending.Keep.
func (g *Gate) AllowAgain(id string, shown pending.Shown, a approval.Answer) (err error) {
	a.Decision = approval.AllowOnce
	kept := g.Pending.Keep(id, shown, func(p approval.Prompt, key string) {
		b, ok := p.Bound.(*bound)
		if !ok {
			err = errUnbound
			return
		}
		stands := g.stands(a, p, againLife)
		stands.prompt, stands.bound = p, b
		g.standing.put(key, stands)
	})
	return cmp.Or(kept, err)
}

// Standing is an answer that stands for identical requests to come.
type Standing struct {
	ID       string            `json:"id"`
	AgentID  string            `json:"agentId,omitempty"`
	Command  string            `json:"command"` // without secrets, and cut
	Decision approval.Decision `json:"decision"`
	Until    int64             `json:"until"` // unix milliseconds
}

// Standing returns the answers that stand, those that end first in front.
func (g *Gate) Standing() []Standing {
	g.standing.mu.Lock()
	defer g.standing.mu.Unlock()
	list := []Standing{}
	for k, a := range g.standing.list {
		if !a.over(g.Now()) {
			list = append(list, Standing{k.id(), a.agentID, a.command, a.Decision, a.since.Add(a.life).UnixMilli()})
		}
	}
	slices.SortFunc(list, func(x, y Standing) int { return cmp.Or(cmp.Compare(x.Until, y.Until), cmp.Compare(x.ID, y.ID)) })
	return list
}

// Forget ends an answer that stands, and reports whether it was there.
func (g *Gate) Forget(id string) bool {
	return g.standing.drop(func(have string, _ *standingAnswer) bool { return have == id }) > 0
}

// recheckStanding drops each yes that the policy of this moment denies.
func (g *Gate) recheckStanding() {
	g.standing.mu.Lock()
	list := maps.Clone(g.standing.list)
	g.standing.mu.Unlock()
	for k, a := range list {
		if a.bound == nil {
			continue
		}
		if now, ok := g.coveredNow(a.prompt); ok && now.Decision == approval.DecisionDeny {
			g.standing.drop(func(id string, have *standingAnswer) bool { return id == k.id() && have == a })
		}
	}
}

// answered is what became of a question: the answer that stands for it, or
// that of a person who is asked now. was is what a yes of before is bound to.
func (f *flight) answered(ask func(key string) (approval.Answer, error)) (a approval.Answer, was *bound, err error) {
	key := f.key()
	if stands, ok := f.standing.take(key, f.Now()); ok {
		a = stands.Answer
		a.By += earlier
		return a, stands.bound, nil
	}
	f.row.Asked = f.Now()
	f.event(approval.EventAsked, "")
	if a, err = ask(key); err == nil && a.By != byPolicy && a.By != pending.Nobody {
		f.standing.dropKey(key, approval.AllowOnce) // the person says something now
	}
	return a, nil, err
}
