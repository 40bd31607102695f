package ipc

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// The values of approvalSource that OpenClaw sends.
const (
	sourceFallback = "ask-fallback"
	sourceReview   = "auto-review"
)

// decodeExec reads the requestJson of an exec frame. Null is the same as
// absent, names that we do not know are ignored, a wrong type is refused.
func decodeExec(requestJSON string) (Exec, *Error) {
	x := Exec{Request: approval.Request{Who: approval.Ours}}
	err := object([]byte(requestJSON), func(key string, v json.RawMessage) error {
		return execField(&x, key, v)
	})
	if err != nil {
		return Exec{}, invalidPayload()
	}
	if e := checkExec(x); e != nil {
		return Exec{}, e
	}
	return x, nil
}

func execField(x *Exec, key string, v json.RawMessage) error {
	r := &x.Request
	switch key {
	case "command":
		return words(v, &r.Command)
	case "rawCommand":
		return json.Unmarshal(v, &r.RawCommand)
	case "cwd":
		return json.Unmarshal(v, &r.Cwd)
	case "env":
		return environment(v, &r.Env)
	case "timeoutMs":
		return span(v, &r.Timeout)
	case "needsScreenRecording":
		return json.Unmarshal(v, &r.NeedsScreenRecording)
	case "agentId":
		return json.Unmarshal(v, &r.AgentID)
	case "sessionKey":
		return json.Unmarshal(v, &r.SessionKey)
	case "approvalDecision":
		return json.Unmarshal(v, &r.Claim.Decision)
	case "approvalSource":
		return json.Unmarshal(v, &r.Claim.Source)
	case "policySnapshot":
		return snapshot(v, &x.PolicySnapshot)
	case "deadlineMs":
		return moment(v, &r.Deadline)
	case "background":
		return json.Unmarshal(v, &r.Background)
	case "security":
		return json.Unmarshal(v, &r.Claim.Security)
	case "ask":
		return json.Unmarshal(v, &r.Claim.Ask)
	case "gateway":
		return json.Unmarshal(v, &r.Claim.Gateway)
	case "gatewayOperator":
		return json.Unmarshal(v, &r.Claim.Operator)
	case "progress":
		return json.Unmarshal(v, &x.Progress)
	case "receipt":
		return json.Unmarshal(v, &x.Receipt)
	case "systemRunPlan":
		return json.Unmarshal(v, &r.Prepared)
	case "challenge":
		return text(v, &x.challenge)
	}
	return nil
}

// checkExec refuses what has the right types and still means nothing. A claim
// is only shaped here, never believed.
func checkExec(x Exec) *Error {
	r := x.Request
	grant := r.Claim.Decision == approval.AllowOnce || r.Claim.Decision == approval.AllowAlways
	refuse := func(message string) *Error { return invalid(message, approval.ReasonInvalid) }
	switch {
	case Unrunnable(r.Command) != "":
		return refuse(Unrunnable(r.Command))
	case r.Claim.Source != "" && r.Claim.Source != sourceFallback && r.Claim.Source != sourceReview:
		return refuse("approvalSource invalid")
	case r.Claim.Source != "" && grant:
		return refuse("approvalSource cannot be combined with explicit approval")
	case (grant || r.Claim.Source == sourceReview) && x.PolicySnapshot == nil:
		return refuse("delayed approval requires a prepared policy snapshot")
	}
	return nil
}

// Unrunnable says why a list of words is no command, "" where it is one.
func Unrunnable(words []string) string {
	switch {
	case len(words) == 0:
		return "command required"
	case strings.TrimSpace(words[0]) != words[0]:
		return "executable has surrounding whitespace"
	}
	return ""
}

// decodeRequest reads the request of a request frame. Whatever is wrong with
// it, the answer is deny, so the error says no more.
func decodeRequest(v json.RawMessage) (DecisionRequest, error) {
	q := DecisionRequest{Request: approval.Request{Who: approval.Theirs}}
	r := &q.Request
	err := object(v, func(key string, v json.RawMessage) error {
		switch key {
		case "command":
			return text(v, &r.Text)
		case "cwd":
			return json.Unmarshal(v, &r.Cwd)
		case "host":
			return json.Unmarshal(v, &r.Claim.Host)
		case "security":
			return json.Unmarshal(v, &r.Claim.Security)
		case "ask":
			return json.Unmarshal(v, &r.Claim.Ask)
		case "agentId":
			return json.Unmarshal(v, &r.AgentID)
		case "sessionKey":
			return json.Unmarshal(v, &r.SessionKey)
		case "resolvedPath":
			return json.Unmarshal(v, &r.Claim.ResolvedPath)
		case "allowedDecisions":
			return decisions(v, &q.Allowed)
		}
		return nil
	})
	if err == nil && r.Text == "" {
		err = errFrame
	}
	return q, err
}

// decodeCall reads the requestJson of a call frame.
func decodeCall(requestJSON string) (Call, *Error) {
	c := Call{Params: json.RawMessage("null")}
	err := object([]byte(requestJSON), func(key string, v json.RawMessage) error {
		switch key {
		case "method":
			return text(v, &c.Method)
		case "params":
			c.Params = v
		case "confirm":
			return json.Unmarshal(v, &c.Confirmation)
		case "challenge":
			return text(v, &c.challenge)
		}
		return nil
	})
	if err != nil {
		return Call{}, invalidPayload()
	}
	if methods[c.Method] == byNothing {
		return Call{}, invalid("unknown method", approval.ReasonInvalid)
	}
	return c, nil
}

// words reads a list of strings. A null among them is not an empty word.
func words(v json.RawMessage, to *[]string) error {
	var list []*string
	if err := json.Unmarshal(v, &list); err != nil {
		return err
	}
	for _, w := range list {
		if w == nil {
			return errFrame
		}
		*to = append(*to, *w)
	}
	return nil
}

// decisions reads a list of answers and drops those that nobody knows: a
// button that we cannot draw is a button less.
func decisions(v json.RawMessage, to *[]approval.Decision) error {
	var names []string
	if err := words(v, &names); err != nil {
		return err
	}
	for _, name := range names {
		var d approval.Decision
		if d.UnmarshalText([]byte(name)) == nil {
			*to = append(*to, d)
		}
	}
	return nil
}

func environment(v json.RawMessage, to *map[string]string) error {
	if string(v) == "null" {
		return nil
	}
	env := map[string]string{}
	*to = env
	return object(v, func(key string, v json.RawMessage) error {
		var value string
		err := text(v, &value)
		env[key] = value
		return err
	})
}

// span reads milliseconds. More than a Duration can hold is as good as the
// longest one.
func span(v json.RawMessage, to *time.Duration) error {
	var ms int64
	if err := json.Unmarshal(v, &ms); err != nil {
		return err
	}
	if ms < 0 {
		return errFrame
	}
	*to = time.Duration(min(ms, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
	return nil
}

// moment reads unix milliseconds.
func moment(v json.RawMessage, to *time.Time) error {
	var ms *int64
	if err := json.Unmarshal(v, &ms); err != nil || ms == nil {
		return err
	}
	if *ms <= 0 {
		return errFrame
	}
	*to = time.UnixMilli(*ms)
	return nil
}

func snapshot(v json.RawMessage, to *json.RawMessage) error {
	if string(v) == "null" {
		return nil
	}
	*to = v
	return object(v, func(string, json.RawMessage) error { return nil })
}

// execWire is the requestJson of an exec frame, in the order in which
// OpenClaw writes it and with its nulls; ours come last.
type execWire struct {
	Command              []string          `json:"command"`
	RawCommand           *string           `json:"rawCommand"`
	Cwd                  *string           `json:"cwd"`
	Env                  map[string]string `json:"env"`
	TimeoutMs            *int64            `json:"timeoutMs"`
	NeedsScreenRecording bool              `json:"needsScreenRecording"`
	AgentID              *string           `json:"agentId"`
	SessionKey           *string           `json:"sessionKey"`
	ApprovalDecision     *string           `json:"approvalDecision"`
	ApprovalSource       string            `json:"approvalSource,omitempty"`
	PolicySnapshot       json.RawMessage   `json:"policySnapshot,omitempty"`
	DeadlineMs           int64             `json:"deadlineMs,omitempty"`
	Background           bool              `json:"background,omitempty"`
	Progress             bool              `json:"progress,omitempty"`
	Receipt              bool              `json:"receipt,omitempty"`

	Security      approval.Security  `json:"security,omitempty"`
	Ask           approval.Ask       `json:"ask,omitempty"`
	Gateway       string             `json:"gateway,omitempty"`
	Operator      string             `json:"gatewayOperator,omitempty"`
	SystemRunPlan *approval.Prepared `json:"systemRunPlan,omitempty"`
	Challenge     string             `json:"challenge,omitempty"`
}

func encodeExec(x Exec) (string, error) {
	r := x.Request
	w := execWire{
		Command: r.Command, RawCommand: orNull(r.RawCommand), Cwd: orNull(r.Cwd), Env: r.Env,
		NeedsScreenRecording: r.NeedsScreenRecording,
		AgentID:              orNull(r.AgentID), SessionKey: orNull(r.SessionKey),
		ApprovalDecision: orNull(string(r.Claim.Decision)), ApprovalSource: r.Claim.Source,
		PolicySnapshot: x.PolicySnapshot, Background: r.Background, Progress: x.Progress, Receipt: x.Receipt,
		Security: r.Claim.Security, Ask: r.Claim.Ask, Gateway: r.Claim.Gateway, Operator: r.Claim.Operator, SystemRunPlan: r.Prepared, Challenge: x.challenge,
	}
	if r.Timeout > 0 {
		ms := max(r.Timeout.Milliseconds(), 1)
		w.TimeoutMs = &ms
	}
	if !r.Deadline.IsZero() {
		w.DeadlineMs = r.Deadline.UnixMilli()
	}
	return encodeText(w)
}

// requestWire is the request of a request frame.
type requestWire struct {
	Command          string              `json:"command"`
	Cwd              string              `json:"cwd,omitempty"`
	Host             approval.Host       `json:"host,omitempty"`
	Security         approval.Security   `json:"security,omitempty"`
	Ask              approval.Ask        `json:"ask,omitempty"`
	AgentID          string              `json:"agentId,omitempty"`
	ResolvedPath     string              `json:"resolvedPath,omitempty"`
	SessionKey       string              `json:"sessionKey,omitempty"`
	AllowedDecisions []approval.Decision `json:"allowedDecisions,omitempty"`
}

func encodeRequest(q DecisionRequest) requestWire {
	r := q.Request
	return requestWire{
		Command: r.Text, Cwd: r.Cwd, Host: r.Claim.Host, Security: r.Claim.Security, Ask: r.Claim.Ask,
		AgentID: r.AgentID, ResolvedPath: r.Claim.ResolvedPath, SessionKey: r.SessionKey,
		AllowedDecisions: q.Allowed,
	}
}

// callWire is the requestJson of a call frame.
type callWire struct {
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"`
	Confirm *Confirmation   `json:"confirm,omitempty"`
	// Challenge is that of the connection.
	Challenge string `json:"challenge,omitempty"`
}

func encodeText(v any) (string, error) {
	line, err := encodeLine(v)
	return strings.TrimSuffix(string(line), "\n"), err
}
