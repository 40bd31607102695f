package setup

import (
	"fmt"
	"strings"

	"github.com/countersign-app/countersign/backend/agents/hook"
)

// Would is what an agent would do with a call.
type Would string

const (
	Run     Would = "run"           // it runs without an answer, or was allowed
	AskSelf Would = "ask-by-itself" // its own question to the person
	// OwnRules is what an agent does after an event at which only a no counts.
	OwnRules Would = "own-rules"
	Refuse   Would = "refuse"
	Wait     Would = "wait"
	Unknown  Would = "unknown"
)

// String says it as the end of a sentence that begins with the agent.
func (w Would) String() string {
	switch w {
	case Run:
		return "would run"
	case AskSelf:
		return "would ask you itself"
	case OwnRules:
		return "would go on by its own rules"
	case Refuse:
		return "would refuse"
	case Wait:
		return "would wait"
	}
	return "would do what is not known"
}

// withoutApp is what an agent does where our program answers, and nobody can
// be asked.
func withoutApp(c hook.Capability) Would {
	switch {
	case c.FailMode == hook.FailsPending:
		return Wait
	case c.AsksOnlyWhenNeeded:
		return AskSelf
	}
	return Refuse
}

// withoutProgram is what an agent does where our program cannot be started.
func withoutProgram(t target, c hook.Capability) Would {
	if t.gone != "" {
		return t.gone
	}
	return failing(c.FailMode)
}

func failing(m hook.FailMode) Would {
	switch m {
	case hook.FailsToPrompt:
		return AskSelf
	case hook.FailsOpen:
		return Run
	case hook.FailsClosed:
		return Refuse
	case hook.FailsPending:
		return Wait
	}
	return Unknown
}

// inWords says what an agent's hooks can do, one sentence each.
func inWords(c hook.Capability) []string {
	list := []string{"it does not wait for an answer, so nothing can be stopped"}
	if c.Blocking {
		list = []string{"it waits for the answer" + howLong(c)}
	}
	if c.AsksOnlyWhenNeeded {
		list = append(list, "it asks only where it would ask you, and asks you itself where we say nothing")
	} else {
		list = append(list, "it asks about every call, so calls that policy does not know are refused where you cannot be asked")
	}
	if c.CanRewriteInput {
		list = append(list, "what runs can be changed, so commands can run under Countersign")
	}
	if len(c.CanPersist) > 0 {
		list = append(list, "an answer for good can be kept by the agent, for the "+strings.Join(c.CanPersist, " or the "))
	}
	if c.CanInterrupt {
		list = append(list, "a no can end its turn")
	}
	if !c.DenialTextReachesModel {
		list = append(list, "its model does not read why something was denied")
	}
	if c.Experimental {
		list = append(list, "experimental: not tried against the real program")
	}
	return list
}

func howLong(c hook.Capability) string {
	if c.FailMode == hook.FailsPending {
		return ", without an end"
	}
	return fmt.Sprintf(", for up to %.0f hours", waits(c).Hours())
}
