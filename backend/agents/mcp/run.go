package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/rescue"
)

// run is a command in the background of one session. It is a request like any
// other, on a connection that the session holds: it ends with the session.
type run struct {
	id, command string
	begun       time.Time
	cancel      context.CancelFunc
	done        chan struct{} // closed when it is over

	mu      sync.Mutex
	state   State
	ended   time.Time
	outcome *Outcome
}

// State is how far a command in the background is.
type State string

const (
	StateWaiting State = "waiting" // it has not started
	StateRunning State = "running"
	StateDone    State = "done"
)

// View is a command in the background, as clients get it.
type View struct {
	ID        string `json:"id"`
	State     State  `json:"state"`
	Command   string `json:"command"`
	StartedAt int64  `json:"startedAt"` // unix milliseconds
	// Result is there when it is over and this one was asked for.
	Result *Outcome `json:"result,omitempty"`
}

// Bounds of what runs, and of what is kept of it.
const (
	maxRuns = 32
	maxKept = 100
	keptFor = time.Hour
)

// start begins a command in the background.
func (s *session) start(x ipc.Exec, command string) (*run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(time.Now())
	live := 0
	for _, r := range s.runs {
		if !r.isDone() {
			live++
		}
	}
	if live >= maxRuns {
		return nil, fmt.Errorf("%d commands run in the background, which is as many as may: stop one with exec_stop, or wait", live)
	}
	ctx, cancel := context.WithCancel(s.ctx)
	r := &run{id: rand.Text()[:10], command: command, begun: time.Now(), cancel: cancel, done: make(chan struct{}), state: StateWaiting}
	s.runs = append(s.runs, r)
	s.work.Go(func() { s.serve(ctx, r, x) })
	return r, nil
}

// serve runs a command to its end.
func (s *session) serve(ctx context.Context, r *run, x ipc.Exec) {
	defer rescue.Catch(s.Log, "the end of a command in the background", nil)
	defer r.cancel()
	o := s.executed(ctx, r, x)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.ended, r.outcome = StateDone, time.Now(), &o
	close(r.done)
}

func (s *session) executed(ctx context.Context, r *run, x ipc.Exec) (o Outcome) {
	defer rescue.Catch(s.Log, "a command in the background", func() { o = s.failed(ctx, errFailed) })
	started := false
	o = s.execute(ctx, x, func(event approval.EventKind) {
		if event == approval.EventStarted {
			started = true
			r.set(StateRunning)
		}
	})
	if started && ctx.Err() != nil && s.ctx.Err() == nil {
		s.settle(s.ctx)
	}
	return o
}

func (r *run) set(state State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = state
}

func (r *run) isDone() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// view is what the client is told, with the result if that is wanted.
func (r *run) view(whole bool) View {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := View{ID: r.id, State: r.state, Command: r.command, StartedAt: r.begun.UnixMilli()}
	if whole {
		v.Result = r.outcome
	}
	return v
}

// forget drops what ended long ago, and the oldest of what is too much. The
// session is locked.
func (s *session) forget(now time.Time) {
	over := 0
	for i := len(s.runs) - 1; i >= 0; i-- {
		r := s.runs[i]
		if !r.isDone() {
			continue
		}
		if over++; over > maxKept || now.Sub(r.ended) > keptFor {
			s.runs = slices.Delete(s.runs, i, i+1)
		}
	}
}

var errNoRun = errors.New("nothing of this session has that id: ask exec_status without an id for what there is")

func (s *session) find(id string) (*run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(time.Now())
	i := slices.IndexFunc(s.runs, func(r *run) bool { return r.id == id })
	if i < 0 {
		return nil, errNoRun
	}
	return s.runs[i], nil
}

// which are the arguments of exec_status and exec_stop.
type which struct {
	ID string `json:"id"`
}

// status is the tool exec_status.
func (s *session) status(_ context.Context, _ *sdk.CallToolRequest, q which) (any, error) {
	if q.ID != "" {
		r, err := s.find(q.ID)
		if err != nil {
			return nil, err
		}
		return map[string][]View{"runs": {r.view(true)}}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(time.Now())
	list := []View{}
	for _, r := range s.runs {
		list = append(list, r.view(false))
	}
	return map[string][]View{"runs": list}, nil
}

// stop is the tool exec_stop. It returns what is so after a while, also where
// the command has not ended by then.
func (s *session) stop(ctx context.Context, _ *sdk.CallToolRequest, q which) (any, error) {
	r, err := s.find(q.ID)
	if err != nil {
		return nil, err
	}
	r.cancel()
	select {
	case <-r.done:
	case <-time.After(ending):
	case <-ctx.Done():
	}
	return r.view(true), nil
}
