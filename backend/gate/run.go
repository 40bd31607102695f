package gate

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/rescue"
	"github.com/countersign-app/countersign/backend/runner"
)

// run starts what was let through and waits for its end.
func (f *flight) run(ctx context.Context) approval.Result {
	if f.plan.Shell != "" && f.plan.Outer == nil && !f.fromPlan() {
		return f.refused(deny(approval.ReasonNotFound, "the shell that should run this is not there"))
	}
	f.row.State, f.row.Started = history.Running, f.Now()
	if err := f.recorded(ctx); err != nil {
		f.Log.Error("nothing runs while the history cannot be written", "error", err)
		return f.refused(noHistory())
	}
	f.event(approval.EventStarted, "")
	if f.req.Background {
		ctx = context.WithoutCancel(ctx)
	}
	job := f.job(ctx)
	var started atomic.Bool
	job.Started = func(seg int, s *approval.Segment, p runner.Process) {
		started.Store(true)
		f.pause.started(f)
		f.programs.started(seg, s, p)
	}
	result := f.Runner.Run(ctx, job)
	switch {
	case result.Denied != nil && !started.Load():
		return f.refused(result.Denied)
	case result.Denied != nil: // something ran before: its output is reported
		code := exitDenied
		f.signed(result.Denied)
		result.ExitCode, result.Signal = &code, "" // the signal was ours
	}
	f.used()
	f.close(history.Done, result)
	if result.Denied == nil {
		r := f.allowed()
		result.Receipt = &r
	}
	return result
}

// recorded takes the row of a run into the history: of what a person allowed onto
// the disk as well, so that what it then runs cannot make it look as if it had not
// been allowed. What policy allows is there within a second.
func (f *flight) recorded(ctx context.Context) error {
	if err := f.History.Put(f.row); err != nil || !f.byPerson {
		return err
	}
	return f.History.Sync(ctx)
}

// exitDenied is the status of a command that a denial ended (plan-runner.md).
const exitDenied = 126

// fromPlan reports whether a text runs from its plan, without its shell.
func (f *flight) fromPlan() bool {
	return f.plan.Shell != "" && f.plan.Root != nil && !f.byPerson &&
		f.judgement.Verdict == approval.VerdictAllow && f.judgement.Security == approval.SecurityList && len(f.plan.Findings) == 0 &&
		!slices.ContainsFunc(f.judgement.Segments, func(s approval.SegmentJudgement) bool { return s.Verdict != approval.VerdictAllow })
}

// job is what the runner gets. A text that policy allows runs from its plan;
// what a person allowed, and everything under full, starts exactly the
// program that was asked for (judgement.md, three ways to run).
func (f *flight) job(ctx context.Context) runner.Job {
	mode := runner.ModeArgv
	if f.fromPlan() {
		mode = runner.ModePlan
	}
	f.programs = &programs{flight: f, rows: map[int]history.Row{}}
	check := func(seg int, s *approval.Segment) error { return f.check(ctx, seg, s) }
	final := func(seg int, argv []string, dir string) (*approval.Plan, error) { return f.final(ctx, seg, argv, dir) }
	return runner.Job{
		ID: f.req.ID, Agent: f.req.AgentID, Family: f.req.Peer.Family, Plan: &f.plan, Mode: mode,
		Env:     f.machine.Env.With(f.req.Env, f.req.ID, f.plan.Cwd.Path),
		Timeout: f.req.Timeout, Background: f.req.Background,
		Check: check, Final: final, Find: f.machine.Analyzer.Find, Ended: f.programs.ended,
	}
}

// final judges a command of a text whose words only the run could tell. It
// passes as everything else does, or ends the run.
func (f *flight) final(ctx context.Context, seg int, argv []string, dir string) (plan *approval.Plan, err error) {
	defer rescue.Catch(f.Log, "what a command became", func() { plan, err = nil, &runner.Denied{Denial: *failed()} })
	again := flight{Gate: f.Gate, req: f.req, machine: f.machine, whole: &f.plan}
	again.plan = f.machine.Analyzer.Final(ctx, &f.plan, &f.plan.Segments[seg], argv, dir)
	f.paying.Lock()
	defer f.paying.Unlock()
	again.paid = f.paid
	again.evaluate(f.answer.By == byFallback)
	d := again.grants()
	f.paid = again.paid
	switch again.judgement.Verdict {
	case approval.VerdictAllow:
	case approval.VerdictAsk:
		d = deny(again.judgement.Reason, "what this became needs a person's yes, and nobody is asked in the middle of a run: "+again.judgement.Sentence)
	default:
		d = again.denied()
	}
	if d != nil {
		d.Segment = again.plan.Text
		return nil, &runner.Denied{Denial: *d}
	}
	return &again.plan, nil
}

// check is the judge right before a start: if the policy changed since the
// request was judged, or that is a while ago, it is judged again, and only what
// would still run runs. Words that only the run could tell are judged as what
// they became. Nothing starts after a program that could not be recorded, and
// nothing after a stop.
func (f *flight) check(ctx context.Context, seg int, s *approval.Segment) (err error) {
	defer rescue.Catch(f.Log, "the look before a start", func() { err = &runner.Denied{Denial: *failed()} })
	if f.stopped() {
		return &runner.Denied{Denial: *stopDenial()}
	}
	if f.pause.tooLate(f) {
		return &runner.Denied{Denial: *deny(approval.ReasonApprovalCancelled, "Countersign was paused before this started")}
	}
	if f.programs.lost.Load() {
		return &runner.Denied{Denial: *noHistory()}
	}
	isFresh := f.Store.Current().Generation == f.generation && f.Now().Sub(f.judged) < fresh
	if d := f.elsewhere(!isFresh); d != nil {
		return &runner.Denied{Denial: *d}
	}
	if isFresh {
		return nil
	}
	if s != nil && f.plan.Segments[seg].Words != nil {
		if _, err := f.final(ctx, seg, s.Argv, s.Dir); err != nil {
			return err
		}
	}
	if d := f.stillAllowed(); d != nil {
		return &runner.Denied{Denial: *d}
	}
	return nil
}

// elsewhere denies what was judged by a folder that is another one now: swapped,
// led elsewhere by a link, or none any more. Where none counted, nothing did. A
// judgement that is fresh needs a look at the folder alone.
func (f *flight) elsewhere(whole bool) *approval.Denial {
	folder := f.plan.Folder
	if folder.Path == "" {
		return nil
	}
	now, err := f.machine.Analyzer.World.Look(folder.Path)
	same := err == nil && now.Path == folder.Path && now.Dev == folder.Dev && now.Ino == folder.Ino
	if same && folder.By == approval.FolderCheckout {
		_, err = f.machine.Analyzer.World.Look(folder.Path + "/.git")
		same = err == nil
	}
	if same && whole {
		rules, _ := f.rulesFor(f.req.AgentID)
		same = folder.Same(rules.folder(f.machine, &f.req))
	}
	if !same {
		return deny(approval.ReasonDrifted, "the project that it works in is not the one any more that was judged: ask again")
	}
	return nil
}

// fresh is how long a judgement holds without a change of the policy: leases
// end by the clock.
const fresh = time.Second

// stillAllowed judges the request once more while it runs. Where another entry
// lets it pass than before, that one is paid for as well.
func (f *flight) stillAllowed() *approval.Denial {
	f.paying.Lock()
	defer f.paying.Unlock()
	again := flight{Gate: f.Gate, req: f.req, machine: f.machine, plan: f.plan, answer: f.answer, byPerson: f.byPerson, paid: f.paid}
	again.evaluate(f.answer.By == byFallback)
	switch again.judgement.Verdict {
	case approval.VerdictAllow:
		d := again.grants()
		f.paid = again.paid
		return d
	case approval.VerdictAsk:
		if f.byPerson {
			return nil
		}
		return deny(approval.ReasonDrifted, "what allows it changed or ended before it started: "+again.denied().Sentence)
	}
	return again.denied()
}

// used notes which entries let the request pass.
func (f *flight) used() {
	for i, s := range f.judgement.Segments {
		if s.EntryID == "" || s.Verdict != approval.VerdictAllow || f.plan.Segments[i].Program == nil {
			continue
		}
		f.Store.Used(f.req.AgentID, s.EntryID, display.Redact(f.plan.Text), f.plan.Segments[i].Program.File.Path)
	}
}

// programs keeps the rows of the single programs of a run. Stages of a
// pipeline report at the same time.
type programs struct {
	*flight
	mu    sync.Mutex
	count int                 // of all that were started
	rows  map[int]history.Row // of those that run, by process
	lost  atomic.Bool         // a row was not taken
}

func (p *programs) started(_ int, s *approval.Segment, proc runner.Process) {
	p.mu.Lock()
	p.count++
	n := p.count
	p.mu.Unlock()
	row := p.programRow(n, s)
	row.State, row.Started = history.Running, p.Now()
	row.PGID, row.PStarted = proc.PGID, proc.Started
	p.mu.Lock()
	p.rows[proc.PID] = row
	p.mu.Unlock()
	p.put(row)
}

func (p *programs) ended(_ int, proc runner.Process, status runner.Status) {
	p.mu.Lock()
	row := p.rows[proc.PID]
	delete(p.rows, proc.PID)
	p.mu.Unlock()
	row.State, row.Ended, row.Signal = history.Done, p.Now(), status.Signal
	if status.Signal == "" {
		row.ExitCode = &status.Code
	}
	p.put(row)
}

// programRow returns the row of the nth program that was started: of a
// segment, or of what was asked for if there is none.
func (p *programs) programRow(n int, s *approval.Segment) history.Row {
	argv, dir, res := p.plan.Argv, p.plan.Cwd.Path, p.plan.Outer
	if s != nil {
		argv, dir, res = s.Argv, s.Dir, s.Program
	}
	row := history.Row{
		ID: fmt.Sprintf("%s/%d", p.req.ID, n), Parent: p.req.ID, Seq: n,
		AgentID: p.req.AgentID, SessionKey: p.req.SessionKey, Cwd: display.Redact(dir),
		Command: redactedWords(argv), Arrived: p.req.Arrived,
	}
	if res != nil {
		row.Program = display.Redact(res.File.Path)
	}
	return row
}

// maxRowWords bounds what a row repeats of the words of one program, in bytes:
// they can be a megabyte, and a loop starts thousands of programs.
const maxRowWords = 16 << 10

func redactedWords(argv []string) string {
	size := 0
	for i, word := range argv {
		if size += len(word); size > maxRowWords {
			// Nothing of the long word itself: half a secret has no known shape.
			return redactedArgv(argv[:i]) + " … (" + strconv.Itoa(len(argv)-i) + " more words)"
		}
	}
	return redactedArgv(argv)
}

// put records what has happened already: an error is for the log, because
// the request's own row was taken before anything started.
func (p *programs) put(row history.Row) {
	if err := p.History.Put(row); err != nil {
		p.lost.Store(true)
		p.Log.Error("cannot record a program of a run", "run", p.req.ID, "error", err)
	}
}
