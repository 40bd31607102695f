package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Prompt is a question with everything that is shown with it. Whoever shows
// it computes nothing; the answer is its ID and a Decision.
type Prompt struct {
	ID         string `json:"id"`
	AgentID    string `json:"agentId,omitempty"`
	SessionKey string `json:"sessionKey,omitempty"`
	Who        Who    `json:"who"`
	Peer       Peer   `json:"peer"`
	Claim      Claim  `json:"claim"`
	// Project is the folder of the checkout that the working directory lies in,
	// or that directory itself; "" where there is none. It is that path or the
	// beginning of it, and a program of the agent may have chosen where it ends.
	Project   string    `json:"project,omitempty"`
	Plan      Plan      `json:"plan"`
	Judgement Judgement `json:"judgement"`
	// Env is what the request changes in the environment.
	Env []EnvChange `json:"env,omitempty"`
	// Asked and Expires are unix milliseconds.
	Asked   int64 `json:"asked"`
	Expires int64 `json:"expires"`
	// Latest is how far Expires can move, in unix milliseconds; 0 where the
	// clock cannot be stopped, because the caller gives up at Expires. Held
	// tells that it is stopped.
	Latest int64 `json:"latest,omitempty"`
	Held   bool  `json:"held,omitempty"`
	// Turns are when gateways are asked too, where nobody answered before.
	Turns []Turn `json:"turns,omitempty"`
	// Count is how many identical requests wait for this one answer.
	Count int `json:"count"`
	// CallerGone tells that nobody waits any more: an answer runs nothing.
	CallerGone bool `json:"callerGone,omitempty"`
	// GoneBecause and GoneAt, in unix milliseconds, say why and since when:
	// its time ran out, or the caller hung up.
	GoneBecause Reason `json:"goneBecause,omitempty"`
	GoneAt      int64  `json:"goneAt,omitempty"`
	// Ticket is that of its tool call (ToolCall). Others do not see it.
	Ticket string `json:"-"`
	// Bound is what a yes to it holds for, as whoever asks keeps it.
	Bound any `json:"-"`
}

// Digest names everything that is shown with a question and decides what a yes
// means. It is the same on both sides of the socket. How many share the
// question, and the time, are left out.
func (p Prompt) Digest() string {
	p.Count, p.Asked, p.Expires, p.Latest, p.Held, p.Turns = 0, 0, 0, 0, false, nil
	p.CallerGone, p.GoneBecause, p.GoneAt = false, "", 0
	text, err := json.Marshal(p)
	if err != nil {
		return "" // equals no digest: see its callers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// EnvChange is one difference between the environment of the run and the
// environment that Countersign would use by itself.
type EnvChange struct {
	Name  string `json:"name"`
	Value string `json:"value"` // "" with Secret: not shown
	// Old is the value that is replaced, if there was one.
	Old    string `json:"old,omitempty"`
	Was    bool   `json:"was,omitempty"`
	Secret bool   `json:"secret,omitempty"`
	Asks   bool   `json:"asks,omitempty"`
}

// Answer is what ended a question.
type Answer struct {
	Decision Decision
	// By says who answered: "terminal", "command line", "panel", a gateway's
	// name, an MCP client (ByClient), or "nobody" with a Finding that says why.
	By string
	Finding
	// Note is what the person wants the agent to know.
	Note string
	// Remote tells that it was given at a gateway, so that it does not matter who
	// is in front of the screen here.
	Remote bool
	// Choice says what allow-always writes, and for how long.
	Choice Choice
	// Shared tells that another request got the same answer before, and writes
	// that: it is had once, however many share a question.
	Shared bool
	// For is the request for which its entries are written, where the answer was
	// given to questions of several agents; "" for the request that it ends.
	For string
}

// Result is what is reported about a request when it is over.
type Result struct {
	// Denied is set when the command was not run, or was ended by a denial.
	Denied *Denial
	// Receipt says why it ran; nil where it did not.
	Receipt *Receipt
	// ExitCode is nil when nothing ran or a signal ended it, and 126 or 127
	// when the program could not be started.
	ExitCode *int
	Signal   string
	TimedOut bool
	Stdout   []byte
	Stderr   []byte
	// Truncated tells that output beyond the cap was dropped.
	Truncated bool
	// Tail is the end of the output, for events.
	Tail []byte
	// Error says why the command could not be run to its end, in one sentence.
	Error string
	// Left names programs that outlived the command and were ended.
	Left []string
	// OutputSize and OutputHash describe all output, also what was dropped.
	OutputSize int64
	OutputHash string
	Started    time.Time
	Ended      time.Time
}

// Success reports whether the command ran and ended with status 0.
func (r Result) Success() bool {
	return r.Denied == nil && r.Error == "" && !r.TimedOut && r.ExitCode != nil && *r.ExitCode == 0
}

// The error codes of the wire.
const (
	CodeInvalid     = "INVALID_REQUEST"
	CodeUnavailable = "UNAVAILABLE"
)

// EndedBySignal begins Result errors of commands that a signal ended; the
// signal's name follows.
const EndedBySignal = "the command was ended by "

// CallerLeft is the sentence of a question that ended because its caller hung
// up: by it, the history tells that from other ends.
const CallerLeft = "the caller stopped waiting"

// Denial is a refusal on its way to the agent.
type Denial struct {
	Finding
	// Code is one of the error codes of the wire.
	Code string
	// Segment is the text of the segment it is about, escaped.
	Segment string
	// Note is what the person wants the agent to know.
	Note string
	// Instead are the parts of the command that pass by themselves, escaped.
	Instead string
	// RunID is the request, Rule what decided, By who answered, and Decision what.
	RunID, Rule, By string
	Decision        Decision
}

// EventKind names what happened to a run.
type EventKind string

const (
	EventAsked    EventKind = "asked"
	EventAnswered EventKind = "answered"
	EventStarted  EventKind = "started"
	EventFinished EventKind = "finished"
	EventDenied   EventKind = "denied"
)

// Event tells what happened to a run. Events never hold up a run or a reply.
type Event struct {
	Kind       EventKind `json:"kind"`
	RunID      string    `json:"runId"`
	AgentID    string    `json:"agentId,omitempty"`
	SessionKey string    `json:"sessionKey,omitempty"`
	Reason     Reason    `json:"reason,omitempty"`
	ExitCode   *int      `json:"exitCode,omitempty"`
	At         int64     `json:"at"` // unix milliseconds
}
