package shown

import (
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/store"
)

// Change is a change that a command line wants.
type Change struct {
	// ID is what an answer is about: all that is shown here, and what holds before
	// and after it.
	ID string `json:"id"`
	// Who is the shell and the program of its terminal, and Process the one that
	// calls.
	Who     string `json:"who"`
	Process string `json:"process"`
	// Lines say what it changes: what is looser, what is tighter, and what undoes.
	// InForce tells that what is tighter holds already.
	Lines   []ChangeLine `json:"lines"`
	InForce bool         `json:"inForce"`
	// Asked and Expires are in unix milliseconds.
	Asked   int64 `json:"asked"`
	Expires int64 `json:"expires"`
}

// ChangeLine is one difference. Kind says which of the others are set: "mode",
// "setting" and "value" (Name) go from Was to Is, "rule" and "denial" have an Entry,
// an "item" has a Name and a Text, "source", "project", "noProject" and "other" a Text. A line without an
// agent is a sentence.
type ChangeLine struct {
	Word string `json:"word"` // "looser", "tighter" or "undoes"
	// Agent is whose it is, nil for what is no policy.
	Agent *Agent `json:"agent,omitempty"`
	Kind  string `json:"kind"`
	Name  string `json:"name,omitempty"`
	Was   string `json:"was,omitempty"`
	Is    string `json:"is,omitempty"`
	Text  string `json:"text,omitempty"`
	Entry *Entry `json:"entry,omitempty"`
	// Changes tells that the rule is there already, and becomes another one.
	Changes bool `json:"changes,omitempty"`
	// More is what the others leave out: what follows, all that narrows a rule, and
	// what was there before it.
	More string `json:"more,omitempty"`
	// By is who made what this undoes, nil where that is not known.
	By *Made `json:"by,omitempty"`
}

// Made says who tightened something, and how long ago. In is "terminal" for the
// one that asks, "window", "file" for an edit of the policy file, and "other" for
// Who.
type Made struct {
	In      string `json:"in"`
	Who     string `json:"who,omitempty"`
	Minutes int    `json:"minutes"`
}

// ChangeMark begins the IDs of changes. No question has such an ID.
const ChangeMark = "change:"

// NewChangeLine describes one line of a change. more is what its parts leave out.
func NewChangeLine(word string, l store.Line, more string, by *Made, in Person) ChangeLine {
	line := ChangeLine{
		Word: word, Kind: string(l.Kind), Name: display.Escape(l.Name), Was: display.Escape(l.Was), Is: display.Escape(l.Is),
		Text: display.Escape(l.Text), Changes: l.Changes, More: display.Escape(more), By: by,
	}
	if l.Agent != "" {
		agent := in.agent(l.Agent)
		line.Agent = &agent
	}
	entry := l.Entry
	switch l.Kind {
	case store.LineMode:
		line.Was, line.Is, line.Text = modeID(l.Was), modeID(l.Is), "" // it is in more
		return line
	case store.LineDenial:
		entry = approval.Entry{Pattern: l.Denial.Pattern, Args: l.Denial.Args}
	case store.LineRule:
	default:
		return line
	}
	e := newEntry(entry, in)
	line.Entry = &e
	return line
}

// modeID is the mode of "security/ask", or these two words where they have none.
func modeID(words string) string {
	security, ask, _ := strings.Cut(words, "/")
	if mode, custom := ModeOf(approval.Security(security), approval.Ask(ask)); custom == "" {
		return string(mode)
	}
	return words
}
