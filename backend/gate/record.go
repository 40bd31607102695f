package gate

import (
	"cmp"
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
	f.row.Command = display.Redact(f.judged.Plan.Text)
	if f.row.Command == f.judged.Plan.Text && redactedArgv(f.judged.Plan.Argv) == command.Quote(f.judged.Plan.Argv) {
		f.row.Argv = f.judged.Plan.Argv
	}
	f.row.Cwd = display.Redact(f.judged.Plan.Cwd.Path)
	f.row.EnvNames = slices.Sorted(maps.Keys(f.judged.Req.Env))
	f.row.Judged, f.row.JudgedReason, f.row.JudgedSentence = f.judged.Judgement.Verdict, f.judged.Judgement.Reason, display.Redact(f.judged.Judgement.Sentence)
	f.row.Verdict, f.row.Reason, f.row.Sentence = f.row.Judged, f.row.JudgedReason, f.row.JudgedSentence
	f.row.Risk = f.judged.Judgement.Risk.Level
	f.row.Security, f.row.Ask = f.judged.Judgement.Security, f.judged.Judgement.Ask
	if f.judged.Plan.Tool != nil && !f.judged.Plan.Tool.Command {
		f.row.Command = display.Redact(toolpolicy.Text(f.judged.Plan.Tool))
		f.row.Program = approval.ToolMark + display.Redact(f.judged.Plan.Tool.FullName())
	}
	first := ""
	for i, s := range f.judged.Judgement.Segments {
		if f.row.Entry == "" {
			f.row.Entry = s.Entry
		}
		p := f.judged.Plan.Segments[i].Program
		switch {
		case p == nil || f.row.Program != "":
		case s.Verdict != approval.VerdictAllow:
			f.row.Program = display.Redact(p.File.Path)
		case first == "":
			first = display.Redact(p.File.Path)
		}
	}
	f.row.Program = cmp.Or(f.row.Program, first)
}

func redactedArgv(argv []string) string { return display.Redact(command.Quote(argv)) }

// close writes the end of a request and tells of it.
func (f *flight) close(state history.State, result approval.Result) {
	f.row.State, f.row.Ended = state, f.gate.Now()
	f.row.ExitCode, f.row.Signal, f.row.TimedOut = result.ExitCode, result.Signal, result.TimedOut
	f.row.OutputSize, f.row.OutputHash = result.OutputSize, result.OutputHash
	f.row.Error = display.Redact(result.Error)
	if len(result.Left) > 0 {
		f.gate.Log.Warn("ended what a command left running", "run", f.judged.Req.ID, "programs", result.Left)
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
	if err := f.gate.History.Put(f.row); err != nil {
		f.gate.Log.Error("cannot record the end of a run", "run", f.judged.Req.ID, "error", err)
	}
	f.count(result.Denied)
	f.tell(kind, reason, result.ExitCode)
}

func (f *flight) event(kind approval.EventKind, reason approval.Reason) { f.tell(kind, reason, nil) }

func (f *flight) tell(kind approval.EventKind, reason approval.Reason, code *int) {
	f.gate.Events.Event(approval.Event{
		Kind: kind, RunID: f.judged.Req.ID, AgentID: f.judged.Req.AgentID, SessionKey: f.judged.Req.SessionKey,
		Reason: reason, ExitCode: code, At: f.gate.Now().UnixMilli(),
	})
	if f.judged.Req.Progress != nil && kind != approval.EventFinished && kind != approval.EventDenied { // those are its answer
		f.judged.Req.Progress(kind)
	}
}

// prompt is the question with everything that is shown with it.
func (f *flight) prompt(ends time.Time) approval.Prompt {
	if len(f.usable) > 0 {
		f.judged.Judgement.Choices = slices.DeleteFunc(f.judged.Judgement.Choices, func(d approval.Decision) bool {
			return d != approval.DecisionDeny && !slices.Contains(f.usable, d)
		})
		if !slices.Contains(f.judged.Judgement.Choices, approval.AllowAlways) {
			f.judged.Judgement.Offers = nil
		}
	}
	peer := f.judged.Req.Peer
	peer.Signer = f.gate.Signers.Known(peer.Exe)
	return approval.Prompt{
		ID: f.judged.Req.ID, AgentID: f.judged.Req.AgentID, SessionKey: f.judged.Req.SessionKey, Who: f.judged.Req.Who,
		Peer: peer, Claim: f.judged.Req.Claim, Project: f.judged.Plan.Folder.Path, Plan: f.judged.Plan, Judgement: f.judged.Judgement,
		Env: f.judged.Machine().Env.Diff(f.judged.Req.Env), Asked: f.gate.Now().UnixMilli(), Expires: ends.UnixMilli(), Count: 1,
		Ticket: f.ticket(),
	}
}

func (f *flight) ticket() string {
	if f.judged.Req.Tool == nil {
		return ""
	}
	return f.judged.Req.Tool.Ticket
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
