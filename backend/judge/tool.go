package judge

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/toolpolicy"
)

// RequestFor is the request that a tool call is. Only a command can be ours to
// run.
func RequestFor(call approval.ToolCall, peer approval.Peer) approval.Request {
	req := approval.Request{
		Tool: &call, Who: approval.Theirs, Cwd: call.Cwd, Env: call.Env, AgentID: call.AgentID, SessionKey: call.SessionKey, Peer: peer,
	}
	if call.Deadline > 0 {
		req.Deadline = time.UnixMilli(call.Deadline)
	}
	if text, ok := toolpolicy.Command(&call); ok {
		req.Text = text
		if call.Who == approval.Ours {
			req.Who, req.Text, req.Command = approval.Ours, "", []string{"bash", "-c", text}
		}
	}
	return req
}

// Outcome tells the caller of a tool what became of its call: of a denial, or of what
// was let through with this answer.
func (c *Case) Outcome(d *approval.Denial, answer approval.Answer) approval.Outcome {
	if d != nil {
		return approval.Outcome{Verdict: approval.VerdictDeny, Receipt: Receipt(*d)}
	}
	o := approval.Outcome{Verdict: approval.VerdictAllow, Receipt: c.Allowed(answer)}
	o.Always = answer.Decision == approval.AllowAlways && !answer.Choice.Narrow() && c.keptWhole(answer)
	if c.Req.Tool.JudgeOnly {
		o.Verdict, o.Receipt.Verdict = c.Judgement.Verdict, c.Judgement.Verdict
		o.Receipt.Reason, o.Receipt.Sentence = c.Judgement.Reason, display.Line(c.Judgement.Sentence)
	}
	return o
}

// Allowed is the receipt of a request that was let through.
func (c *Case) Allowed(answer approval.Answer) approval.Receipt {
	r := approval.Receipt{RunID: c.Req.ID, Verdict: approval.VerdictAllow, By: display.Line(answer.By), Decision: answer.Decision}
	for _, s := range c.Judgement.Segments {
		if s.Entry != "" && r.Rule == "" {
			r.Rule = display.Line(s.Entry)
		}
	}
	return r
}

// keptWhole reports whether what a yes for good wrote is about the whole tool.
// What is narrower is ours to keep: an agent would remember the tool. Answers
// that know no widths write the narrowest there is.
func (c *Case) keptWhole(answer approval.Answer) bool {
	written, _ := c.Judgement.Chosen(answer.Choice, c.Req.SessionKey)
	return !slices.ContainsFunc(written, func(e approval.Entry) bool { return len(e.When) > 0 || e.ArgsExact })
}

// analyzeTool makes the plan of a tool call.
func (j *Judge) analyzeTool(ctx context.Context, m *Machine, req *approval.Request, folder approval.Folder) approval.Plan {
	search := m.Analyzer.Searcher(ctx)
	tool, err := toolpolicy.Look(req.Tool, folder, toolpolicy.Machine{
		Home: m.Analyzer.Home, Look: m.Analyzer.World.Look, Link: linkText, Protected: m.Analyzer.Protected, Key: m.Analyzer.Key,
		Search: func(folder string, o toolpolicy.Opened) (string, bool) {
			return search.Searched(folder, o.Only, o.Not, o.Ignores)
		},
	})
	if err != nil {
		return approval.Plan{Text: display.Short(display.Line(req.Tool.Tool)), Invalid: err.Error(), Tool: &tool} // it can be of any length
	}
	if tool.Command {
		text := *req
		text.Tool = nil
		plan := j.analyze(ctx, m, &text, folder)
		plan.Tool = &tool
		return plan
	}
	plan := toolpolicy.Plan(&tool)
	plan.Folder = folder
	if why := command.Names(req.AgentID, req.SessionKey); why != "" {
		plan.Invalid = why
	}
	if req.Cwd != "" {
		if plan.Cwd, err = m.Analyzer.World.Look(req.Cwd); err != nil {
			why := "there is no folder " + display.Line(req.Cwd)
			if !errors.Is(err, fs.ErrNotExist) {
				why = "cannot look at the folder: " + display.Line(err.Error())
			}
			plan.Findings = []approval.Finding{{Reason: approval.ReasonCwdUnavailable, Sentence: why}}
		}
	}
	return plan
}

// linkText returns what a link says, "" where there is none.
func linkText(at string) string {
	text, err := os.Readlink(at)
	if err != nil {
		return ""
	}
	return text
}
