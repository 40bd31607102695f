package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
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

// run is one command of an agent.
type run struct {
	ID      string
	Host    approval.Host
	NodeID  string
	Command string
	key     sessionID
	loud    bool // its session is told of it
	cancel  context.CancelFunc
	done    chan struct{}

	mu      sync.Mutex
	state   string
	began   time.Time
	started time.Time
	ended   time.Time
	out     outcome
	err     error
	refusal error           // of an operator here
	said    map[string]bool // events that its session was told
}

// States of a run.
const (
	stateWaiting  = "waiting" // for its host to judge it
	stateAsked    = "asked"   // a person is asked
	stateRunning  = "running"
	stateFinished = "finished"
	stateDenied   = "denied" // it did not run, or was ended
)

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

func (u *run) endedAt() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ended
}

// told takes the progress that a host tells.
func (u *run) told(g *Gateway, state string) {
	u.mu.Lock()
	over, fresh := !u.ended.IsZero(), false
	switch {
	case over:
	case state == string(approval.EventAsked):
		fresh = u.state != stateAsked
		u.state = stateAsked
	case state == string(approval.EventStarted):
		u.state, u.started = stateRunning, time.Now()
	}
	u.mu.Unlock()
	if fresh {
		g.asked(u)
	}
	if !over && state == string(approval.EventStarted) {
		u.say(g, "started", "")
	}
}

func (u *run) end(g *Gateway, out outcome, err error) {
	u.mu.Lock()
	if err != nil && u.refusal != nil {
		err = u.refusal
	}
	u.out, u.err, u.ended = out, err, time.Now()
	u.mu.Unlock()
	// Who sees that it is over finds its event, too.
	state := stateFinished
	if err != nil {
		state = stateDenied
		g.counts.denied.Inc()
		u.say(g, "denied", errReason(err))
	} else {
		u.say(g, "finished", out.code()+"\n"+out.text())
	}
	u.mu.Lock()
	u.state = state
	u.mu.Unlock()
	close(u.done)
}

// code is how a command ended, as events name it.
func (o outcome) code() string {
	switch {
	case o.TimedOut:
		return "timeout"
	case o.ExitCode != nil:
		return fmt.Sprint(*o.ExitCode)
	case o.Error != nil:
		if _, signal, ok := strings.Cut(*o.Error, approval.EndedBySignal); ok {
			return "signal:" + signal
		}
	}
	return "?"
}

// text is the end of what a command printed.
func (o outcome) text() string {
	parts := []string{o.Stdout, o.Stderr}
	if o.Error != nil {
		parts = append(parts, *o.Error)
	}
	var some []string
	for _, s := range parts {
		if s = strings.TrimSpace(s); s != "" {
			some = append(some, s)
		}
	}
	return tail(strings.Join(some, "\n"))
}

// maxTail is how much of an output an event carries, in characters.
const maxTail = 20_000

func tail(text string) string {
	const cut = "… (truncated) "
	if runes := []rune(text); len(runes) > maxTail {
		return cut + string(runes[len(runes)-maxTail+len([]rune(cut)):])
	}
	return text
}

// say queues an event for the session of a run, each once. Its texts are those
// of the plan.
func (u *run) say(g *Gateway, what, about string) {
	u.mu.Lock()
	quiet := !u.loud || u.said[what] || what == "started" && (u.said["finished"] || u.said["denied"]) || what != "started" && (u.said["finished"] || u.said["denied"])
	u.said[what] = true
	u.mu.Unlock()
	if quiet {
		return
	}
	where := u.NodeID
	if where == "" {
		where = string(u.Host)
	}
	text := fmt.Sprintf("Exec %s (node=%s, id=%s", what, where, u.ID)
	switch what {
	case "started":
		text += ")"
	case "denied":
		text += ", " + about + ")"
	default:
		code, output, _ := strings.Cut(about, "\n")
		text += ", code=" + code + ")"
		if output != "" {
			text += "\n" + output
		}
	}
	if err := g.sessions.put(u.key, sessionEvent{Text: text, RunID: u.ID, TS: time.Now().UnixMilli()}); err != nil {
		g.opt.Log.Warn("an event of a session was dropped", "session", u.key.Session, "error", err)
	}
}

// runView is what exec.status tells.
type runView struct {
	RunID    string        `json:"runId"`
	Status   string        `json:"status"`
	Host     approval.Host `json:"host"`
	NodeID   string        `json:"nodeId,omitempty"`
	Began    int64         `json:"createdAtMs"`
	Started  int64         `json:"startedAtMs,omitempty"`
	Ended    int64         `json:"endedAtMs,omitempty"`
	ExitCode *int          `json:"exitCode,omitempty"`
	TimedOut bool          `json:"timedOut,omitempty"`
	Success  bool          `json:"success,omitempty"`
	Error    string        `json:"error,omitempty"`
}

func (u *run) view() runView {
	u.mu.Lock()
	defer u.mu.Unlock()
	v := runView{
		RunID: u.ID, Status: u.state, Host: u.Host, NodeID: u.NodeID, Began: u.began.UnixMilli(), Started: unix(u.started), Ended: unix(u.ended),
		ExitCode: u.out.ExitCode, TimedOut: u.out.TimedOut, Success: u.out.Success,
	}
	if u.err != nil {
		v.Error = refusal(u.err).Message
	} else if u.out.Error != nil {
		v.Error = *u.out.Error
	}
	return v
}

func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// refused is why a run that is over did not run.
func (u *run) refused() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// result is what exec.run answers.
func (u *run) result() map[string]any {
	v := u.view()
	return map[string]any{
		"runId": v.RunID, "status": v.Status, "host": v.Host, "nodeId": v.NodeID, "exitCode": u.out.ExitCode, "timedOut": u.out.TimedOut, "success": u.out.Success,
		"stdout": u.out.Stdout, "stderr": u.out.Stderr, "error": u.out.Error,
	}
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
