package approval

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Elided is the name under which a hook says what a long text was that it left
// out. No argument may be called so.
const Elided = "$elided"

// OpensNone is what ToolCall.Opens says of a search for names.
const OpensNone = "-"

// ToolCall is one call that an agent wants to make of a tool: reading a file,
// fetching a page, a tool of an MCP server, or a command in its own shell. It
// is what doors send to the host (method tool.decide) and what the Go package
// is asked about.
type ToolCall struct {
	// Tool is the name as the agent says it, and Server the MCP server that has
	// it; empty for a tool of the agent itself.
	Tool   string `json:"tool"`
	Server string `json:"server,omitempty"`
	// Args are its arguments, a JSON object.
	Args json.RawMessage `json:"args,omitempty"`
	// Cwd is the folder that the agent works in.
	Cwd string            `json:"cwd,omitempty"`
	Env map[string]string `json:"env,omitempty"`
	// AgentID and SessionKey say for whom it is. An agent that is known by its
	// program alone is called after it: "claude-code".
	AgentID    string `json:"agentId,omitempty"`
	SessionKey string `json:"sessionKey,omitempty"`
	// Source is the door: "hook", "mcp", "proxy", "go". It is shown and recorded.
	Source string `json:"source,omitempty"`
	// Who runs what is allowed. Ours counts for commands only: the answer brings
	// the id under which the host runs it once.
	Who Who `json:"who,omitempty"`
	// JudgeOnly asks nobody: the answer to a question is then that it asks.
	JudgeOnly bool `json:"judgeOnly,omitempty"`
	// Deadline is when the caller stops waiting, in unix milliseconds; 0 if it
	// did not say.
	Deadline int64 `json:"deadlineMs,omitempty"`
	// DefaultToNo takes the single key away from a yes, and NoAlways the choice
	// to remember it: what the agent knows about its own call can tighten.
	DefaultToNo bool `json:"defaultToNo,omitempty"`
	NoAlways    bool `json:"noAlways,omitempty"`
	// Opens is the argument that tells a search which files it opens, as the adapter
	// of its agent knows, "" for glob; and OpensNone where it shows nothing but names.
	Opens string `json:"opens,omitempty"`
	// Ticket is a random name that the caller gave the call, to find its question
	// by; "" for none.
	Ticket string `json:"ticket,omitempty"`
}

// Bounds of a ticket, in bytes.
const (
	minTicket = 16
	maxTicket = 64
)

// CheckTicket refuses what is no ticket: letters and digits, and not few.
func CheckTicket(ticket string) error {
	other := func(r rune) bool { return r > 'z' || !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	if len(ticket) < minTicket || len(ticket) > maxTicket || strings.ContainsFunc(ticket, other) {
		return fmt.Errorf("a ticket is %d to %d letters and digits", minTicket, maxTicket)
	}
	return nil
}

// Outcome is what became of a tool call.
type Outcome struct {
	// Verdict is allow or deny; ask only for a call that was to be judged only.
	Verdict Verdict `json:"verdict"`
	// Always tells that the yes was given for good, and not only for this once.
	Always bool `json:"always,omitempty"`
	// Approved is the one-use id for `countersign run --approved`, where the host
	// is to run what was allowed.
	Approved string `json:"approved,omitempty"`
	// Final tells that a denial holds though nobody was asked: it is no case for the
	// agent's own question.
	Final   bool    `json:"-"`
	Receipt Receipt `json:"receipt"`
}

// Receipt says what was judged and why, and what was answered, for machines and for
// the agent's model. It is the same at every door.
type Receipt struct {
	RunID    string  `json:"runId,omitempty"`
	Verdict  Verdict `json:"verdict"`
	Reason   Reason  `json:"reason,omitempty"`
	Sentence string  `json:"sentence,omitempty"`
	// Segment is the part of the command that it is about.
	Segment string `json:"segment,omitempty"`
	// Rule is the entry or rule that decided, By who answered, and Decision what; ""
	// where nobody did.
	Rule     string   `json:"rule,omitempty"`
	By       string   `json:"by,omitempty"`
	Decision Decision `json:"decision,omitempty"`
	// Note is what the person wants the agent to know.
	Note string `json:"note,omitempty"`
	// AskAgain tells that the same call may get another answer later.
	AskAgain bool `json:"askAgain,omitempty"`
	// Instead says what would be allowed, where that is known.
	Instead string `json:"instead,omitempty"`
	// Message is the whole of it in words, with the sentence that ends the search
	// for a way around.
	Message string `json:"message,omitempty"`
}

// Unanswered reports whether nobody decided: neither a person nor policy said
// no, there was only nobody who could be asked.
func (o Outcome) Unanswered() bool {
	r := o.Receipt.Reason
	return o.Verdict == VerdictDeny && !o.Final && EndingFor(r) == EndingNobody && r != ReasonDrifted && r != ReasonReplay
}
