package host

import (
	"context"
	"errors"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/judge"
)

// doors answers the frames of the socket.
type doors struct{ *Host }

// Exec judges and runs one command.
func (d doors) Exec(ctx context.Context, x ipc.Exec) ipc.ExecAnswer {
	result := d.gate.Run(ctx, x.Request)
	a := answerOf(result)
	if x.Receipt {
		receipted(&a, result)
	}
	return a
}

// receipted puts the receipt into an answer.
func receipted(a *ipc.ExecAnswer, result approval.Result) {
	a.Receipt = result.Receipt
	if result.Denied == nil {
		return
	}
	r := judge.Receipt(*result.Denied)
	if a.Receipt = &r; a.Refused != nil {
		a.Refused.Receipt = &r
	}
}

// answerOf tells the caller what came of its command.
func answerOf(r approval.Result) ipc.ExecAnswer {
	if r.Denied != nil && r.ExitCode == nil {
		return ipc.ExecAnswer{Refused: refusal(*r.Denied)}
	}
	a := ipc.ExecAnswer{
		ExitCode: r.ExitCode, TimedOut: r.TimedOut, Success: r.Success(),
		Stdout: string(r.Stdout), Stderr: string(r.Stderr), Error: r.Error,
	}
	if a.Error == "" && r.Signal != "" {
		a.Error = approval.EndedBySignal + r.Signal
	}
	if r.Denied != nil {
		a.Stderr = join(a.Stderr, judge.Message(*r.Denied))
	}
	return a
}

// join adds a line to an output.
func join(output, line string) string {
	if output != "" && output[len(output)-1] != '\n' {
		output += "\n"
	}
	return output + line + "\n"
}

// Decide answers a caller that runs the command itself.
func (d doors) Decide(ctx context.Context, q ipc.DecisionRequest) (approval.Decision, bool) {
	return d.gate.Decide(ctx, q.Request, q.Allowed)
}

// Call serves one method.
func (d doors) Call(ctx context.Context, c ipc.Call) ipc.CallAnswer {
	method, ok := methods[c.Method]
	if !ok {
		return ipc.CallAnswer{Refused: &ipc.Error{
			Code: ipc.CodeUnavailable, Message: "this host does not offer " + c.Method, Reason: approval.ReasonInvalid,
		}}
	}
	payload, err := method(d.Host, ctx, c)
	var refused *ipc.Error
	switch {
	case errors.As(err, &refused):
		return ipc.CallAnswer{Refused: refused}
	case err != nil:
		return ipc.CallAnswer{Refused: &ipc.Error{Code: ipc.CodeInvalid, Message: err.Error(), Reason: approval.ReasonInvalid}}
	}
	return ipc.CallAnswer{Payload: payload}
}

func refusal(d approval.Denial) *ipc.Error {
	return &ipc.Error{Code: d.Code, Message: judge.Message(d), Reason: d.Reason}
}
