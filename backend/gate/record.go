package gate

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/toolpolicy"
)

// byFallback in Answer.By says that nobody was asked.
const byFallback = "askFallback"

// describe fills the row with what was judged. Secrets are taken out before
// they are stored; words are kept one by one only where there is none.
func (f *flight) describe() {
	f.row.Command = display.Redact(f.plan.Text)
	if f.row.Command == f.plan.Text && redactedArgv(f.plan.Argv) == command.Quote(f.plan.Argv) {
		f.row.Argv = f.plan.Argv
	}
	f.row.Cwd = display.Redact(f.plan.Cwd.Path)
	f.row.EnvNames = slices.Sorted(maps.Keys(f.req.Env))
	f.row.Judged, f.row.JudgedReason, f.row.JudgedSentence = f.judgement.Verdict, f.judgement.Reason, display.Redact(f.judgement.Sentence)
	f.row.Verdict, f.row.Reason, f.row.Sentence = f.row.Judged, f.row.JudgedReason, f.row.JudgedSentence
	f.row.Risk = f.judgement.Risk.Level
	f.row.Security, f.row.Ask = f.judgement.Security, f.judgement.Ask
	if f.plan.Tool != nil && !f.plan.Tool.Command {
		f.row.Command = display.Redact(toolpolicy.Text(f.plan.Tool))
		f.row.Program = approval.ToolMark + display.Redact(f.plan.Tool.FullName())
	}
	for i, s := range f.judgement.Segments {
		if f.row.Entry == "" {
			f.row.Entry = s.Entry
		}
		if p := f.plan.Segments[i].Program; p != nil && f.row.Program == "" {
			f.row.Program = display.Redact(p.File.Path)
		}
	}
}

func redactedArgv(argv []string) string { return display.Redact(command.Quote(argv)) }

// close writes the end of a request and tells of it.
func (f *flight) close(state history.State, result approval.Result) {
	f.row.State, f.row.Ended = state, f.Now()
	f.row.ExitCode, f.row.Signal, f.row.TimedOut = result.ExitCode, result.Signal, result.TimedOut
	f.row.OutputSize, f.row.OutputHash = result.OutputSize, result.OutputHash
	f.row.Error = display.Redact(result.Error)
	if len(result.Left) > 0 {
		f.Log.Warn("ended what a command left running", "run", f.req.ID, "programs", result.Left)
		f.row.Error = strings.TrimPrefix(f.row.Error+"; ended what it left running: "+strings.Join(result.Left, ", "), "; ")
	}
	if f.answer.By == byFallback {
		f.row.AnsweredBy = byFallback
	}
	kind, reason := approval.EventFinished, approval.ReasonNone
	if d := result.Denied; d != nil {
		f.row.Verdict, f.row.Reason, f.row.Sentence = approval.VerdictDeny, d.Reason, display.Redact(d.Sentence)
		kind, reason = approval.EventDenied, d.Reason
	}
	if err := f.History.Put(f.row); err != nil {
		f.Log.Error("cannot record the end of a run", "run", f.req.ID, "error", err)
	}
	f.count(result.Denied)
	f.tell(kind, reason, result.ExitCode)
}

func (f *flight) event(kind approval.EventKind, reason approval.Reason) { f.tell(kind, reason, nil) }

func (f *flight) tell(kind approval.EventKind, reason approval.Reason, code *int) {
	f.Events.Event(approval.Event{
		Kind: kind, RunID: f.req.ID, AgentID: f.req.AgentID, SessionKey: f.req.SessionKey,
		Reason: reason, ExitCode: code, At: f.Now().UnixMilli(),
	})
	if f.req.Progress != nil && kind != approval.EventFinished && kind != approval.EventDenied { // those are its answer
		f.req.Progress(kind)
	}
}

// prompt is the question with everything that is shown with it.
func (f *flight) prompt(ends time.Time) approval.Prompt {
	if len(f.usable) > 0 {
		f.judgement.Choices = slices.DeleteFunc(f.judgement.Choices, func(d approval.Decision) bool {
			return d != approval.DecisionDeny && !slices.Contains(f.usable, d)
		})
		if !slices.Contains(f.judgement.Choices, approval.AllowAlways) {
			f.judgement.Offers = nil
		}
	}
	peer := f.req.Peer
	peer.Signer = f.Signers.Known(peer.Exe)
	return approval.Prompt{
		ID: f.req.ID, AgentID: f.req.AgentID, SessionKey: f.req.SessionKey, Who: f.req.Who,
		Peer: peer, Claim: f.req.Claim, Project: f.plan.Folder.Path, Plan: f.plan, Judgement: f.judgement,
		Env: f.machine.Env.Diff(f.req.Env), Asked: f.Now().UnixMilli(), Expires: ends.UnixMilli(), Count: 1,
		Ticket: f.ticket(),
	}
}

func (f *flight) ticket() string {
	if f.req.Tool == nil {
		return ""
	}
	return f.req.Tool.Ticket
}

// sorted goes through a map in the order of its keys.
func sorted(m map[string]string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
