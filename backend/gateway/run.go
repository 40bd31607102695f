package gateway

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

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
