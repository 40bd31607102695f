package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/environ"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/policy"
	"github.com/countersign-app/countersign/backend/store"
)

// flight is one request on its way through the gate.
type flight struct {
	*Gate
	req        approval.Request
	epoch      *epoch // in which it came
	machine    *Machine
	plan       approval.Plan
	whole      *approval.Plan // of which plan is a command, nil where it is all of it
	judgement  approval.Judgement
	generation uint64    // of the store, when it was judged
	judged     time.Time // when that was
	answer     approval.Answer
	past       bool                // it is made of the record, without the values of its variables
	byPerson   bool                // a person's yes, not policy, lets it run
	usable     []approval.Decision // what the caller can use; nil for all
	paying     sync.Mutex          // held while entries are judged and paid for in a run
	paid       []string            // ids of the counted entries that were used for it
	row        history.Row
	programs   *programs // the rows of what was started
	// askedProject tells that it waited for an answer about its folder.
	askedProject bool
}

// take makes the flight of a request that just came.
func (g *Gate) take(req approval.Request) *flight {
	came := g.epoch.Load()
	req.ID, req.AgentID = g.NewID(), store.AgentID(req.AgentID)
	if req.Arrived.IsZero() {
		req.Arrived = g.Now()
	}
	f := &flight{Gate: g, req: req, epoch: came}
	f.row = history.Row{
		ID: req.ID, State: history.Waiting, AgentID: req.AgentID,
		PeerPID: req.Peer.PID, PeerExe: req.Peer.Exe, Who: req.Who, Arrived: req.Arrived,
		Family: req.Peer.Family,
	}
	return f
}

// begin judges a request for the first time and writes its row.
func (f *flight) begin(ctx context.Context) *approval.Denial {
	m, err := f.Machine(ctx)
	if err != nil {
		return deny(approval.ReasonCompanion, "the host is not ready: "+err.Error())
	}
	f.machine = m
	if err := f.inSession(ctx); err != nil {
		return deny(approval.ReasonCompanion, err.Error())
	}
	f.row.SessionKey = f.req.SessionKey // not before: by its rows it is told whether a session is over
	f.judge(ctx, false)
	f.describe()
	if err := f.History.Put(f.row); err != nil {
		f.Log.Error("nothing runs while the history cannot be written", "error", err)
		return noHistory()
	}
	if f.req.NeedsScreenRecording { // before anybody is asked in vain
		return f.screen()
	}
	return nil
}

// screen refuses what needs the screen, unless commands may surely record it.
func (g *Gate) screen() *approval.Denial {
	switch {
	case g.Screen == nil:
		return deny(approval.ReasonScreenRecording, "this host cannot tell whether it may record the screen")
	case !g.Screen():
		return deny(approval.ReasonScreenRecording, "Countersign may not record the screen: the person can allow it in System Settings, Privacy & Security, Screen Recording")
	}
	return nil
}

// judge analyses and judges the request as things are now. Its plan is Invalid if
// the caller left, or everything was stopped, before the end.
func (f *flight) judge(ctx context.Context, nobody bool) {
	until := ctx
	if f.epoch != nil {
		inner, done := f.within(ctx)
		defer done()
		until = inner
	}
	rules, _ := f.rulesFor(f.req.AgentID)
	f.plan = rules.plan(until, f.machine, &f.req)
	if ctx.Err() != nil { // until hears of it a little later
		f.plan.Root, f.plan.Invalid = nil, command.Unfinished
	}
	f.evaluate(nobody)
}

// evaluate judges the plan by the policy of this moment.
func (f *flight) evaluate(nobody bool) {
	rules, generation := f.rulesFor(f.req.AgentID)
	in := f.input()
	in.Paid, in.Nobody = f.paid, nobody
	f.generation, f.judged = generation, in.Now
	f.judgement = rules.Evaluate(in)
}

// input is what the request is judged by, beside the rules.
func (f *flight) input() policy.Input {
	env := environ.Check(f.req.Env)
	for i := range env.Asks {
		env.Asks[i].Unknown = f.past
	}
	return policy.Input{
		Plan: &f.plan, Whole: f.whole, Who: f.req.Who, SessionKey: f.req.SessionKey, Claim: f.req.Claim,
		EnvRefused: env.Refused, Env: env.Asks,
		Now: f.Now(), Hash: f.Hashes.Of, Signer: f.Signers.Of, Packaged: machine.Packaged,
		Waits: func(id string) bool { return f.approved.waits(id, f.req.AgentID) },
	}
}

// decide brings the judgement to a yes or a denial, asking a person if that
// is due. After a stop it is a denial, whatever else was decided.
func (f *flight) decide(ctx context.Context) *approval.Denial {
	ctx, done := f.within(ctx)
	defer done()
	if f.plan.Invalid == command.Unfinished && !f.stopped() {
		return deny(approval.ReasonApprovalCancelled, command.Unfinished)
	}
	d := f.drifted() // nobody is asked in vain
	if d == nil {
		d = f.settle(ctx)
	}
	if f.stopped() {
		return stopDenial()
	}
	if d == nil {
		d = f.drifted()
	}
	return d
}

func (f *flight) settle(ctx context.Context) *approval.Denial {
	switch f.judgement.Verdict {
	case approval.VerdictAllow:
		return f.proceed(ctx)
	case approval.VerdictAsk:
		if d := f.deniedBefore(); d != nil {
			return d
		}
		if f.answeredElsewhere() {
			return f.takeElsewhere(ctx)
		}
		if f.askProject(ctx) {
			f.judge(ctx, false)
			f.describe()
			return f.settle(ctx)
		}
		if !f.Asker.CanAsk() {
			named := f.orName(ctx)
			f.evaluate(true)
			if f.judgement.Verdict != approval.VerdictAllow {
				d := f.denied()
				d.Sentence += named
				return d
			}
			f.answer.By = byFallback
			return f.proceed(ctx)
		}
		return f.ask(ctx)
	}
	return f.denied()
}

// proceed lets a request through that nobody is asked about, after a pause as
// things are then.
func (f *flight) proceed(ctx context.Context) *approval.Denial {
	waited, d := f.unpaused(ctx)
	switch {
	case d != nil:
		return d
	case waited:
		f.answer.By = ""
		f.judge(ctx, false)
		f.describe()
		return f.settle(ctx)
	}
	return f.grants()
}

// Life of a question.
const (
	questionLife  = 10 * time.Minute
	execLife      = 18 * time.Second
	requestLife   = 14 * time.Second
	beforeItsOver = time.Second
	// worthHolding is the least time that a stopped clock must give.
	worthHolding = time.Second
)

// questionEnds is when a question ends by itself, and latest as late as that
// can be moved: a caller that says nothing gives up at a time of its own.
func (f *flight) questionEnds() (ends, latest time.Time) {
	switch {
	case !f.req.Deadline.IsZero():
		ends, latest = f.req.Arrived.Add(questionLife), f.req.Deadline.Add(-beforeItsOver)
		if latest.Before(ends) {
			ends = latest
		}
		return ends, latest
	case f.req.Who == approval.Theirs:
		ends = f.req.Arrived.Add(requestLife)
	default:
		ends = f.req.Arrived.Add(execLife)
	}
	return ends, ends
}

// ask puts the question and takes the answer.
func (f *flight) ask(ctx context.Context) *approval.Denial {
	ends, latest := f.questionEnds()
	way := f.escalate()
	ends = way.within(ends, latest)
	f.offer()
	prompt := f.prompt(ends)
	prompt.Turns = way.turns
	f.row.Choices = prompt.Judgement.Choices
	shown := &bound{f.req, f.plan, f.judgement, f.contents(), f.same()}
	prompt.Bound = shown
	if latest.Sub(ends) >= worthHolding {
		prompt.Latest = latest.UnixMilli()
	}
	f.pause.started(f) // not yet: it asks
	key := f.key()     // what it is asked with, whatever is judged later
	answer, was, err := f.answered(key, func() (approval.Answer, error) { return f.Pending.Ask(ctx, prompt, key, ends) })
	if pending.NotPut(err) {
		return deny(approval.ReasonRateLimited, err.Error())
	}
	if err != nil {
		return deny(approval.ReasonApprovalCancelled, err.Error())
	}
	if way.atEnd(answer, f.Now()) && f.fallsBack(ctx, prompt.Plan) {
		f.Pending.Settled(key)
		return f.proceed(ctx)
	}
	f.record(answer)
	if answer.Decision != approval.AllowOnce && answer.Decision != approval.AllowAlways {
		return f.refusedBy(answer)
	}
	if _, d := f.unpaused(ctx); d != nil {
		return d
	}
	f.byPerson = answer.By != byPolicy
	if was != nil {
		shown = was
	}
	always, offered := shown.judgement.Chosen(answer.Choice, f.req.SessionKey)
	f.judge(ctx, false)
	if d := f.stillTheSame(ctx, shown.plan, shown.judgement); d != nil {
		return d
	}
	if f.byPerson && !shown.held.sameAs(f.contents()) {
		return deny(approval.ReasonDrifted, "what its files hold changed while the question was open: ask again")
	}
	if answer.Decision == approval.AllowAlways {
		if !offered {
			return deny(approval.ReasonApprovalCancelled, "this answer was not offered, so nothing ran")
		}
		if answer.Shared {
			return f.grants()
		}
		if d := f.remember(always, answer.Choice.Keep); d != nil {
			return d
		}
	}
	return f.grants()
}

// record notes the answer to the request, and tells of it.
func (f *flight) record(a approval.Answer) {
	f.answer = a
	f.row.Answered, f.row.Decision, f.row.AnsweredBy, f.row.Note = f.Now(), a.Decision, a.By, display.Redact(a.Note)
	f.row.Choice = a.Choice.String()
	f.event(approval.EventAnswered, a.Reason)
}

// refusedBy is the denial for an answer that is not a yes.
func (f *flight) refusedBy(answer approval.Answer) *approval.Denial {
	d := deny(answer.Reason, answer.Sentence)
	if answer.Reason == approval.ReasonNone {
		d = deny(approval.ReasonUserDenied, "the person said no")
		d.Segment = asking(&f.plan, f.judgement)
	}
	if _, _, paused := f.Paused(); paused && answer.Reason == approval.ReasonPromptExpired {
		d.Sentence += ": Countersign is paused"
	}
	d.Note = answer.Note
	return d
}

// stillTheSame compares what the person saw with what would run now, after
// the policy of this moment has judged it again.
func (f *flight) stillTheSame(ctx context.Context, shown approval.Plan, judged approval.Judgement) *approval.Denial {
	if f.judgement.Verdict == approval.VerdictDeny || !f.byPerson && f.judgement.Verdict != approval.VerdictAllow {
		return f.denied()
	}
	now := f
	if shown.Folder.Path == "" && f.plan.Folder.Path != "" { // it was named meanwhile, which only takes reasons away
		now = &flight{Gate: f.Gate, req: f.req, machine: f.machine, paid: f.paid}
		now.plan = analyze(ctx, f.machine, &f.req, shown.Folder)
		now.evaluate(false)
	}
	if !samePlan(&shown, &now.plan) || f.byPerson && !sameReasons(judged, now.judgement) {
		return deny(approval.ReasonDrifted, "what it would run changed while the question was open: ask again")
	}
	return nil
}

// remember writes the entries of allow-always before anything starts. They
// must be those that were shown. They hold for as long as keep says.
func (f *flight) remember(entries []approval.Entry, keep approval.Keep) *approval.Denial {
	_, err := f.Store.Update("", func(doc *store.Document) error {
		if f.stopped() { // what is written now would outlive the stop
			return errStoppedAll{}
		}
		doc.EndLeases(func(_ string, e approval.Entry) bool { return e.Ended(f.Now().Add(-endedStays)) })
		for _, e := range entries {
			if name, ok := e.AcceptsSkill(); ok {
				if !doc.AcceptSkill(f.req.AgentID, approval.Skill{Name: name, Path: e.Identity[0].Path, SHA256: e.Identity[0].SHA256}, f.Home) {
					return fmt.Errorf("the skill %s is not there any more", name)
				}
				continue
			}
			if e.ID != "" { // it is there, and accepts new versions of files
				doc.Identify(e)
				continue
			}
			e.AddedAt, e.AddedBy, e.AddedFor = f.Now().UnixMilli(), f.answer.By, f.req.ID
			doc.Add(f.req.AgentID, keep.On(e, f.req.SessionKey, f.Now()))
		}
		return nil
	})
	if err != nil {
		f.Log.Error("cannot save what was allowed for always", "error", err)
		return deny(approval.ReasonApprovalCancelled, "what was allowed for always could not be saved, so nothing ran")
	}
	f.Pending.Recheck(f.coveredNow)
	return nil
}

// endedStays is how long a lease that is over is kept, so that a question can
// say that one ended.
const endedStays = 24 * time.Hour

// grants makes durable what letting this run costs, the uses of leases, and
// what it teaches: which files run under the entries.
func (f *flight) grants() *approval.Denial {
	if f.byPerson {
		return nil
	}
	for range maxLearned {
		if d := f.pay(); d != nil {
			return d
		}
		again, d := f.learn()
		if !again {
			return d
		}
		if f.evaluate(f.answer.By == byFallback); f.judgement.Verdict != approval.VerdictAllow {
			return f.denied()
		}
	}
	return deny(approval.ReasonApprovalCancelled, "what runs cannot be recorded: others change the policy all the time")
}

// maxLearned is how often a run is judged again because others recorded at the
// same time what they saw.
const maxLearned = 5

// pay uses up what counts its uses.
func (f *flight) pay() *approval.Denial {
	for _, s := range f.judgement.Segments {
		if !s.Counted || slices.Contains(f.paid, s.EntryID) {
			continue
		}
		if err := f.Store.Consume(s.EntryID); err != nil {
			return deny(approval.ReasonLeaseEnded, "a permission that counts its uses cannot be used: "+err.Error())
		}
		f.paid = append(f.paid, s.EntryID)
	}
	return nil
}

// sameReasons reports whether the second judgement found nothing to ask about
// that the first did not: what an argument leads to may have changed.
func sameReasons(shown, now approval.Judgement) bool {
	for i, s := range now.Segments {
		if s.Verdict != approval.VerdictAllow && (i >= len(shown.Segments) || s.Finding != shown.Segments[i].Finding) {
			return false
		}
	}
	return true
}

// samePlan reports whether two looks at a request found the same programs,
// files with program text, folder and words.
func samePlan(a, b *approval.Plan) bool {
	if !sameTool(a.Tool, b.Tool) || a.Text != b.Text || !slices.Equal(a.Argv, b.Argv) || !a.Cwd.SameFolder(b.Cwd) || !a.Folder.Same(b.Folder) || len(a.Segments) != len(b.Segments) || !a.Outer.Same(b.Outer) {
		return false
	}
	for i := range a.Segments {
		x, y := &a.Segments[i], &b.Segments[i]
		if !slices.Equal(x.Argv, y.Argv) || x.Dir != y.Dir || !x.Program.Same(y.Program) ||
			!slices.Equal(x.Findings, y.Findings) || !slices.EqualFunc(x.Redirects, y.Redirects, sameRedirect) ||
			!slices.EqualFunc(x.Code, y.Code, sameFile) || x.Floor != y.Floor {
			return false
		}
	}
	return true
}

func sameRedirect(a, b approval.Redirect) bool {
	if a.File == nil || b.File == nil {
		return a == b
	}
	return a.FD == b.FD && a.To == b.To && a.Text == b.Text && sameFile(*a.File, *b.File)
}

func sameFile(a, b approval.File) bool { return a.Path == b.Path && a.Same(b) }

// key names a question for merging: requests share one only if everything
// that is shown with it is the same, down to the files that would run.
func (f *flight) key() string {
	parts := []string{string(f.req.Who), f.req.AgentID, f.req.SessionKey, fmt.Sprint(f.req.Claim, f.judgement), f.plan.Shell, f.plan.Text, fmt.Sprint(f.plan.Cwd.Path, f.plan.Cwd.Dev, f.plan.Cwd.Ino, f.plan.Folder)}
	parts = append(parts, f.req.Command...)
	parts = append(parts, "", "")
	for name, value := range sorted(f.req.Env) {
		parts = append(parts, name, value)
	}
	if t := f.plan.Tool; t != nil {
		parts = append(parts, "tool", t.Digest, t.Source, fmt.Sprint(t.Files))
	}
	parts = append(parts, "", identity(f.plan.Outer))
	for _, s := range f.plan.Segments {
		parts = append(parts, s.Dir, identity(s.Program), fmt.Sprint(s.Code))
	}
	return strings.Join(parts, "\x00")
}

// identity names a program and all that interprets it.
func identity(res *approval.Resolution) string {
	var b strings.Builder
	for ; res != nil; res = res.Interpreter {
		fmt.Fprint(&b, res.Path, res.File, res.InterpreterArg)
	}
	return b.String()
}
