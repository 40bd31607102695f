package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/pending"
)

const (
	// againLife is how long a yes is kept for a request that is asked again.
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

// DenyLife is how long a no stands where its person said nothing else.
const DenyLife = 10 * time.Minute

// standing are the answers that a person gave to identical requests that are
// still to come. They are kept in memory and end with the host.
type standing struct {
	mu   sync.Mutex
	list []*standingAnswer
}

type answerKey [sha256.Size]byte

func keyOf(parts ...string) answerKey { return sha256.Sum256(fmt.Appendf(nil, "%q", parts)) }

type standingAnswer struct {
	approval.Answer
	holds   []answerKey // what it answers
	same    []answerKey // the request, whoever asks in which session
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
	req approval.Request
	judge.Shown
	same []answerKey
}

// over reports whether an answer stands no more. Neither a clock that is set
// nor a machine that sleeps makes it last longer.
func (a *standingAnswer) over(now time.Time) bool {
	byWall := now.Round(0).Sub(a.since.Round(0))
	return now.Sub(a.since) >= a.life || byWall >= a.life || byWall < 0
}

// put makes an answer stand, in the place of another one to the same request.
func (s *standing) put(a *standingAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.DeleteFunc(s.list, func(have *standingAnswer) bool {
		return have.over(a.since) || slices.Equal(have.holds, a.holds) || have.Decision != a.Decision && meet(have.same, a.same)
	})
	for len(s.list) >= maxStanding {
		oldest := slices.MinFunc(s.list, func(x, y *standingAnswer) int { return x.since.Compare(y.since) })
		s.list = slices.DeleteFunc(s.list, func(have *standingAnswer) bool { return have == oldest })
	}
	s.list = append(s.list, a)
}

func meet(a, b []answerKey) bool {
	return slices.ContainsFunc(a, func(k answerKey) bool { return slices.Contains(b, k) })
}

// take returns the answer that stands for one of these keys, if there is one. A
// yes is had once.
func (s *standing) take(keys []answerKey, now time.Time) (standingAnswer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.DeleteFunc(s.list, func(have *standingAnswer) bool { return have.over(now) })
	i := slices.IndexFunc(s.list, func(have *standingAnswer) bool { return meet(have.holds, keys) })
	if i < 0 {
		return standingAnswer{}, false
	}
	a := s.list[i]
	if a.bound != nil {
		s.list = slices.Delete(s.list, i, i+1)
	}
	if a.renewed {
		a.since = now
	}
	return *a, true
}

// drop ends the answers that are no more to stand.
func (s *standing) drop(which func(a *standingAnswer) bool) (dropped int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.list)
	s.list = slices.DeleteFunc(s.list, which)
	return before - len(s.list)
}

func (a *standingAnswer) id() string { return hex.EncodeToString(a.holds[0][:8]) }

// ofSession narrows the names of a request to those who ask in a session.
func ofSession(same []answerKey, sessionKey string) (keys []answerKey) {
	for _, k := range same {
		keys = append(keys, keyOf("session", sessionKey, string(k[:])))
	}
	return keys
}

// DenyFor denies a question, and for a while each identical request of the same
// agent or family: for as long as life, or with 0 for the session. Nobody needs to
// wait for the answer any more. Its errors are those of pending.Answer.
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
	stands.same = []answerKey{keyOf(key)}
	if b, ok := p.Bound.(*bound); ok {
		stands.same = b.same
	}
	if stands.holds = stands.same; life == 0 {
		stands.holds, stands.renewed = ofSession(stands.same, p.SessionKey), true
	}
	g.standing.put(stands)
	if err := g.Pending.Answer(id, pending.Shown{}, a); err != nil && !errors.Is(err, pending.ErrGone) {
		g.standing.drop(func(have *standingAnswer) bool { return have == stands })
		return err
	}
	g.Pending.Recheck(func(other approval.Prompt) (approval.Answer, bool) {
		b, ok := other.Bound.(*bound)
		return a, ok && meet(stands.holds, append(ofSession(b.same, other.SessionKey), b.same...))
	})
	return nil
}

func (g *Gate) stands(a approval.Answer, p approval.Prompt, life time.Duration) *standingAnswer {
	return &standingAnswer{Answer: a, agentID: p.AgentID, command: display.Short(display.Redact(p.Plan.Text)), since: g.Now(), life: life}
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
		stands.prompt, stands.bound, stands.holds, stands.same = p, b, []answerKey{keyOf(key)}, b.same
		g.standing.put(stands)
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
	for _, a := range g.standing.list {
		if !a.over(g.Now()) {
			list = append(list, Standing{a.id(), a.agentID, a.command, a.Decision, a.since.Add(a.life).UnixMilli()})
		}
	}
	slices.SortFunc(list, func(x, y Standing) int { return cmp.Or(cmp.Compare(x.Until, y.Until), cmp.Compare(x.ID, y.ID)) })
	return list
}

// Forget ends an answer that stands, and reports whether it was there.
func (g *Gate) Forget(id string) bool {
	return g.standing.drop(func(a *standingAnswer) bool { return a.id() == id }) > 0
}

// recheckStanding drops each yes that the policy of this moment denies.
func (g *Gate) recheckStanding() {
	g.standing.mu.Lock()
	list := slices.Clone(g.standing.list)
	g.standing.mu.Unlock()
	for _, a := range list {
		if a.bound == nil {
			continue
		}
		if now, ok := g.coveredNow(a.prompt); ok && now.Decision == approval.DecisionDeny {
			g.standing.drop(func(have *standingAnswer) bool { return have == a })
		}
	}
}

// deniedBefore is the denial that a person gave this request, as long as that
// stands; nil for none. It holds whether or not somebody could be asked now.
func (f *flight) deniedBefore() *approval.Denial {
	same := f.same()
	stands, ok := f.gate.standing.take(append(ofSession(same, f.judged.Req.SessionKey), same...), f.gate.Now())
	if !ok {
		return nil
	}
	stands.By += earlier
	f.record(stands.Answer)
	d := f.refusedBy(stands.Answer)
	if d.Reason == approval.ReasonUserDenied {
		d.Sentence = judge.SaidBefore + "the same is denied until " + stands.since.Add(stands.life).Format(time.TimeOnly) + " unless they take that back"
	}
	return d
}

// answered is what became of a question: the yes that stands for it, or the answer
// of a person who is asked now. was is what a yes of before is bound to.
func (f *flight) answered(key string, ask func() (approval.Answer, error)) (a approval.Answer, was *bound, err error) {
	exact := []answerKey{keyOf(key)}
	if stands, ok := f.gate.standing.take(exact, f.gate.Now()); ok {
		a = stands.Answer
		a.By += earlier
		return a, stands.bound, nil
	}
	f.row.Asked = f.gate.Now()
	f.event(approval.EventAsked, "")
	if a, err = ask(); err == nil && a.By != judge.ByPolicy && a.By != pending.Nobody { // the person says something now
		f.gate.standing.drop(func(have *standingAnswer) bool { return have.bound != nil && meet(have.holds, exact) })
	}
	return a, nil, err
}
