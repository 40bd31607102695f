// Package gate is the only place where a request meets the policy, the
// person, the record and the runner. Every request goes one way through it:
// analyse, judge, ask if that is due, judge again, write down, run, report.
//
// Nothing starts that has not gone this way, nothing starts before its row is
// in the history's queue and its grants are on disk, and nothing starts on an
// answer to a question about something else.
package gate

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/fair"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/rescue"
	"github.com/countersign-app/countersign/backend/runner"
	"github.com/countersign-app/countersign/backend/store"
)

// Asker knows whether a person can be asked.
type Asker interface {
	// CanAsk reports whether a question put now would be seen by somebody.
	CanAsk() bool
}

// Runner runs what was allowed.
type Runner interface {
	Run(ctx context.Context, job runner.Job) approval.Result
	Stop(id string) bool
	Running() []runner.Running
	Began(agent, family, session string, pid int) (approval.ProcessID, bool)
}

// Events is told what happens to runs. Event must not block and must not
// call back.
type Events interface {
	Event(e approval.Event)
}

// Config holds what a gate joins. All fields are required.
type Config struct {
	// Machine, Home, Hashes, Signers and Charters are for the judge of the gate.
	Machine func(ctx context.Context) (*judge.Machine, error)
	Home    string
	Store   *store.Store
	History *history.DB
	Pending *pending.Book
	Hashes  *machine.Hashes
	Signers *machine.Signers
	Asker   Asker
	Runner  Runner
	Events  Events
	// NewID returns a fresh run id.
	NewID    func() string
	Now      func() time.Time
	Log      *slog.Logger
	Charters config.Charters
	// Screen tells whether commands may record the screen; nil where nobody can.
	Screen func() bool
	// AskProject asks the person whether a folder is a project and keeps what they
	// say, which the next look at the policy sees. It returns ErrNoAnswer where ctx
	// ended before they did. Nil where nobody can be asked.
	AskProject func(ctx context.Context, q ProjectQuestion) error
}

// Gate judges requests and runs what may run. It may be used by many at once.
type Gate struct {
	Config
	judge    *judge.Judge
	sessions sessions
	standing standing
	pause    pause
	approved approved
	counts   counts
	projects projects
	written  written
	epoch    atomic.Pointer[epoch]
}

// New makes a gate.
func New(c Config) *Gate {
	g := &Gate{Config: c}
	g.judge = judge.New(judge.Config{
		Machine: func(ctx context.Context) (*judge.Machine, error) { return g.Machine(ctx) }, Home: c.Home, Policies: c.Store, Records: c.History, Charters: &g.Charters,
		Hashes: c.Hashes, Signers: c.Signers, Now: func() time.Time { return g.Now() }, Able: runner.Able, Waits: g.approved.waits,
		Began: func(req *approval.Request, pid int) (approval.ProcessID, bool) {
			return g.Runner.Began(req.AgentID, req.Peer.Family, req.SessionKey, pid)
		},
		Wrote: func(agentID, key string) []approval.File { return g.written.files(session{agentID, key}, g.Now()) },
	})
	g.pause.by, g.pause.waiting = map[string]int{}, fair.New(pending.Total)
	g.measure()
	g.epoch.Store(newEpoch())
	return g
}

// Judge is what the gate has its requests judged by. It asks, writes and starts
// nothing.
func (g *Gate) Judge() *judge.Judge { return g.judge }

// Run takes one request to its end. It returns when nothing of it runs any
// more. When ctx is cancelled the caller has gone: a waiting question stays
// for the person to see, a running command ends.
func (g *Gate) Run(ctx context.Context, req approval.Request) (result approval.Result) {
	f := g.take(req)
	defer g.pause.started(f)
	defer rescue.Catch(g.Log, "a request", func() { result = f.refused(failed()) })
	denial := f.begin(ctx)
	if denial == nil {
		denial = f.decide(ctx)
	}
	if denial != nil {
		return f.refused(denial)
	}
	return f.run(ctx)
}

// refused ends a request that ran nothing.
func (f *flight) refused(d *approval.Denial) approval.Result {
	r := approval.Result{Denied: f.signed(d)}
	f.close(history.Denied, r)
	return r
}

// signed says whose denial it is.
func (f *flight) signed(d *approval.Denial) *approval.Denial {
	d.RunID, d.By = f.judged.Req.ID, f.answer.By
	if d.By != pending.Nobody {
		d.Decision = f.answer.Decision
	}
	return d
}

// Decide answers a caller that runs the command itself, with one of the
// decisions that it can use (all of them, if it names none). answered is
// false when nobody gave an answer that counts.
func (g *Gate) Decide(ctx context.Context, req approval.Request, usable []approval.Decision) (d approval.Decision, answered bool) {
	f := g.take(req)
	defer g.pause.started(f)
	defer rescue.Catch(g.Log, "a request", func() {
		f.refused(failed())
		d, answered = approval.DecisionDeny, true
	})
	denial := f.begin(ctx)
	if len(usable) > 0 && !slices.Contains(usable, approval.AllowOnce) && denial == nil {
		denial = judge.Deny(approval.ReasonApprovalRequired, "the caller cannot use an answer that lets it run")
	}
	if denial == nil {
		f.usable = usable
		denial = f.decide(ctx)
	}
	if denial != nil {
		f.refused(denial)
		return approval.DecisionDeny, denial.Reason != approval.ReasonApprovalCancelled
	}
	f.close(history.Done, approval.Result{}) // nothing of it is ours to run
	// What ends or is narrow is ours to keep: the caller would remember its
	// program for good.
	if f.answer.Decision == approval.AllowAlways && !f.answer.Choice.Narrow() {
		return approval.AllowAlways, true
	}
	return approval.AllowOnce, true
}
