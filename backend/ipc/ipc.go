// Package ipc is the local socket: it listens and dials, tells who is at the
// other end, verifies frames, keeps limits, and turns frames into the words of
// package approval.
//
// It may touch the socket, its folder and its lock file, and ask the kernel
// about processes. It knows no policy: what a request may do is decided by the
// Handler that its caller hands in. What must never happen here: a frame that
// was not verified reaches the handler, a process that may only ask gets to
// answer, or a peer that misbehaves holds up another one.
package ipc

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/proc"
)

// Handler does what frames ask for. Its methods run at the same time, one
// goroutine for each frame, and must return soon after ctx is done: it is done
// when the caller closed its connection fully or the server stops.
type Handler interface {
	// Exec judges and runs one command.
	Exec(ctx context.Context, x Exec) ExecAnswer
	// Decide says whether the caller may run a command itself. Without an
	// answer the connection is closed in silence.
	Decide(ctx context.Context, q DecisionRequest) (d approval.Decision, answered bool)
	// Call serves one method of the table in methods.go.
	Call(ctx context.Context, c Call) CallAnswer
}

// Exec is a verified request to run a command. The run id is left empty: the
// host makes it.
type Exec struct {
	Request approval.Request
	// PolicySnapshot is the object that the caller sent with its claim, as
	// it was sent; nil without one.
	PolicySnapshot json.RawMessage
	// Progress asks for a line when Request.Progress is called.
	Progress bool
	// Receipt asks for the receipt.
	Receipt bool
	// Askers are the processes for which a program of ours asks, of whoever is at
	// the other end of a connection over loopback. A client names them to the host
	// before it asks; a host finds none here.
	Askers []proc.ID

	challenge string // that of the connection
}

// ExecAnswer is the outcome of an Exec: what ran, or why nothing did.
type ExecAnswer struct {
	// ExitCode is nil when no program ended by itself.
	ExitCode *int
	TimedOut bool
	Success  bool
	Stdout   string
	Stderr   string
	// Error says why a command could not be run to its end; empty for none.
	Error string
	// Receipt says what was judged and answered, where it was asked for. That of a
	// denial which let nothing run is in Refused.
	Receipt *approval.Receipt
	// Refused is set when nothing ran; the other fields do not count then. A
	// Client returns it as its error instead.
	Refused *Error
}

// DecisionRequest is a verified question about a command that the caller
// runs itself.
type DecisionRequest struct {
	Request approval.Request
	// Allowed are the answers that the caller can use; empty means all.
	Allowed []approval.Decision
}

// Call is one verified call of a method.
type Call struct {
	Method string
	// Params is the JSON value that was sent, "null" without one.
	Params json.RawMessage
	// Operator tells that the operator key verified the frame and that the
	// peer passed the door. It holds for every method that needs the key.
	Operator bool
	Peer     approval.Peer
	// Conn tells connections apart, and Confirmation is the person's signature
	// under this call, nil without one.
	Conn         uint64
	Confirmation *Confirmation

	challenge string // that of the connection
}

// Confirmation is a person's signature under one call.
type Confirmation struct {
	Nonce     string `json:"nonce"` // the host's, of ConfirmAsk
	Signature []byte `json:"signature"`
}

// ConfirmAsk asks for the person's signature: the same call counts with it, on the
// same connection, once and soon.
type ConfirmAsk struct {
	Nonce string `json:"nonce"`
	Text  string `json:"text"` // what the person has to read, in lines
}

// CallAnswer is what a method returns: a value to encode, or a refusal.
type CallAnswer struct {
	Payload any
	Refused *Error
}

// The error codes of the wire.
const (
	CodeInvalid     = approval.CodeInvalid
	CodeUnavailable = approval.CodeUnavailable
	// CodeForbidden is ours, for kind call: the frame is right and the key is
	// right, but the process that sent it may not operate.
	CodeForbidden = "FORBIDDEN"
	// CodeConfirm is ours, for kind call: the call counts with a person's signature.
	CodeConfirm = "CONFIRM"
	// CodeNothing is ours, for kind call: what the call would answer is not there.
	CodeNothing = "NOTHING_WAITS"
)

// Reasons that only the socket gives.
const (
	reasonTTL  approval.Reason = "ttl"
	reasonHMAC approval.Reason = "hmac"
	reasonJSON approval.Reason = "json"
)

// Error is a refusal as it travels.
type Error struct {
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Reason  approval.Reason `json:"reason,omitempty"`
	// Receipt is the whole of a denial, for a caller that asked for it.
	Receipt *approval.Receipt `json:"receipt,omitempty"`
	// Confirm says what is to be signed, with CodeConfirm.
	Confirm *ConfirmAsk `json:"confirm,omitempty"`
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// ErrLive says that another process holds the socket.
var ErrLive = errors.New("another Countersign is already listening there")

func invalid(message string, reason approval.Reason) *Error {
	return &Error{Code: CodeInvalid, Message: message, Reason: reason}
}

// failed answers a frame that a mistake of ours made us fail at.
func failed() *Error {
	return &Error{Code: CodeUnavailable, Message: "Countersign failed at this, so nothing was done: its log says where", Reason: approval.ReasonInternal}
}

func invalidPayload() *Error { return invalid("invalid payload", reasonJSON) }
func invalidAuth() *Error    { return invalid("invalid auth", reasonHMAC) }
