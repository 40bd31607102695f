// Package sandbox runs commands of agents where they reach nothing of this
// machine but one folder: in a container of a Docker engine for each session,
// or under bubblewrap.
//
// It talks to the engine's socket or starts bwrap, and to nothing else. It
// judges no command. Three things must never happen: that a command runs
// outside of its box because the box could not be made, that a box reaches
// more than its options name, and that a box lives on when its session ended.
package sandbox

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/rescue"
)

// Options are the same for every box.
type Options struct {
	// Owner tells our boxes from those of other programs and other state folders.
	Owner string
	// Home is the person's home folder, and Private are folders that no box may
	// reach: ours, and those with the sockets of the session.
	Home    string
	Private []string
	// Sockets are where a Docker engine may listen, in this order.
	Sockets []string
	Log     *slog.Logger
}

// Result is how a command ended. Output beyond 200 000 bytes is dropped, and
// says so.
type Result struct {
	ExitCode       int
	TimedOut       bool
	Stdout, Stderr string
}

// box runs the commands of one session.
type box interface {
	// run runs a command until it ends, or until ctx ends, and leaves nothing of
	// it running that it waited for.
	run(ctx context.Context, j Job, out *output) (status int, err error)
	// end ends whatever runs in it, and ended tells that it did.
	end()
	ended() bool
}

// Sandbox keeps the boxes of all sessions. Its methods may be called by many
// at once.
type Sandbox struct {
	opt Options

	mu    sync.Mutex
	boxes map[string]*place
	swept map[string]bool    // sockets of engines
	left  map[string]*engine // containers that could not be removed
	over  bool
}

const (
	// maxBoxes is how many sessions have a box at once, maxWork how many commands
	// run in one of them.
	maxBoxes = 100
	maxWork  = 32
)

// New makes no box yet.
func New(opt Options) *Sandbox {
	return &Sandbox{opt: opt, boxes: map[string]*place{}, swept: map[string]bool{}, left: map[string]*engine{}}
}

// errTimeout ends a command whose time is over.
var errTimeout = errors.New("the command was ended because its time was over")

// Run runs a command in the box of its session, as c describes it. An error
// says that it did not run, or that nobody knows how it ended.
func (s *Sandbox) Run(ctx context.Context, c config.Sandbox, j Job) (Result, error) {
	c, err := s.checked(c, j.Writable)
	if err != nil {
		return Result{}, err
	}
	if j.Dir, err = inside(c.Workspace, j.Dir); err != nil {
		return Result{}, err
	}
	if err := valid(j); err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, j.Timeout, errTimeout)
	defer cancel()
	out := &output{}
	status, err := s.run(ctx, c, j, out)
	if errors.Is(err, errVanished) {
		status, err = s.run(ctx, c, j, out) // in a new one
	}
	r := Result{ExitCode: status}
	r.Stdout, r.Stderr = out.texts()
	if errors.Is(context.Cause(ctx), errTimeout) && err != nil {
		r.TimedOut, err = true, nil
	}
	return r, err
}

// run runs a command in the box of its session, which is made where there is
// none.
func (s *Sandbox) run(ctx context.Context, c config.Sandbox, j Job, out *output) (int, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	p, err := s.enter(ctx, c, j.Session)
	if err != nil {
		return 0, err
	}
	var status int
	if err = context.Cause(ctx); err == nil {
		status, err = s.within(ctx, p.box, j, out)
	}
	s.leave(j.Session, p, ctx.Err() != nil)
	return status, err
}

// within runs a command in a box. Where that makes us panic, the box ends with all
// that runs in it.
func (s *Sandbox) within(ctx context.Context, b box, j Job, out *output) (status int, err error) {
	defer rescue.Catch(s.opt.Log, "a command in a sandbox", func() {
		status, err = 0, errFailed
		b.end()
	})
	if status, err = b.run(ctx, j, out); !out.whole() {
		return 0, errFailed
	}
	return status, err
}

// errVanished is told of a box that was ended by others before the command
// began.
var errVanished = errors.New("the sandbox of this session is gone: somebody ended it, or it had too little memory")

// errEnded is told of what runs in a box that is ended.
var errEnded = errors.New("the sandbox of this session was ended")

// errFailed is told where a mistake of ours was caught: the command was ended.
var errFailed = errors.New("Countersign failed at the sandbox, so the command was ended: its log says where")

// Close ends every box. No command runs after it.
func (s *Sandbox) Close() {
	s.mu.Lock()
	s.over = true
	list := s.boxes
	s.boxes = map[string]*place{}
	s.mu.Unlock()
	var all sync.WaitGroup
	for _, p := range list {
		all.Go(rescue.Guarded(s.opt.Log, "the end of a sandbox", p.end))
	}
	all.Wait()
}
