package ipc

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/countersign-app/countersign/backend/approval"
)

// The kinds of frames, and of their answers.
const (
	kindExec    = "exec"
	kindRequest = "request"
	kindCall    = "call"
	// kindHello asks which state folder the host serves; the answer has the same
	// name. It is ours, and OpenClaw's clients send none.
	kindHello = "hello"

	answerExec    = "exec-res"
	answerRequest = "decision"
	answerCall    = "call-res"

	lineProgress = "exec-progress"
)

// frame is one line of a peer, not verified yet.
type frame struct {
	kind, id string
	// of exec and call
	nonce, ts, hmac, requestJSON string
	// of request
	token   string
	request json.RawMessage
	// mistyped tells that a field beside kind and id has a wrong type.
	mistyped bool
}

var errFrame = errors.New("not a frame")

// parseFrame reads the envelope. An error means that there is nobody to
// answer: no JSON object, no known kind, or no id.
func parseFrame(line []byte) (frame, error) {
	var f frame
	if !utf8.Valid(line) {
		return f, errFrame
	}
	err := object(line, func(key string, v json.RawMessage) error {
		switch key {
		case "type":
			return text(v, &f.kind)
		case "id":
			return text(v, &f.id)
		}
		f.mistyped = f.fill(key, v) != nil || f.mistyped
		return nil
	})
	if err != nil {
		return frame{}, err
	}
	switch f.kind {
	case kindExec, kindRequest, kindCall, kindHello:
		if f.id != "" {
			return f, nil
		}
	}
	return frame{}, errFrame
}

func (f *frame) fill(key string, v json.RawMessage) error {
	switch key {
	case "nonce":
		return text(v, &f.nonce)
	case "hmac":
		return text(v, &f.hmac)
	case "requestJson":
		return text(v, &f.requestJSON)
	case "token":
		return text(v, &f.token)
	case "ts":
		if f.ts = string(v); !plainInteger(f.ts) {
			return errFrame
		}
	case "request":
		f.request = v
	}
	return nil
}

// reply is the answer to exec and call.
type reply struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	OK      bool   `json:"ok"`
	Payload any    `json:"payload,omitempty"`
	Error   *Error `json:"error,omitempty"`
}

// execPayload is the payload of an exec-res: every field is always there, but
// for the receipt, which is ours.
type execPayload struct {
	ExitCode *int    `json:"exitCode"`
	TimedOut bool    `json:"timedOut"`
	Success  bool    `json:"success"`
	Stdout   string  `json:"stdout"`
	Stderr   string  `json:"stderr"`
	Error    *string `json:"error"`

	Receipt *approval.Receipt `json:"receipt,omitempty"`
}

// progressReply comes before the answer to an exec whose caller wants it. To
// others it is a foreign line, which they skip.
type progressReply struct {
	Type  string             `json:"type"`
	ID    string             `json:"id"`
	State approval.EventKind `json:"state"`
}

// decisionReply is the answer to request.
type decisionReply struct {
	Type     string            `json:"type"`
	ID       string            `json:"id"`
	Decision approval.Decision `json:"decision"`
}

func execReply(id string, a ExecAnswer) reply {
	if a.Refused != nil {
		return reply{Type: answerExec, ID: id, Error: a.Refused}
	}
	return reply{Type: answerExec, ID: id, OK: true, Payload: execPayload{
		a.ExitCode, a.TimedOut, a.Success, a.Stdout, a.Stderr, orNull(a.Error), a.Receipt,
	}}
}

func callReply(id string, a CallAnswer) reply {
	if a.Refused != nil {
		return reply{Type: answerCall, ID: id, Error: a.Refused}
	}
	if a.Payload == nil {
		a.Payload = json.RawMessage("null")
	}
	return reply{Type: answerCall, ID: id, OK: true, Payload: a.Payload}
}

// refusal answers a frame of any kind that goes no further.
func refusal(f frame, e *Error) any {
	switch f.kind {
	case kindRequest:
		return decisionReply{answerRequest, f.id, approval.DecisionDeny}
	case kindCall:
		return callReply(f.id, CallAnswer{Refused: e})
	}
	return execReply(f.id, ExecAnswer{Refused: e})
}

// encodeLine writes a value as one line, with <, > and & as they are and
// broken UTF-8 as U+FFFD.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
