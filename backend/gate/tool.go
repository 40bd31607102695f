package gate

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
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/rescue"
	"github.com/countersign-app/countersign/backend/runner"
	"github.com/countersign-app/countersign/backend/store"
	"github.com/countersign-app/countersign/backend/toolpolicy"
)

// Evaluate says whether a tool call may be made, asking a person if that is due.
// It makes no call: that is for the caller, but for a command that is ours to
// run, of which the outcome names the id for RunApproved. Its error says that
// nothing was judged.
func (g *Gate) Evaluate(ctx context.Context, call approval.ToolCall, peer approval.Peer) (o approval.Outcome, err error) {
	f := g.take(requestFor(call, peer))
	defer g.pause.started(f)
	defer rescue.Catch(g.Log, "a call of a tool", func() {
		d := failed()
		f.refused(d)
		o, err = f.outcome(d), nil
	})
	if call.JudgeOnly {
		return f.judgeOnly(ctx)
	}
	denial := f.begin(ctx)
	if denial == nil {
		denial = f.decide(ctx)
	}
	if denial != nil {
		f.refused(denial)
		return f.outcome(denial), nil
	}
	if f.req.Who == approval.Ours {
		o := f.outcome(nil)
		o.Approved, denial = f.hold()
		if denial != nil {
			f.refused(denial)
			return f.outcome(denial), nil
		}
		return o, nil
	}
	f.usedByTool()
	f.close(history.Done, approval.Result{})
	return f.outcome(nil), nil
}

// requestFor is the request that a tool call is. Only a command can be ours to
// run.
func requestFor(call approval.ToolCall, peer approval.Peer) approval.Request {
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
			// The agent has a limit of its own, or none in the background, and the
			// command ends with what the agent started in its place.
			req.Timeout = runner.MaxTimeout
		}
	}
	return req
}

// judgeOnly judges a call and asks nobody. Only a denial is the end of it, and
// recorded.
func (f *flight) judgeOnly(ctx context.Context) (approval.Outcome, error) {
	m, err := f.Machine(ctx)
	if err != nil {
		return approval.Outcome{}, err
	}
	f.machine = m
	if f.judge(ctx, false); f.judgement.Verdict != approval.VerdictDeny {
		return f.outcome(nil), nil
	}
	denial := f.begin(ctx)
	if denial == nil {
		denial = f.denied()
	}
	f.refused(denial)
	return f.outcome(denial), nil
}

// outcome tells the caller what became of its call.
func (f *flight) outcome(d *approval.Denial) approval.Outcome {
	if d != nil {
		return approval.Outcome{Verdict: approval.VerdictDeny, Receipt: Receipt(*d)}
	}
	o := approval.Outcome{Verdict: approval.VerdictAllow, Receipt: f.allowed()}
	o.Always = f.answer.Decision == approval.AllowAlways && !f.answer.Choice.Narrow() && f.keptWhole()
	if f.req.Tool.JudgeOnly {
		o.Verdict, o.Receipt.Verdict = f.judgement.Verdict, f.judgement.Verdict
		o.Receipt.Reason, o.Receipt.Sentence = f.judgement.Reason, display.Line(f.judgement.Sentence)
	}
	return o
}

// allowed is the receipt of a request that was let through.
func (f *flight) allowed() approval.Receipt {
	r := approval.Receipt{RunID: f.req.ID, Verdict: approval.VerdictAllow, By: display.Line(f.answer.By), Decision: f.answer.Decision}
	for _, s := range f.judgement.Segments {
		if s.Entry != "" && r.Rule == "" {
			r.Rule = display.Line(s.Entry)
		}
	}
	return r
}

// keptWhole reports whether what a yes for good wrote is about the whole tool.
// What is narrower is ours to keep: an agent would remember the tool. Answers
// that know no widths write the narrowest there is.
func (f *flight) keptWhole() bool {
	written, _ := f.judgement.Chosen(f.answer.Choice, f.req.SessionKey)
	return !slices.ContainsFunc(written, func(e approval.Entry) bool { return len(e.When) > 0 || e.ArgsExact })
}

// DeniesTool reports whether an agent may not call a tool in a session, whatever
// it tells it.
func (g *Gate) DeniesTool(agentID, session, server, tool string) bool {
	rules, _ := g.rulesFor(store.AgentID(agentID))
	return rules.Shut() || rules.tools.Denies(session, server, tool)
}

// usedByTool notes which entry let a call of a tool pass.
func (f *flight) usedByTool() {
	if f.plan.Tool.Command {
		f.used()
		return
	}
	for _, s := range f.judgement.Segments {
		if s.EntryID != "" && s.Verdict == approval.VerdictAllow {
			f.Store.Used(f.req.AgentID, s.EntryID, f.row.Command, "")
		}
	}
}

// analyzeTool makes the plan of a tool call.
func analyzeTool(ctx context.Context, m *Machine, req *approval.Request, folder approval.Folder) approval.Plan {
	search := m.Analyzer.Searcher(ctx)
	tool, err := toolpolicy.Look(req.Tool, folder, toolpolicy.Machine{
		Home: m.Analyzer.Home, Look: m.Analyzer.World.Look, Link: linkText, Protected: m.Analyzer.Protected, Key: m.Analyzer.Key,
		Search: func(folder string, o toolpolicy.Opened) (string, bool) {
			return search.Searched(folder, o.Only, o.Not, o.Ignores)
		},
	})
	if err != nil {
		return approval.Plan{Text: shorten(display.Line(req.Tool.Tool)), Invalid: err.Error(), Tool: &tool} // it can be of any length
	}
	if tool.Command {
		text := *req
		text.Tool = nil
		plan := analyze(ctx, m, &text, folder)
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

// sameTool reports whether two looks at a call found the same call, and the same
// files behind it.
func sameTool(a, b *approval.Tool) bool {
	if a == nil || b == nil {
		return a == b
	}
	same := func(x, y approval.ToolFile) bool {
		return x.Arg == y.Arg && x.Real == y.Real && x.Inside == y.Inside && x.Protected == y.Protected
	}
	return a.Digest == b.Digest && slices.EqualFunc(a.Files, b.Files, same)
}
