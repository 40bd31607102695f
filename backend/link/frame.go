package link

import (
	"encoding/json"
	"errors"
	"fmt"
)

// frame is everything that is sent, in either direction.
type frame struct {
	Type    string          `json:"type"` // req, res or event
	ID      string          `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	OK      *bool           `json:"ok,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Error   *Error          `json:"error,omitempty"`
	Event   string          `json:"event,omitempty"`
	Seq     uint64          `json:"seq,omitempty"`
}

const (
	typeRequest  = "req"
	typeResponse = "res"
	typeEvent    = "event"
)

// Request is a call of the other end. It is answered with Conn.Reply.
type Request struct {
	ID, Method string
	Params     json.RawMessage // nil if it has none
}

// Event is news from the other end, which nobody answers.
type Event struct {
	Name    string
	Payload json.RawMessage
}

// Error is a refusal, as it is written on the wire. Code is for machines,
// Message for people.
type Error struct {
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Details json.RawMessage `json:"details,omitempty"`
	// Retryable says that the same may work later, after RetryAfter
	// milliseconds if that is known.
	Retryable  bool  `json:"retryable,omitempty"`
	RetryAfter int64 `json:"retryAfterMs,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%s)", e.Message, e.Code) }

// Detail is details.code of a refusal, or "".
func (e *Error) Detail() string {
	var d struct {
		Code string `json:"code"`
	}
	_ = json.Unmarshal(e.Details, &d) // what has none has no code
	return d.Code
}

// Codes of refusals.
const (
	CodeInvalid     = "INVALID_REQUEST"
	CodeUnavailable = "UNAVAILABLE"
	CodeTimeout     = "TIMEOUT"
	CodeForbidden   = "FORBIDDEN"
	CodeNotPaired   = "NOT_PAIRED"
)

// PairingRequired is the detail of a refusal that ends when a person approves
// the device.
const PairingRequired = "PAIRING_REQUIRED"

// Refuse makes a refusal.
func Refuse(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

var errFrame = errors.New("the other end sent something that is no frame")

// parse reads one frame. What it checks is the envelope.
func parse(text []byte) (frame, error) {
	var f frame
	if err := json.Unmarshal(text, &f); err != nil {
		return f, errFrame // the text may hold a secret: it is not repeated
	}
	switch {
	case f.Type == typeRequest && f.ID != "" && f.Method != "":
	case f.Type == typeResponse && f.ID != "" && f.OK != nil:
	case f.Type == typeEvent && f.Event != "":
	default:
		return f, errFrame
	}
	return f, nil
}

// raw is a value as it is written in a frame; nil stays away.
func raw(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	return json.Marshal(v)
}
