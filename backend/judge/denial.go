package judge

import (
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
)

// Deny makes a denial with the code that the wire has for this reason.
func Deny(reason approval.Reason, sentence string) *approval.Denial {
	code := approval.CodeUnavailable
	switch reason {
	case approval.ReasonInvalid, approval.ReasonEnvRefused:
		code = approval.CodeInvalid
	}
	return &approval.Denial{Finding: approval.Finding{Reason: reason, Sentence: sentence}, Code: code}
}

// Denied is the denial for a judgement that is not a yes.
func Denied(plan approval.Plan, j approval.Judgement) *approval.Denial {
	d := Deny(j.Reason, j.Sentence)
	about := slices.IndexFunc(j.Segments, func(s approval.SegmentJudgement) bool { return s.Verdict == approval.VerdictDeny })
	if about < 0 {
		about = slices.IndexFunc(j.Segments, func(s approval.SegmentJudgement) bool { return s.Verdict == approval.VerdictAsk })
	}
	if about >= 0 {
		d.Segment, d.Rule = written(&plan, &plan.Segments[about]), j.Segments[about].Entry
		d.Instead = passing(&plan, j)
	}
	return d
}

// Asking names the commands of a text that needed a person's yes, in its order: a no
// says nothing of the others.
func (c *Case) Asking() string {
	var list []string
	for i, s := range c.Judgement.Segments {
		text := written(&c.Plan, &c.Plan.Segments[i])
		if s.Verdict == approval.VerdictAsk && !slices.Contains(list, text) && len(list) < maxNamed {
			list = append(list, text)
		}
	}
	return strings.Join(list, " ; ")
}

// maxNamed is how many commands a denial names.
const maxNamed = 3

// passing names the commands of a text that an entry lets pass by themselves, so
// that the agent need not search for them: those that need nothing of the rest.
func passing(plan *approval.Plan, j approval.Judgement) string {
	if j.Whole || j.Ask == approval.AskAlways || len(plan.Findings) > 0 {
		return ""
	}
	var list []string
	for i, s := range j.Segments {
		seg := &plan.Segments[i]
		alone := seg.Via == 0 && seg.Dir == plan.Cwd.Path && len(seg.Open) == 0 && len(seg.Redirects) == 0
		if s.Verdict != approval.VerdictAllow || s.EntryID == "" || s.Counted || !alone {
			continue
		}
		text := written(plan, seg)
		if display.Line(text) != text { // it would be told in other words
			continue
		}
		if len(text) <= display.MaxShort && !slices.Contains(list, text) && len(list) < maxNamed {
			list = append(list, text)
		}
	}
	return strings.Join(list, " ; ")
}

// written is a segment as the agent wrote it: what its patterns stand for would
// tell the agent the names of files.
func written(plan *approval.Plan, s *approval.Segment) string {
	tool := plan.Tool != nil && !plan.Tool.Command
	if s.Start < s.End && s.End <= len(plan.Text) && !tool {
		return plan.Text[s.Start:s.End]
	}
	return strings.Join(s.Argv, " ")
}

// Receipt is a denial for machines.
func Receipt(d approval.Denial) approval.Receipt {
	return approval.Receipt{
		RunID: d.RunID, Verdict: approval.VerdictDeny, Reason: d.Reason, Sentence: display.Line(d.Sentence), Segment: display.Short(display.Line(d.Segment)),
		Rule: display.Line(d.Rule), By: display.Line(d.By), Decision: d.Decision, Note: display.Line(d.Note), AskAgain: approval.CanAskAgain(d.Reason), Instead: d.Instead, Message: Message(d),
	}
}

// messages are the texts that callers of OpenClaw's protocol know. Other reasons
// are told in their sentence.
var messages = map[approval.Reason]string{
	approval.ReasonSecurityDeny:      "SYSTEM_RUN_DISABLED: security=deny",
	approval.ReasonUserDenied:        "SYSTEM_RUN_DENIED: user denied",
	approval.ReasonAllowlistMiss:     "SYSTEM_RUN_DENIED: allowlist miss",
	approval.ReasonApprovalCancelled: "approval prompt closed without decision",
	approval.ReasonScreenRecording:   "PERMISSION_MISSING: screenRecording",
	approval.ReasonRateLimited:       "rate limited",
}

// Sentences of denials by a person that are told whole.
const (
	// StoppedAll is that of what Stop everything ended.
	StoppedAll = "the person pressed Stop everything"
	// SaidBefore begins that of a no that stands.
	SaidBefore = "the person said no before: "
)

// Message writes a denial for the agent: what the protocol says for the
// reason, what it is about, what the person wants known, and the sentence
// that ends the search for a way around. It is one line, whatever the parts of
// the denial hold.
func Message(d approval.Denial) string {
	if d.Reason == approval.ReasonInvalid || d.Reason == approval.ReasonEnvRefused {
		return display.Line(d.Sentence)
	}
	text, known := messages[d.Reason]
	if !known {
		text = "SYSTEM_RUN_DENIED: " + string(d.Reason)
	}
	if d.Sentence != "" && (d.Reason != approval.ReasonUserDenied || d.Sentence == StoppedAll || strings.HasPrefix(d.Sentence, SaidBefore)) {
		text += ": " + display.Line(d.Sentence)
	}
	text += "."
	if d.Segment != "" {
		text += " It is about: " + display.Short(display.Line(d.Segment)) + "."
	}
	if d.Instead != "" {
		text += " By itself this passes: " + d.Instead + "."
	}
	if d.Note != "" {
		text += " They say: " + display.Line(d.Note) + "."
	}
	return text + " " + string(approval.EndingFor(d.Reason))
}

// ByPolicy in Answer.By says that a changed policy gave the answer.
const ByPolicy = "policy"
