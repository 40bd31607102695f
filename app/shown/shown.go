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
	"strconv"
	"strings"
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
	Name string `json:"name"`
	// Full is the rest of who it is, where the name is cut or is not the id.
	Full    string `json:"full,omitempty"`
	Initial string `json:"initial"`
	Color   int    `json:"color"` // 1 to 8, one of the design's agent colours
}

// longName is how much of a name is shown beside other words, in characters:
// a name must not push the command off the window.
const longName = 40

// NewAgent describes an agent by its id and by what the policy file says
// about showing it.
func NewAgent(id string, n Named) Agent {
	full := display.Escape(cmp.Or(n.Name, id))
	a := Agent{ID: id, Name: short(full), Initial: initial(full), Color: color(id, n.Color)}
	if a.Name != full {
		a.Full = full
	}
	// A name that hides another id is not enough to tell who asks.
	if n.Name != "" && n.Name != id {
		a.Full = strings.TrimPrefix(a.Full+" · ", " · ") + display.Escape(id)
	}
	return a
}

// short cuts a long name in its middle.
func short(name string) string {
	r := []rune(name)
	if len(r) <= longName {
		return name
	}
	return string(r[:longName/2]) + "…" + string(r[len(r)-longName/2+1:])
}

func (in Person) agent(id string) Agent { return NewAgent(id, in.Agents[id]) }

// color is the one that was chosen or else one that belongs to the id.
func color(id, chosen string) int {
	if n, err := strconv.Atoi(chosen); err == nil && n >= 1 && n <= colors {
		return n
	}
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32()%colors) + 1
}

// colors is how many agent colours the design has.
const colors = 8

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
