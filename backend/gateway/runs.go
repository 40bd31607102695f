package gateway

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/rescue"
)

// runs are the commands of agents, those that go on and those that ended a
// while ago.
type runs struct {
	mu    sync.Mutex
	list  map[string]*run
	ended []*run // in this order
	over  bool
	work  sync.WaitGroup
}

const (
	maxRuns = 5000
	// keepRun is how long what came of a command is kept.
	keepRun = time.Hour
)

// begin starts a command in the background. Its context ends with ctx, by
// exec.stop, and with the gateway.
func (l *runs) begin(ctx context.Context, u *run, g *Gateway, start func(context.Context) (outcome, error)) error {
	ctx, u.cancel = context.WithCancel(ctx)
	u.state, u.began, u.done, u.said = stateWaiting, time.Now(), make(chan struct{}), map[string]bool{}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list == nil {
		l.list = map[string]*run{}
	}
	if l.over || len(l.list) >= maxRuns && !l.drop() {
		u.cancel()
		return &link.Error{Code: link.CodeUnavailable, Message: "too many commands at once: try again later", Retryable: true}
	}
	l.list[u.ID] = u
	g.counts.runs.Inc()
	l.work.Go(func() {
		defer l.keep(u)
		defer u.cancel()
		defer rescue.Catch(g.opt.Log, "the end of a command", func() { u.end(g, outcome{}, errFailed) })
		out, err := g.started(ctx, start)
		u.end(g, out, err)
	})
	return nil
}

func (g *Gateway) started(ctx context.Context, start func(context.Context) (outcome, error)) (out outcome, err error) {
	defer rescue.Catch(g.opt.Log, "a command of an agent", func() { out, err = outcome{}, errFailed })
	return start(ctx)
}

// drop makes room by the run that ended first. The lock is held.
func (l *runs) drop() bool {
	if len(l.ended) == 0 {
		return false
	}
	delete(l.list, l.ended[0].ID)
	l.ended = l.ended[1:]
	return true
}

// keep keeps what came of a run. Of one that its caller waited for nobody asks
// again.
func (l *runs) keep(u *run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if u.loud {
		l.ended = append(l.ended, u)
	} else {
		delete(l.list, u.ID)
	}
}

func (l *runs) forget(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.ended) > 0 && now.Sub(l.ended[0].endedAt()) > keepRun {
		l.drop()
	}
}

// endOf ends what runs for a session.
func (l *runs) endOf(key sessionID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, u := range l.list {
		if u.key == key {
			u.cancel()
		}
	}
}

func (l *runs) endAll() {
	l.mu.Lock()
	l.over = true
	for _, u := range l.list {
		u.cancel()
	}
	l.mu.Unlock()
	l.work.Wait()
}

// open counts the runs that have not ended.
func (l *runs) open() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, u := range l.list {
		if u.endedAt().IsZero() {
			n++
		}
	}
	return n
}

func (l *runs) get(id string) *run {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.list[id]
}

// ofSession returns a run that belongs to the session that asks. Every other
// one is unknown to it.
func ofSession(p *peer, params json.RawMessage) (*run, error) {
	var q struct {
		RunID string `json:"runId"`
		sessionParams
	}
	if err := read(params, &q); err != nil {
		return nil, err
	}
	key, err := q.key()
	if err != nil {
		return nil, err
	}
	u := p.runs.get(q.RunID)
	if u == nil || u.key != key {
		return nil, link.Refuse(link.CodeInvalid, "unknown runId")
	}
	return u, nil
}

func execStatus(p *peer, _ context.Context, params json.RawMessage) (any, error) {
	u, err := ofSession(p, params)
	if err != nil {
		return nil, err
	}
	return u.view(), nil
}

func execOutput(p *peer, _ context.Context, params json.RawMessage) (any, error) {
	u, err := ofSession(p, params)
	if err != nil {
		return nil, err
	}
	if u.endedAt().IsZero() {
		return nil, link.Refuse(link.CodeUnavailable, "the command has not ended: its output comes whole")
	}
	return u.result(), u.refused()
}

// execStop ends a run: its question is withdrawn, or its processes end.
func execStop(p *peer, _ context.Context, params json.RawMessage) (any, error) {
	u, err := ofSession(p, params)
	if err != nil {
		return nil, err
	}
	u.cancel()
	<-u.done
	return u.view(), nil
}

// nodeEvent takes what a node tells of a run that it was given. What it tells
// of others is nobody's.
func nodeEvent(p *peer, _ context.Context, params json.RawMessage) (any, error) {
	var q struct {
		Event       string          `json:"event"`
		Payload     json.RawMessage `json:"payload"`
		PayloadJSON *string         `json:"payloadJSON"`
	}
	if err := read(params, &q); err != nil {
		return nil, err
	}
	if q.PayloadJSON != nil {
		q.Payload = json.RawMessage(*q.PayloadJSON)
	}
	var e struct {
		SessionKey string `json:"sessionKey"`
		RunID      string `json:"runId"`
		ExitCode   *int   `json:"exitCode"`
		TimedOut   bool   `json:"timedOut"`
		Output     string `json:"output"`
		Reason     string `json:"reason"`
	}
	what, ok := map[string]string{"exec.started": "started", "exec.finished": "finished", "exec.denied": "denied"}[q.Event]
	if !ok {
		return map[string]any{"ok": true, "event": q.Event, "handled": false, "reason": "unsupported_event"}, nil
	}
	if err := read(q.Payload, &e); err != nil {
		return nil, err
	}
	u := p.runs.get(e.RunID)
	if u == nil || u.NodeID != p.device.ID || u.key.Session != e.SessionKey {
		return map[string]any{"ok": true, "event": q.Event, "handled": false, "reason": "unmatched_exec_event"}, nil
	}
	about := e.Reason
	if what == "finished" {
		about = outcome{link.RunResult{ExitCode: e.ExitCode, TimedOut: e.TimedOut}}.code() + "\n" + tail(e.Output)
	}
	u.say(p.Gateway, what, about)
	return map[string]any{"ok": true, "event": q.Event, "handled": true}, nil
}
