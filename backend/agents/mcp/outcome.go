package mcp

import (
	"context"
	"errors"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/ipc"
)

// Outcome is what became of a command, as clients get it.
type Outcome struct {
	// ExitCode is null when no program ended by itself.
	ExitCode *int `json:"exitCode"`
	// Signal names what ended the command, "" for nothing.
	Signal    string `json:"signal"`
	TimedOut  bool   `json:"timedOut"`
	Success   bool   `json:"success"`
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	Truncated bool   `json:"truncated"`
	// Error says why it did not come to its end, "" if it did.
	Error string `json:"error,omitempty"`
	// Receipt is there for a denial. Nothing ran then, but for what came before a
	// denial in the middle of a text, whose exit code is 126.
	Receipt *approval.Receipt `json:"receipt,omitempty"`
}

const (
	// cutMark is what the host writes where output ends before its end, and
	// cutFrom how long the output is then at least, in bytes.
	cutMark = "\n… (truncated)"
	cutFrom = 199_000
)

// outcomeOf is what a client is told of an answer of the host.
func outcomeOf(a ipc.ExecAnswer) Outcome {
	o := Outcome{ExitCode: a.ExitCode, TimedOut: a.TimedOut, Success: a.Success, Stdout: a.Stdout, Stderr: a.Stderr, Error: a.Error}
	if a.Receipt != nil && a.Receipt.Verdict == approval.VerdictDeny {
		o.Receipt = a.Receipt
	}
	if name, is := strings.CutPrefix(a.Error, approval.EndedBySignal); is {
		o.Signal = name
	}
	marked := strings.HasSuffix(a.Stdout, cutMark) || strings.HasSuffix(a.Stderr, cutMark)
	o.Truncated = marked && len(a.Stdout)+len(a.Stderr) >= cutFrom
	return o
}

const (
	tellsLost    = "the host was lost while it worked on this, so nobody knows what became of it: look before you try again"
	tellsStopped = "it was stopped"
	tellsNoTime  = "the time for asking and running was over"
	tellsNoHost  = "Countersign cannot be reached on this machine: run `countersign doctor`"
)

// failed is what a client is told when the host gave no result. ctx is that of
// the command.
func (s *session) failed(ctx context.Context, err error) Outcome {
	var refused *ipc.Error
	switch {
	case errors.As(err, &refused):
		return denied(*refused)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Outcome{Error: tellsNoTime, TimedOut: true}
	case ctx.Err() != nil:
		return Outcome{Error: tellsStopped}
	case errors.Is(err, ipc.ErrNoAnswer):
		return Outcome{Error: tellsLost}
	}
	s.Log.Warn("the host cannot be reached", "error", display.Line(err.Error()))
	return denied(ipc.Error{Message: tellsNoHost, Reason: approval.ReasonCompanion})
}

// denied is a refusal as clients get it.
func denied(e ipc.Error) Outcome {
	message := display.Line(e.Message)
	end := string(approval.EndingFor(e.Reason))
	// What means nothing is no matter of policy: it is said, and can be mended.
	if e.Reason != approval.ReasonInvalid && !strings.Contains(message, end) {
		message = strings.TrimRight(message, ".") + ". " + end
	}
	r := approval.Receipt{Verdict: approval.VerdictDeny, Reason: e.Reason, AskAgain: approval.CanAskAgain(e.Reason)}
	if e.Receipt != nil {
		r = *e.Receipt
	}
	r.Message = message
	return Outcome{Receipt: &r}
}
