package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/store"
)

// flight is one request on its way through the gate.
type flight struct {
	gate     *Gate
	judged   judge.Case // as it was judged last
	epoch    *epoch     // in which it came
	answer   approval.Answer
	byPerson bool                // a person's yes, not policy, lets it run
	usable   []approval.Decision // what the caller can use; nil for all
	paying   sync.Mutex          // held while entries are judged and paid for in a run
	row      history.Row
	programs *programs // the rows of what was started
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
	f := &flight{gate: g, judged: judge.Case{Req: req}, epoch: came}
	f.row = history.Row{
		ID: req.ID, State: history.Waiting, AgentID: req.AgentID,
		PeerPID: req.Peer.PID, PeerExe: req.Peer.Exe, Who: req.Who, Arrived: req.Arrived,
		Family: req.Peer.Family,
	}
	return f
}

// begin judges a request for the first time and writes its row.
func (f *flight) begin(ctx context.Context) *approval.Denial {
	if err := f.open(ctx); err != nil {
		return judge.Deny(approval.ReasonCompanion, "the host is not ready: "+err.Error())
	}
	if err := f.inSession(ctx); err != nil {
		return judge.Deny(approval.ReasonCompanion, err.Error())
	}
	f.row.SessionKey = f.judged.Req.SessionKey // not before: by its rows it is told whether a session is over
	f.judge(ctx, false)
	f.describe()
	if err := f.gate.History.Put(f.row); err != nil {
		f.gate.Log.Error("nothing runs while the history cannot be written", "error", err)
		return noHistory()
	}
	if f.judged.Req.NeedsScreenRecording { // before anybody is asked in vain
		return f.gate.screen()
	}
	return nil
}

// open waits for what the request is judged by.
func (f *flight) open(ctx context.Context) (err error) {
	f.judged, err = f.gate.judge.Open(ctx, f.judged.Req)
	return err
}

// screen refuses what needs the screen, unless commands may surely record it.
func (g *Gate) screen() *approval.Denial {
	switch {
	case g.Screen == nil:
		return judge.Deny(approval.ReasonScreenRecording, "this host cannot tell whether it may record the screen")
	case !g.Screen():
		return judge.Deny(approval.ReasonScreenRecording, "Countersign may not record the screen: the person can allow it in System Settings, Privacy & Security, Screen Recording")
	}
	return nil
}

// judge analyses and judges the request as things are now. Its plan is Invalid if
// the caller left, or everything was stopped, before the end.
func (f *flight) judge(ctx context.Context, nobody bool) {
	until, done := f.within(ctx)
	defer done()
	f.judged.Analyze(until)
	if ctx.Err() != nil { // until hears of it a little later
		f.judged.Unfinish()
	}
	f.judged.Evaluate(nobody)
}

// decide brings the judgement to a yes or a denial, asking a person if that
// is due. After a stop it is a denial, whatever else was decided.
func (f *flight) decide(ctx context.Context) *approval.Denial {
	ctx, done := f.within(ctx)
	defer done()
	if f.judged.Plan.Invalid == command.Unfinished && !f.stopped() {
		return judge.Deny(approval.ReasonApprovalCancelled, command.Unfinished)
	}
	d := f.judged.Drifted() // nobody is asked in vain
	if d == nil {
		d = f.settle(ctx)
	}
	if f.stopped() {
		return stopDenial()
	}
	if d == nil {
		d = f.judged.Drifted()
	}
	return d
}

func (f *flight) settle(ctx context.Context) *approval.Denial {
	switch f.judged.Judgement.Verdict {
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
		if !f.gate.Asker.CanAsk() {
			named := f.orName(ctx)
			f.judged.Evaluate(true)
			if f.judged.Judgement.Verdict != approval.VerdictAllow {
				d := f.judged.Denied()
				d.Sentence += named
				return d
			}
			f.answer.By = byFallback
			return f.proceed(ctx)
		}
		return f.ask(ctx)
	}
	return f.judged.Denied()
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
	case !f.judged.Req.Deadline.IsZero():
		ends, latest = f.judged.Req.Arrived.Add(questionLife), f.judged.Req.Deadline.Add(-beforeItsOver)
		if latest.Before(ends) {
			ends = latest
		}
		return ends, latest
	case f.judged.Req.Who == approval.Theirs:
		ends = f.judged.Req.Arrived.Add(requestLife)
	default:
		ends = f.judged.Req.Arrived.Add(execLife)
	}
	return ends, ends
}

// ask puts the question and takes the answer.
func (f *flight) ask(ctx context.Context) *approval.Denial {
	ends, latest := f.questionEnds()
	way := f.escalate()
	ends = way.within(ends, latest)
	f.judged.Offer()
	prompt := f.prompt(ends)
	prompt.Turns = way.turns
	f.row.Choices = prompt.Judgement.Choices
	shown := &bound{f.judged.Req, f.judged.Shown(), f.same()}
	prompt.Bound = shown
	if latest.Sub(ends) >= worthHolding {
		prompt.Latest = latest.UnixMilli()
	}
	f.gate.pause.started(f) // not yet: it asks
	key := f.key()          // what it is asked with, whatever is judged later
	answer, was, err := f.answered(key, func() (approval.Answer, error) { return f.gate.Pending.Ask(ctx, prompt, key, ends) })
	if pending.NotPut(err) {
		return judge.Deny(approval.ReasonRateLimited, err.Error())
	}
	if err != nil {
		return judge.Deny(approval.ReasonApprovalCancelled, err.Error())
	}
	if way.atEnd(answer, f.gate.Now()) && f.fallsBack(ctx, prompt.Plan) {
		f.gate.Pending.Settled(key)
		return f.proceed(ctx)
	}
	f.record(answer)
	if answer.Decision != approval.AllowOnce && answer.Decision != approval.AllowAlways {
		return f.refusedBy(answer)
	}
	if was != nil {
		shown = was
	}
	return f.accept(ctx, answer, shown)
}

// accept lets through what a yes was given to, as long as all is still as it was shown.
func (f *flight) accept(ctx context.Context, answer approval.Answer, shown *bound) *approval.Denial {
	f.byPerson = answer.By != judge.ByPolicy
	always, offered := shown.Judgement.Chosen(answer.Choice, f.judged.Req.SessionKey)
	if d := f.confirm(ctx, shown.Shown, "while the question was open"); d != nil {
		return d
	}
	switch {
	case answer.Decision != approval.AllowAlways:
	case !offered:
		return judge.Deny(approval.ReasonApprovalCancelled, "this answer was not offered, so nothing ran")
	case !answer.Shared:
		if d := f.remember(always, answer.Choice.Keep); d != nil {
			return d
		}
	}
	return f.grants()
}

// record notes the answer to the request, and tells of it.
func (f *flight) record(a approval.Answer) {
	f.answer = a
	f.row.Answered, f.row.Decision, f.row.AnsweredBy, f.row.Note = f.gate.Now(), a.Decision, a.By, display.Redact(a.Note)
	f.row.Choice = a.Choice.String()
	f.event(approval.EventAnswered, a.Reason)
}

// refusedBy is the denial for an answer that is not a yes.
func (f *flight) refusedBy(answer approval.Answer) *approval.Denial {
	d := judge.Deny(answer.Reason, answer.Sentence)
	if answer.Reason == approval.ReasonNone {
		d = judge.Deny(approval.ReasonUserDenied, "the person said no")
		d.Segment = f.judged.Asking()
	}
	if _, _, paused := f.gate.Paused(); paused && answer.Reason == approval.ReasonPromptExpired {
		d.Sentence += ": Countersign is paused"
	}
	d.Note = answer.Note
	return d
}

// remember writes the entries of allow-always before anything starts. They
// must be those that were shown. They hold for as long as keep says.
func (f *flight) remember(entries []approval.Entry, keep approval.Keep) *approval.Denial {
	_, err := f.gate.Store.Update("", func(doc *store.Document) error {
		if f.stopped() { // what is written now would outlive the stop
			return errStoppedAll{}
		}
		doc.EndLeases(func(_ string, e approval.Entry) bool { return e.Ended(f.gate.Now().Add(-endedStays)) })
		for _, e := range entries {
			if name, ok := e.AcceptsSkill(); ok {
				if !doc.AcceptSkill(f.judged.Req.AgentID, approval.Skill{Name: name, Path: e.Identity[0].Path, SHA256: e.Identity[0].SHA256}, f.gate.Home) {
					return fmt.Errorf("the skill %s is not there any more", name)
				}
				continue
			}
			if e.ID != "" { // it is there, and accepts new versions of files
				doc.Identify(e)
				continue
			}
			e.AddedAt, e.AddedBy, e.AddedFor = f.gate.Now().UnixMilli(), f.answer.By, cmp.Or(f.answer.For, f.judged.Req.ID)
			doc.Add(f.judged.Req.AgentID, keep.On(e, f.judged.Req.SessionKey, f.gate.Now()))
		}
		return nil
	})
	if err != nil {
		f.gate.Log.Error("cannot save what was allowed for always", "error", err)
		return judge.Deny(approval.ReasonApprovalCancelled, "what was allowed for always could not be saved, so nothing ran")
	}
	f.gate.Pending.Recheck(f.gate.coveredNow)
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
	return f.grant(&f.judged)
}

// grant is what granting a case costs and teaches: the request's own, or that of a
// command that it became.
func (f *flight) grant(c *judge.Case) *approval.Denial {
	for range maxLearned {
		if d := f.pay(c); d != nil {
			return d
		}
		again, d := f.learn(c)
		if !again {
			return d
		}
		if c.Evaluate(f.answer.By == byFallback); c.Judgement.Verdict != approval.VerdictAllow {
			return c.Denied()
		}
	}
	return judge.Deny(approval.ReasonApprovalCancelled, "what runs cannot be recorded: others change the policy all the time")
}

// maxLearned is how often a run is judged again because others recorded at the
// same time what they saw.
const maxLearned = 5

// pay uses up what counts its uses.
func (f *flight) pay(c *judge.Case) *approval.Denial {
	for _, s := range c.Judgement.Segments {
		if !s.Counted || slices.Contains(c.Paid, s.EntryID) {
			continue
		}
		if err := f.gate.Store.Consume(s.EntryID); err != nil {
			return judge.Deny(approval.ReasonLeaseEnded, "a permission that counts its uses cannot be used: "+err.Error())
		}
		c.Paid = append(c.Paid, s.EntryID)
	}
	return nil
}

// learn records the files that a run uses under the entries that let it pass, before
// it starts. again tells that others recorded something meanwhile, so that it is to be
// judged once more.
func (f *flight) learn(c *judge.Case) (again bool, d *approval.Denial) {
	records, anew, err := c.Learned()
	if err != nil {
		return false, judge.Deny(approval.ReasonBinaryChanged, "what runs cannot be recorded: "+err.Error())
	}
	if anew != "" && f.row.Sentence == "" {
		f.row.Sentence = anew + " is a new version, for which its package manager or signer vouches"
	}
	if len(records) == 0 {
		return false, nil
	}
	if err = f.gate.Store.Identify(records); err != nil {
		d = judge.Deny(approval.ReasonApprovalCancelled, "what runs cannot be recorded: "+err.Error())
	}
	return errors.Is(err, store.ErrChanged), d
}
