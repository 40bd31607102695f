package gate

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/store"
)

// sessionLife is how long a session lasts without a request.
const sessionLife = 12 * time.Hour

// maxSessions bounds the sessions that are remembered. What is forgotten is
// looked up in the history.
const maxSessions = 10_000

// sessions knows when each session last asked for something.
type sessions struct {
	mu   sync.Mutex
	last map[session]time.Time
}

type session struct{ agentID, key string }

// before returns when the latest request of a session was, if that is known.
func (s *sessions) before(which session) (at time.Time, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, known = s.last[which]
	return at, known
}

// now notes a request of a session.
func (s *sessions) now(which session, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil || len(s.last) >= maxSessions {
		s.last = map[session]time.Time{}
	}
	s.last[which] = at
}

// inSession notes the request for its session, and takes back first what was
// allowed for that one if it was over: nothing of it may come back with the same
// name, neither for who tries until that fails nor for who asks twice at once.
func (f *flight) inSession(ctx context.Context) error {
	if f.judged.Req.SessionKey == "" {
		return nil
	}
	which := session{f.judged.Req.AgentID, f.judged.Req.SessionKey}
	if err := f.endSession(ctx, which); err != nil {
		return err
	}
	f.gate.sessions.now(which, f.gate.Now())
	return nil
}

func (f *flight) endSession(ctx context.Context, which session) error {
	last, known := f.gate.sessions.before(which)
	leases := slices.DeleteFunc(slices.Clone(f.gate.Store.Current().Policy(f.judged.Req.AgentID).Allowlist), func(e approval.Entry) bool {
		return e.SessionKey != f.judged.Req.SessionKey
	})
	if len(leases) == 0 {
		return nil
	}
	if !known {
		none := ""
		rows, err := f.gate.History.List(ctx, history.Query{AgentID: which.agentID, SessionKey: which.key, Parent: &none, Limit: 1})
		if err != nil {
			return fmt.Errorf("whether the session is over cannot be told: %w", err)
		}
		if len(rows) > 0 {
			last = rows[0].Arrived
		}
	}
	over := func(e approval.Entry) bool {
		since := last
		if added := time.UnixMilli(e.AddedAt); e.AddedAt != 0 && added.After(since) {
			since = added
		}
		return !since.IsZero() && f.gate.Now().Sub(since) > sessionLife
	}
	if !slices.ContainsFunc(leases, over) {
		return nil
	}
	_, err := f.gate.Store.Update("", func(d *store.Document) error {
		d.EndLeases(func(agentID string, e approval.Entry) bool {
			return (agentID == which.agentID || agentID == store.Every) && e.SessionKey == which.key && over(e)
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("what was allowed for a session that is over cannot be taken back: %w", err)
	}
	return nil
}
