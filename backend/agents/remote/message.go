package remote

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// requiredMessage asks for an answer. A later one with the same id is the same
// question as it is now.
type requiredMessage struct {
	Type      string  `json:"type"`
	SessionID string  `json:"sessionId"`
	RequestID string  `json:"requestId"`
	Request   request `json:"request"`
	ExpiresAt int64   `json:"expiresAt"` // unix milliseconds
}

// request is what is asked about.
type request struct {
	// Text is the exact command, or the call with all its arguments. It is the
	// agent's: who shows it escapes it.
	Text    string          `json:"text"`
	AgentID string          `json:"agentId,omitempty"`
	Cwd     string          `json:"cwd,omitempty"`
	Tool    string          `json:"tool,omitempty"`
	Server  string          `json:"server,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	// Who tells who runs it.
	Who      approval.Who        `json:"who"`
	Reason   approval.Reason     `json:"reason"`
	Sentence string              `json:"sentence,omitempty"`
	Risk     approval.Weighed    `json:"risk"`
	Choices  []approval.Decision `json:"choices"`
	// Count is how many identical requests one answer is for.
	Count int `json:"count"`
}

// withdrawn tells that a question needs no answer any more.
type withdrawn struct {
	Type      string `json:"type"`
	SessionID string `json:"sessionId"`
	RequestID string `json:"requestId"`
}

// failure tells that an answer was not taken.
type failure struct {
	Type      string `json:"type"`
	SessionID string `json:"sessionId,omitempty"`
	RequestID string `json:"requestId,omitempty"`
	Error     string `json:"error"`
}

// requestID is another one when more, or fewer, identical requests wait: an answer
// is for as many as were shown with it.
func requestID(p approval.Prompt) string {
	if p.Count < 2 {
		return p.ID
	}
	return fmt.Sprintf("%s x%d", p.ID, p.Count)
}

func required(p approval.Prompt) requiredMessage {
	r := request{
		Text: p.Plan.Text, AgentID: p.AgentID, Cwd: p.Plan.Cwd.Path, Who: p.Who, Reason: p.Judgement.Reason, Sentence: p.Judgement.Sentence,
		Risk: p.Judgement.Risk, Choices: slices.Clone(p.Judgement.Choices), Count: p.Count,
	}
	if t := p.Plan.Tool; t != nil {
		r.Tool, r.Server, r.Args = t.Name, t.Server, t.Args
	}
	return requiredMessage{"approval_required", p.SessionKey, requestID(p), r, p.Expires}
}
