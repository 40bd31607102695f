// Package shown makes what the page shows: the question, the settings, the
// state of the host, complete and ready to be put on the screen. The page
// computes nothing and decides nothing.
//
// All text in it that comes from outside is escaped with package display, so
// that no character hides, moves or turns another one. Sentences of the page
// itself are the page's; what is here are facts, codes, and the sentences that
// the judgement found.
package shown

import (
	"cmp"
	"hash/fnv"
	"unicode"
	"unicode/utf8"

	"github.com/countersign-app/countersign/backend/display"
)

// Verdict is how a part of a command is marked. The marks are those of the
// design: passes, asks, asks and is dangerous, denied.
type Verdict string

const (
	Passes Verdict = "pass"
	Asks   Verdict = "ask"
	Danger Verdict = "danger"
	Denied Verdict = "deny"
)

// Agent is who asks.
type Agent struct {
	// ID is the agent's id, exact, for the way back; empty for a caller that
	// names none. It is never shown.
	ID string `json:"id"`
	// Name is what is shown; empty for an agent without a name.
	Name    string `json:"name"`
	Initial string `json:"initial"`
	Color   int    `json:"color"` // 1 to 8, one of the design's agent colours
}

// NewAgent describes an agent by its id and the name that the policy file
// gives it, if any.
func NewAgent(id, displayName string) Agent {
	name := display.Escape(cmp.Or(displayName, id))
	h := fnv.New32a()
	h.Write([]byte(id))
	return Agent{ID: id, Name: name, Initial: initial(name), Color: int(h.Sum32()%8) + 1}
}

func initial(name string) string {
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return string(unicode.ToUpper(r))
		}
	}
	if r, n := utf8.DecodeRuneInString(name); n > 0 && r != utf8.RuneError {
		return string(r)
	}
	return "?"
}
