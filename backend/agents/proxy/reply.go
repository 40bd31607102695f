package proxy

import (
	"bytes"
	"encoding/json"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
)

// Error codes of JSON-RPC, and two of the range that servers choose from.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeClosed         = -32000 // the server is gone; known SDKs use it for that
	codeDenied         = -32010
)

// metaReceipt is where a denial has its receipt when the result of its tool has
// a form of its own.
const metaReceipt = "countersign/receipt"

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// toolResult is the result of a call that was not made.
type toolResult struct {
	ResultType string                      `json:"resultType,omitempty"`
	Content    []content                   `json:"content"`
	Structured *receipt                    `json:"structuredContent,omitempty"`
	IsError    bool                        `json:"isError"`
	Meta       map[string]approval.Receipt `json:"_meta,omitempty"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type receipt struct {
	Receipt approval.Receipt `json:"receipt"`
}

// failure is an answer that says what went wrong. Without an id it is for nobody.
func failure(id json.RawMessage, code int, why string) []byte {
	return encode(reply{ID: id, Error: &rpcError{Code: code, Message: display.Line(why)}})
}

// denial is the answer to a request that was not allowed. shaped tells that the
// results of the tool have a form of their own: clients hold structured content
// against it, errors too, so the receipt goes elsewhere.
func denial(m Message, p params, r approval.Receipt, shaped bool) []byte {
	if m.Method != methodCall {
		return encode(reply{ID: m.ID, Error: &rpcError{Code: codeDenied, Message: r.Message, Data: receipt{r}}})
	}
	result := toolResult{Content: []content{{"text", r.Message}}, IsError: true}
	if p.modern {
		result.ResultType = "complete"
	}
	if shaped {
		result.Meta = map[string]approval.Receipt{metaReceipt: r}
	} else {
		result.Structured = &receipt{r}
	}
	return encode(reply{ID: m.ID, Result: result})
}

// notification is a message to the client that wants no answer.
type notification struct {
	Version string   `json:"jsonrpc"`
	Method  string   `json:"method"`
	Params  progress `json:"params"`
}

type progress struct {
	Token    json.RawMessage `json:"progressToken"`
	Progress float64         `json:"progress"`
	Message  string          `json:"message"`
}

// waiting tells the client that its request waits for a person, for the nth
// time. The numbers are small, so that those of the server come after them.
func waiting(token json.RawMessage, n int) []byte {
	return encode(notification{Method: "notifications/progress", Params: progress{
		Token: token, Progress: float64(n) / 1_000_000, Message: "Countersign asks a person whether this may be done",
	}})
}

// encode writes a message as one line, with <, > and & as they are.
func encode(message any) []byte {
	switch m := message.(type) {
	case reply:
		m.Version = "2.0"
		message = m
	case notification:
		m.Version = "2.0"
		message = m
	case elicitation:
		m.Version = "2.0"
		message = m
	case withdrawal:
		m.Version = "2.0"
		message = m
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(message); err != nil {
		panic(err) // there is nothing in it that cannot be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
