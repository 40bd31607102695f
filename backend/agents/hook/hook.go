// Package hook speaks the hook protocols of other agents: it reads what an
// agent tells its hook, makes a tool call of it, and writes the outcome in the
// words of that agent. There is one file for each agent.
//
// It opens nothing, asks nobody and keeps nothing: the command line hands the
// call to the host. What must never happen here: an answer that lets something
// run which the host did not allow. An agent that takes silence or a broken
// answer for a yes gets a denial instead.
package hook

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// Agent is one agent whose hooks are answered.
type Agent struct {
	// Name is its word on the command line and its agent id, such as
	// "claude-code"; Title is what people call it.
	Name, Title string
	Capability  Capability
	// Read makes an event of what the agent wrote to the hook. It takes hostile
	// input; its errors say what is wrong with it.
	Read func(input []byte) (Event, error)
	// Refuse is the answer to input that cannot be read: the safest that the
	// agent understands.
	Refuse func(err error) Answer
}

// Capability is what an agent's hooks can do. People see it before they rely on
// them.
type Capability struct {
	// Blocking tells that the agent waits for the answer.
	Blocking bool `json:"blocking"`
	// AsksOnlyWhenNeeded tells that the agent asks by itself where the hook says
	// nothing: then nothing is said where nobody can be asked.
	AsksOnlyWhenNeeded bool `json:"asksOnlyWhenNeeded"`
	// FailMode is what the agent does when the hook is gone or breaks.
	FailMode FailMode `json:"failMode"`
	// Timeout is how long the agent waits by itself, and TimeoutMax how long it
	// can be made to; 0 where there is no end.
	Timeout    time.Duration `json:"timeout"`
	TimeoutMax time.Duration `json:"timeoutMax"`
	// CanRewriteInput tells that the hook may change what runs.
	CanRewriteInput bool `json:"canRewriteInput"`
	// CanPersist are the places where a yes for good can be written back.
	CanPersist []string `json:"canPersist,omitempty"`
	// CanInterrupt tells that a no can end the agent's turn.
	CanInterrupt bool `json:"canInterrupt"`
	// DenialTextReachesModel tells that the agent's model reads why.
	DenialTextReachesModel bool `json:"denialTextReachesModel"`
	// Experimental tells that this was never tried against the real client.
	Experimental bool `json:"experimental"`
}

// FailMode says what an agent does without an answer.
type FailMode string

const (
	FailsToPrompt FailMode = "prompt" // its own question
	FailsOpen     FailMode = "open"   // it runs
	FailsClosed   FailMode = "closed" // it does not
	FailsPending  FailMode = "pending"
)

// Event is one thing that an agent asks its hook about.
type Event struct {
	// Name is the agent's own name for it, such as "PreToolUse".
	Name string
	// Ignored tells that it is about nothing that is decided here: the answer is
	// Silent, and the host is not asked.
	Ignored bool
	Call    approval.ToolCall
	// Tool is the agent's own name for what it calls.
	Tool string
	// Unasked tells that after silence the agent may make the call without a question
	// to a person, by what the event says of its mode.
	Unasked bool
	// Timeout is how long the agent says that it waits for this answer; 0 where
	// it does not say.
	Timeout time.Duration
	// Reply writes an outcome for the agent. rewritten is the command line that
	// runs what was allowed, "" where the agent runs it itself.
	Reply func(o approval.Outcome, rewritten string) Answer
	// Silent is the answer for when nobody could be asked, and policy alone does not
	// deny it: nothing where the agent then asks by itself, else a denial with this
	// text.
	Silent func(why string) Answer
}

// Deny is the answer to a call that must not be made though nobody could be asked.
func (e Event) Deny(reason approval.Reason, why string) Answer {
	r := approval.Receipt{Verdict: approval.VerdictDeny, Reason: reason, Sentence: why, AskAgain: approval.CanAskAgain(reason), Message: unasked(why)}
	return e.Reply(approval.Outcome{Verdict: approval.VerdictDeny, Final: true, Receipt: r}, "")
}

// Answer is what the hook prints, and how it ends.
type Answer struct {
	Stdout []byte
	Stderr string
	Code   int
}

// MaxInput bounds what is read of an agent, in bytes.
const MaxInput = 8 << 20

// ErrTooLarge says that an agent wrote more than that.
var ErrTooLarge = errors.New("the input is larger than 8 MiB")

// Agents returns all agents, in the order of their names.
func Agents() []Agent {
	return []Agent{claudeCode(), codex(), copilot(), cursor(), gemini(), generic(), opencode(), vscode()}
}

// Find returns the agent with this name.
func Find(name string) (Agent, error) {
	var names []string
	for _, a := range Agents() {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return Agent{}, fmt.Errorf("no agent is called %q: use one of %s", name, strings.Join(names, ", "))
}
