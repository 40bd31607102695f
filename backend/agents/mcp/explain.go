package mcp

import (
	"context"
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/judge"
)

// Opinion is what would become of a command. It holds the words of the command
// as they were sent, and never what they would become, which files they lead to
// or what a variable holds: who may ask about a command did not thereby get to
// read this machine.
type Opinion struct {
	Verdict  approval.Verdict `json:"verdict"`
	Reason   approval.Reason  `json:"reason,omitempty"`
	Sentence string           `json:"sentence,omitempty"`
	// AskingCanHelp tells that a person would be asked and may say yes.
	AskingCanHelp bool   `json:"askingCanHelp"`
	Segments      []Part `json:"segments"`
	// Receipt is what a denial would say.
	Receipt *approval.Receipt `json:"receipt,omitempty"`
}

// Part is the verdict on one simple command of a text.
type Part struct {
	Command  string           `json:"command"`
	Verdict  approval.Verdict `json:"verdict"`
	Reason   approval.Reason  `json:"reason,omitempty"`
	Sentence string           `json:"sentence,omitempty"`
}

// explain is the tool of this name.
func (s *session) explain(ctx context.Context, _ *sdk.CallToolRequest, q supposition) (any, error) {
	if err := q.check(s.Dir); err != nil {
		return nil, err
	}
	var got host.Explanation
	err := s.Road.Call(ctx, "explain", map[string]any{
		"command": q.Command.argv(), "cwd": q.Workdir, "env": q.Env, "agentId": s.agent, "sessionKey": s.key,
	}, &got)
	var refused *ipc.Error
	switch {
	case errors.As(err, &refused) && refused.Reason != approval.ReasonCompanion:
		return nil, errors.New(display.Line(refused.Message))
	case err != nil:
		return s.failed(ctx, err), nil
	}
	return opinionOf(got), nil
}

func opinionOf(got host.Explanation) Opinion {
	j := got.Judgement
	o := Opinion{Verdict: j.Verdict, AskingCanHelp: j.Verdict == approval.VerdictAsk, Segments: []Part{}}
	o.Reason, o.Sentence = j.Reason, display.Line(j.Sentence)
	for i, seg := range got.Plan.Segments {
		if seg.Named || i >= len(j.Segments) {
			continue
		}
		p := Part{Command: written(got.Plan.Text, seg), Verdict: j.Segments[i].Verdict}
		p.Reason, p.Sentence = j.Segments[i].Reason, display.Line(j.Segments[i].Sentence)
		if seg.Words != nil { // the sentence may name the files that a pattern stands for
			if p.Sentence == o.Sentence {
				o.Sentence = ""
			}
			p.Sentence = ""
		}
		o.Segments = append(o.Segments, p)
	}
	if j.Verdict == approval.VerdictDeny {
		r := judge.Receipt(*judge.Denied(got.Plan, j))
		o.Receipt = &r
	}
	return o
}

// written is a simple command as the text has it.
func written(text string, seg approval.Segment) string {
	if seg.Start < 0 || seg.End > len(text) || seg.Start > seg.End {
		return ""
	}
	return display.Escape(text[seg.Start:seg.End])
}
