// Package gate is the only place where a request meets the policy, the
// person, the record and the runner. Every request goes one way through it:
// analyse, judge, ask if that is due, judge again, write down, run, report.
//
// Nothing starts that has not gone this way, nothing starts before its row is
// in the history's queue and its grants are on disk, and nothing starts on an
// answer to a question about something else.
package gate

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/environ"
	"github.com/countersign-app/countersign/backend/fair"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/project"
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
}

// Events is told what happens to runs. Event must not block and must not
// call back.
type Events interface {
	Event(e approval.Event)
}

// Machine is what the gate must know of the machine to judge: how words lead
// to programs, and the environment that programs get.
type Machine struct {
	Analyzer *command.Analyzer
	Env      environ.Base
}

// Config holds what a gate joins. All fields are required.
type Config struct {
	// Machine returns the machine, and waits for it at the first request: the
	// login environment is read in the background when a host starts.
	Machine func(ctx context.Context) (*Machine, error)
	// Home is the person's home folder, for patterns.
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
	NewID func() string
	Now   func() time.Time
	Log   *slog.Logger
	// Charters are those that the policy names.
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
	mu       sync.Mutex
	rules    map[string]prepared // by agent
	sessions sessions
	standing standing
	pause    pause
	approved approved
	counts   counts
	projects projects
	epoch    atomic.Pointer[epoch]
}

// prepared are the rules of one agent, made from one state of the store.
type prepared struct {
	generation uint64
	rules      *rules
}

// New makes a gate.
func New(c Config) *Gate {
	g := &Gate{Config: c, rules: map[string]prepared{}}
	g.pause.by, g.pause.waiting = map[string]int{}, fair.New(pending.Total)
	g.measure()
	g.epoch.Store(newEpoch())
	return g
}

// maxAgents bounds the agents whose rules are kept prepared.
const maxAgents = 64

// rulesFor returns the rules that hold for an agent now, and the generation
// of the store they were made from.
func (g *Gate) rulesFor(agentID string) (*rules, uint64) {
	now := g.Store.Current()
	g.mu.Lock()
	have, ok := g.rules[agentID]
	g.mu.Unlock()
	if ok && have.generation == now.Generation && (have.rules.charters == "" || have.rules.charters == g.Charters.Stamp()) {
		return have.rules, now.Generation
	}
	rules := g.prepare(now.Policy(agentID))
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.rules) >= maxAgents {
		clear(g.rules)
	}
	g.rules[agentID] = prepared{now.Generation, rules}
	return rules, now.Generation
}

// realPath follows the links of a path, and returns "" where nothing is.
func realPath(name string) string {
	file, err := machine.Disk{}.Look(name)
	if err != nil {
		return ""
	}
	return file.Path
}

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
	d.RunID, d.By = f.req.ID, f.answer.By
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
		denial = deny(approval.ReasonApprovalRequired, "the caller cannot use an answer that lets it run")
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

// folder works out the session's folder of a request, as things are now. An agent
// that says none works in the home folder, which is none.
func (r *rules) folder(m *Machine, req *approval.Request) approval.Folder {
	a := m.Analyzer
	return project.Find(cmp.Or(req.Cwd, a.Home), project.Person{Home: a.Home, UID: a.UID}, r.projects, a.World)
}

// plan makes the plan of a request under these rules.
func (r *rules) plan(ctx context.Context, m *Machine, req *approval.Request) approval.Plan {
	return analyze(ctx, m, req, r.folder(m, req))
}

// analyze makes the plan of a request. A text that the runner cannot run from
// its plan is one that needs its shell, and so a person's yes.
func analyze(ctx context.Context, m *Machine, req *approval.Request, folder approval.Folder) approval.Plan {
	if req.Tool != nil {
		return analyzeTool(ctx, m, req, folder)
	}
	plan := m.Analyzer.Analyze(ctx, req, folder)
	if plan.Shell != "" && plan.Root != nil && !runner.Able(&plan) {
		plan.Root = nil
		plan.Findings = append(plan.Findings, approval.Finding{Reason: approval.ReasonApprovalRequired, Sentence: "it cannot be run without its shell yet"})
	}
	return plan
}

// Suppose judges a request under another policy, and neither asks nor runs.
func (g *Gate) Suppose(ctx context.Context, p approval.Policy, req approval.Request) (approval.Judgement, error) {
	m, err := g.Machine(ctx)
	if err != nil {
		return approval.Judgement{}, err
	}
	rules := g.prepare(p)
	f := &flight{Gate: g, req: req, machine: m, plan: rules.plan(ctx, m, &req)}
	return rules.Evaluate(f.input()), nil
}

// Denylisted tells why the floor, the denylist or a rule for tools forbids a request
// wherever it runs, in a sandbox too; no reason where they do not.
func (g *Gate) Denylisted(ctx context.Context, req approval.Request) (approval.Finding, error) {
	m, err := g.Machine(ctx)
	if err != nil {
		return approval.Finding{}, err
	}
	rules, _ := g.rulesFor(store.AgentID(req.AgentID))
	f := &flight{Gate: g, req: req, machine: m, plan: rules.plan(ctx, m, &req)}
	return rules.Denylisted(f.input()), nil
}

// ExplainTool judges a tool call as Evaluate would, and neither asks nor records.
func (g *Gate) ExplainTool(ctx context.Context, call approval.ToolCall, peer approval.Peer) (approval.Plan, approval.Judgement, error) {
	return g.Explain(ctx, requestFor(call, peer))
}

// Explain judges a request as Run would, and neither asks nor runs.
func (g *Gate) Explain(ctx context.Context, req approval.Request) (approval.Plan, approval.Judgement, error) {
	m, err := g.Machine(ctx)
	if err != nil {
		return approval.Plan{}, approval.Judgement{}, err
	}
	req.AgentID = store.AgentID(req.AgentID)
	f := &flight{Gate: g, req: req, machine: m}
	f.judge(ctx, false)
	return f.plan, f.judgement, nil
}
