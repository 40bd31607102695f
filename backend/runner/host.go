//go:build linux || darwin

package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/descriptors"
)

// Runner runs jobs. A host makes one; Close ends it.
type Runner struct {
	now   func() time.Time
	log   *slog.Logger
	slots chan struct{} // one token for each start that may be going on
	null  int           // /dev/null, read and write
	room  room

	mu     sync.Mutex
	closed bool
	runs   map[string]*run
	active sync.WaitGroup
}

// New makes a Runner. On Linux it makes this process a child subreaper.
func New(o Options) (*Runner, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxStarts <= 0 {
		o.MaxStarts = max(2, runtime.NumCPU())
	}
	if o.Descriptors <= 0 {
		shares, err := descriptors.Share()
		if err != nil {
			return nil, err
		}
		o.Descriptors = shares.Commands
	}
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot open /dev/null: %w", err)
	}
	if err := ours.join(); err != nil {
		unix.Close(null)
		return nil, fmt.Errorf("cannot look after the children of this process: %w", err)
	}
	return &Runner{
		now: o.Now, log: o.Log, null: null,
		slots: make(chan struct{}, o.MaxStarts), runs: map[string]*run{},
		room: newRoom(wholeRoom(o.Descriptors)),
	}, nil
}

// Run runs a job to its end. When ctx is cancelled, every program of the run
// gets TERM and after two seconds KILL. It returns when nothing of the run
// is left.
func (r *Runner) Run(ctx context.Context, job Job) approval.Result {
	if err := job.valid(); err != nil {
		return approval.Result{Error: err.Error()}
	}
	u, err := r.add(ctx, job)
	if err != nil {
		return approval.Result{Error: err.Error()}
	}
	defer r.remove(u)
	return u.do()
}

func (r *Runner) add(ctx context.Context, job Job) (*run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errClosed
	}
	if r.runs[job.ID] != nil {
		return nil, errors.New("internal error: a run with this id is going on")
	}
	u := &run{Runner: r, job: job, started: r.now(), terminated: make(chan struct{}), over: make(chan struct{}), unread: map[*os.File]bool{}, outputs: map[string]approval.Redirect{}}
	u.ctx, u.cancel = context.WithCancelCause(ctx)
	r.runs[job.ID] = u
	r.active.Add(1)
	ours.add(u)
	return u, nil
}

func (r *Runner) remove(u *run) {
	u.cancel(nil)
	r.room.give(u.job.Agent, u.job.family(), u.has)
	ours.remove(u)
	r.mu.Lock()
	delete(r.runs, u.job.ID)
	r.mu.Unlock()
	close(u.over)
	r.active.Done()
}

// Stop ends a run and reports whether it was going on. It does not wait for
// the end.
func (r *Runner) Stop(id string) bool {
	r.mu.Lock()
	u := r.runs[id]
	r.mu.Unlock()
	if u != nil {
		u.cancel(errStopped)
	}
	return u != nil
}

// StopAll ends every run that is going on, background runs too: TERM, and soon
// after it KILL. It returns how many there were when nothing of them is left,
// or an error if ctx ends before that.
func (r *Runner) StopAll(ctx context.Context) (ended int, err error) {
	r.mu.Lock()
	list := slices.Collect(maps.Values(r.runs))
	r.mu.Unlock()
	for _, u := range list {
		u.hurry.Store(true)
		u.cancel(errStoppedAll)
	}
	for _, u := range list {
		select {
		case <-u.over:
		case <-ctx.Done():
			return len(list), fmt.Errorf("some of what ran does not end: %w", ctx.Err())
		}
	}
	return len(list), nil
}

// Running returns what runs now, in no order.
func (r *Runner) Running() []Running {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Running, 0, len(r.runs))
	for id, u := range r.runs {
		list = append(list, Running{ID: id, Started: u.started, Background: u.job.Background, Groups: ours.groups(u)})
	}
	return list
}

// Began tells of a living process by its number, where a run of such a session that is not
// over started it: one of its programs, or what is still in the session of one.
func (r *Runner) Began(agent, family, session string, pid int) (id approval.ProcessID, ok bool) {
	if session == "" {
		return id, false
	}
	of := ours.runOf(pid, &id)
	return id, of != nil && of.Runner == r && of.job.Agent == agent && of.job.Family == family && of.job.Session == session
}

// Close ends every run, background runs too, and waits until they are over.
// No job runs after it.
func (r *Runner) Close() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.closed = true
	for _, u := range r.runs {
		u.cancel(errClosed)
	}
	r.mu.Unlock()
	r.active.Wait()
	ours.leave()
	unix.Close(r.null)
}
