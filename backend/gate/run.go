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
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/rescue"
	"github.com/countersign-app/countersign/backend/runner"
)

// run starts what was let through and waits for its end.
func (f *flight) run(ctx context.Context) approval.Result {
	if f.judged.Plan.Shell != "" && f.judged.Plan.Outer == nil && !f.fromPlan() {
		return f.refused(judge.Deny(approval.ReasonNotFound, "the shell that should run this is not there"))
	}
	f.row.State, f.row.Started = history.Running, f.gate.Now()
	if err := f.recorded(ctx); err != nil {
		f.gate.Log.Error("nothing runs while the history cannot be written", "error", err)
		return f.refused(noHistory())
	}
	f.event(approval.EventStarted, "")
	if f.judged.Req.Background {
		ctx = context.WithoutCancel(ctx)
	}
	job := f.job(ctx)
	var started atomic.Bool
	job.Started = func(seg int, s *approval.Segment, p runner.Process) {
		started.Store(true)
		f.gate.pause.started(f)
		f.programs.started(seg, s, p)
	}
	result := f.gate.Runner.Run(ctx, job)
	if started.Load() {
		f.wrote(ctx)
	}
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
		r := f.judged.Allowed(f.answer)
		result.Receipt = &r
	}
	return result
}

// recorded takes the row of a run into the history: of what a person allowed onto
// the disk as well, so that what it then runs cannot make it look as if it had not
// been allowed. What policy allows is there within a second.
func (f *flight) recorded(ctx context.Context) error {
	if err := f.gate.History.Put(f.row); err != nil || !f.byPerson {
		return err
	}
	return f.gate.History.Sync(ctx)
}

// exitDenied is the status of a command that a denial ended.
const exitDenied = 126

// fromPlan reports whether a text runs from its plan, without its shell.
func (f *flight) fromPlan() bool {
	return f.judged.Plan.Shell != "" && f.judged.Plan.Root != nil && !f.byPerson &&
		f.judged.Judgement.Verdict == approval.VerdictAllow && f.judged.Judgement.Security == approval.SecurityList && len(f.judged.Plan.Findings) == 0 &&
		!slices.ContainsFunc(f.judged.Judgement.Segments, func(s approval.SegmentJudgement) bool { return s.Verdict != approval.VerdictAllow })
}

// job is what the runner gets. A text that policy allows runs from its plan;
// what a person allowed, and everything under full, starts exactly the
// program that was asked for.
func (f *flight) job(ctx context.Context) runner.Job {
	mode := runner.ModeArgv
	if f.fromPlan() {
		mode = runner.ModePlan
	}
	f.programs = &programs{flight: f, rows: map[int]history.Row{}}
	check := func(seg int, s *approval.Segment) error { return f.check(ctx, seg, s) }
	final := func(seg int, argv []string, dir string) (*approval.Plan, error) { return f.final(ctx, seg, argv, dir) }
	output := func(r approval.Redirect) (approval.Redirect, error) { return f.output(ctx, r) }
	return runner.Job{
		ID: f.judged.Req.ID, Agent: f.judged.Req.AgentID, Family: f.judged.Req.Peer.Family, Session: f.judged.Req.SessionKey, Plan: &f.judged.Plan, Mode: mode,
		Env:     f.judged.Machine().Env.With(f.judged.Req.Env, f.judged.Req.ID, f.judged.Plan.Cwd.Path),
		Timeout: f.judged.Req.Timeout, Background: f.judged.Req.Background,
		Check: check, Final: final, Output: output, Made: f.made, Find: f.judged.Machine().Analyzer.Find, Ended: f.programs.ended,
	}
}

// final judges a command of a text whose words only the run could tell. It
// passes as everything else does, or ends the run.
func (f *flight) final(ctx context.Context, seg int, argv []string, dir string) (plan *approval.Plan, err error) {
	defer rescue.Catch(f.gate.Log, "what a command became", func() { plan, err = nil, &runner.Denied{Denial: *failed()} })
	again := f.judged.Became(ctx, seg, argv, dir)
	f.paying.Lock()
	defer f.paying.Unlock()
	again.Paid = f.judged.Paid
	again.Evaluate(f.answer.By == byFallback)
	d := f.grant(&again)
	f.judged.Paid = again.Paid
	switch again.Judgement.Verdict {
	case approval.VerdictAllow:
	case approval.VerdictAsk:
		d = judge.Deny(again.Judgement.Reason, "what this became needs a person's yes, and nobody is asked in the middle of a run: "+again.Judgement.Sentence)
	default:
		d = again.Denied()
	}
	if d != nil {
		d.Segment = again.Plan.Text
		return nil, &runner.Denied{Denial: *d}
	}
	return &again.Plan, nil
}

// check is the judge right before a start: if the policy changed since the
// request was judged, or that is a while ago, it is judged again, and only what
// would still run runs. Words that only the run could tell are judged as what
// they became. Nothing starts after a program that could not be recorded, and
// nothing after a stop.
func (f *flight) check(ctx context.Context, seg int, s *approval.Segment) (err error) {
	defer rescue.Catch(f.gate.Log, "the look before a start", func() { err = &runner.Denied{Denial: *failed()} })
	if f.stopped() {
		return &runner.Denied{Denial: *stopDenial()}
	}
	if f.gate.pause.tooLate(f) {
		return &runner.Denied{Denial: *judge.Deny(approval.ReasonApprovalCancelled, "Countersign was paused before this started")}
	}
	if f.programs.lost.Load() {
		return &runner.Denied{Denial: *noHistory()}
	}
	isFresh := f.gate.Store.Current().Generation == f.judged.Generation && f.gate.Now().Sub(f.judged.Judged) < fresh
	if d := f.judged.Elsewhere(!isFresh); d != nil {
		return &runner.Denied{Denial: *d}
	}
	if isFresh {
		return nil
	}
	if s != nil && f.judged.Plan.Segments[seg].Words != nil {
		if _, err := f.final(ctx, seg, s.Argv, s.Dir); err != nil {
			return err
		}
	}
	if d := f.stillAllowed(); d != nil {
		return &runner.Denied{Denial: *d}
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
	again := f.judged
	again.Evaluate(f.answer.By == byFallback)
	switch again.Judgement.Verdict {
	case approval.VerdictAllow:
		if f.byPerson {
			return nil
		}
		d := f.grant(&again)
		f.judged.Paid = again.Paid
		return d
	case approval.VerdictAsk:
		if f.byPerson {
			return nil
		}
		return judge.Deny(approval.ReasonDrifted, "what allows it changed or ended before it started: "+again.Denied().Sentence)
	}
	return again.Denied()
}

// used notes which entries let the request pass.
func (f *flight) used() {
	for i, s := range f.judged.Judgement.Segments {
		if s.EntryID == "" || s.Verdict != approval.VerdictAllow || f.judged.Plan.Segments[i].Program == nil {
			continue
		}
		f.gate.Store.Used(f.judged.Req.AgentID, s.EntryID, display.Redact(f.judged.Plan.Text), f.judged.Plan.Segments[i].Program.File.Path)
	}
}

// programs keeps the rows of the single programs of a run. Stages of a
// pipeline report at the same time.
type programs struct {
	flight *flight
	mu     sync.Mutex
	count  int                 // of all that were started
	rows   map[int]history.Row // of those that run, by process
	lost   atomic.Bool         // a row was not taken
}

func (p *programs) started(_ int, s *approval.Segment, proc runner.Process) {
	p.mu.Lock()
	p.count++
	n := p.count
	p.mu.Unlock()
	row := p.programRow(n, s)
	row.State, row.Started = history.Running, p.flight.gate.Now()
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
	row.State, row.Ended, row.Signal = history.Done, p.flight.gate.Now(), status.Signal
	if status.Signal == "" {
		row.ExitCode = &status.Code
	}
	p.put(row)
}

// programRow returns the row of the nth program that was started: of a
// segment, or of what was asked for if there is none.
func (p *programs) programRow(n int, s *approval.Segment) history.Row {
	argv, dir, res := p.flight.judged.Plan.Argv, p.flight.judged.Plan.Cwd.Path, p.flight.judged.Plan.Outer
	if s != nil {
		argv, dir, res = s.Argv, s.Dir, s.Program
	}
	row := history.Row{
		ID: fmt.Sprintf("%s/%d", p.flight.judged.Req.ID, n), Parent: p.flight.judged.Req.ID, Seq: n,
		AgentID: p.flight.judged.Req.AgentID, SessionKey: p.flight.judged.Req.SessionKey, Cwd: display.Redact(dir),
		Command: redactedWords(argv), Arrived: p.flight.judged.Req.Arrived,
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
	if err := p.flight.gate.History.Put(row); err != nil {
		p.lost.Store(true)
		p.flight.gate.Log.Error("cannot record a program of a run", "run", p.flight.judged.Req.ID, "error", err)
	}
}
