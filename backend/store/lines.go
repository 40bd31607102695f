package store

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// LineKind is what a line of a difference is about.
type LineKind string

const (
	LineMode    LineKind = "mode"    // Was and Is are "security/ask", Text is what follows from it
	LineSetting LineKind = "setting" // Name goes from Was to Is
	LineValue   LineKind = "value"   // the same of JSON that only others understand
	LineRule    LineKind = "rule"    // Entry is new, or is there instead of Before
	LineDenial  LineKind = "denial"  // Denial goes
	LineItem    LineKind = "item"    // a Name, such as a safe bin, called Text
	LineSource  LineKind = "source"  // the policy of the gateway Text holds no more
	// The folder Text is a project now, or one that the person said was none may be.
	LineProject   LineKind = "project"
	LineNoProject LineKind = "noProject"
	LineOther     LineKind = "other" // Text is a sentence
)

// Line is one difference between two documents, in parts: the new one permits more
// by it, or with Tighter less.
type Line struct {
	// Agent is whose it is, Every for all.
	Agent   string            `json:"agent"`
	Kind    LineKind          `json:"kind"`
	Tighter bool              `json:"tighter,omitempty"`
	Name    string            `json:"name,omitempty"`
	Was     string            `json:"was,omitempty"`
	Is      string            `json:"is,omitempty"`
	Text    string            `json:"text,omitempty"`
	Entry   approval.Entry    `json:"entry,omitzero"`
	Changes bool              `json:"changes,omitempty"` // the rule was there, and is another one
	Before  approval.Entry    `json:"before,omitzero"`
	Denial  approval.DenyRule `json:"denial,omitzero"`
}

// Key is equal for a line and for one that takes it back.
func (l Line) Key() string {
	what := []any{l.Agent, l.Kind, l.Name}
	switch l.Kind {
	case LineRule:
		wider := l.Entry
		if l.Tighter && l.Changes {
			wider = l.Before
		}
		what = append(what, wider.Pattern, wider.Args)
	case LineDenial:
		what = append(what, l.Denial.Pattern, l.Denial.Args, l.Denial.Anywhere)
	case LineItem, LineSource, LineProject, LineNoProject, LineOther:
		what = append(what, l.Text)
	}
	text, _ := json.Marshal(what) // plain words cannot fail
	return string(text)
}

// Differences are the lines by which a document differs from an older one: first
// those by which it is looser, then those by which it is tighter alone.
func Differences(old, new *Document) []Line {
	lines := Loosenings(old, new)
	n := len(lines)
	for _, l := range Loosenings(new, old) {
		sentence := l.Kind == LineOther && !reflect.DeepEqual(l, andMore) // it is true of the way back alone
		if !sentence && !slices.ContainsFunc(lines[:n], l.takesBack) {
			lines = append(lines, l.back())
		}
	}
	return lines
}

// takesBack reports whether a line of the way back is about the same as one of the
// change, which says it already.
func (l Line) takesBack(of Line) bool {
	if l.Kind == LineRule {
		return l.Agent == of.Agent && reflect.DeepEqual(l.Entry, of.Before) && reflect.DeepEqual(l.Before, of.Entry)
	}
	return l.Key() == of.Key()
}

// Loosenings are the lines by which a document is looser than an older one: one at
// least, where Loosens has a reason.
func Loosenings(old, new *Document) []Line {
	c, _ := compare(old, new)
	return once(c.lines)
}

// back is the line of the change that takes this one back.
func (l Line) back() Line {
	l.Was, l.Is, l.Tighter = l.Is, l.Was, true
	if l.Kind == LineMode {
		l.Text = "" // nothing follows from a tighter one
	}
	if l.Changes {
		l.Entry, l.Before = l.Before, l.Entry
	}
	return l
}

// andMore stands for what nobody would read to its end.
var andMore = Line{Agent: Every, Kind: LineOther, Text: "and more"}

// once leaves out what was said before, and the end of what is too long.
func once(lines []Line) (list []Line) {
	for _, l := range lines {
		switch {
		case slices.ContainsFunc(list, func(other Line) bool { return reflect.DeepEqual(other, l) }):
		case len(list) == MaxReasons:
			return append(list, andMore)
		default:
			list = append(list, l)
		}
	}
	return list
}

// whose is the agent of a line about one, or about every agent that is not named.
func whose(id string) string {
	if id == "" {
		return Every
	}
	return id
}

func modeWords(p approval.Policy) string { return fmt.Sprintf("%s/%s", p.Security, p.Ask) }
