package gate

import (
	"context"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/rescue"
	"github.com/countersign-app/countersign/backend/runner"
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
		o, err = f.judged.Outcome(d, f.answer), nil
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
		return f.judged.Outcome(denial, f.answer), nil
	}
	if f.judged.Req.Who == approval.Ours {
		o := f.judged.Outcome(nil, f.answer)
		o.Approved, denial = f.hold()
		if denial != nil {
			f.refused(denial)
			return f.judged.Outcome(denial, f.answer), nil
		}
		return o, nil
	}
	f.usedByTool()
	f.close(history.Done, approval.Result{})
	return f.judged.Outcome(nil, f.answer), nil
}

// requestFor is the request that a tool call is, with the time that it may take.
func requestFor(call approval.ToolCall, peer approval.Peer) approval.Request {
	req := judge.RequestFor(call, peer)
	if req.Who == approval.Ours {
		// The agent has a limit of its own, or none in the background, and the
		// command ends with what the agent started in its place.
		req.Timeout = runner.MaxTimeout
	}
	return req
}

// judgeOnly judges a call and asks nobody. Only a denial is the end of it, and
// recorded.
func (f *flight) judgeOnly(ctx context.Context) (approval.Outcome, error) {
	if err := f.open(ctx); err != nil {
		return approval.Outcome{}, err
	}
	if f.judge(ctx, false); f.judged.Judgement.Verdict != approval.VerdictDeny {
		return f.judged.Outcome(nil, f.answer), nil
	}
	denial := f.begin(ctx)
	if denial == nil {
		denial = f.judged.Denied()
	}
	f.refused(denial)
	return f.judged.Outcome(denial, f.answer), nil
}

// usedByTool notes which entry let a call of a tool pass.
func (f *flight) usedByTool() {
	if f.judged.Plan.Tool.Command {
		f.used()
		return
	}
	for _, s := range f.judged.Judgement.Segments {
		if s.EntryID != "" && s.Verdict == approval.VerdictAllow {
			f.gate.Store.Used(f.judged.Req.AgentID, s.EntryID, f.row.Command, "")
		}
	}
}
