package shown

import (
	"cmp"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/display"
)

// Entry is an allowlist entry as it is read: a program, and what narrows it.
type Entry struct {
	Pattern   string   `json:"pattern"`
	Args      []string `json:"args"`
	ArgsExact bool     `json:"argsExact"`
	// ArgPattern is a pattern for the arguments, or says in words what one means.
	ArgPattern string `json:"argPattern,omitempty"`
	Cwd        string `json:"cwd,omitempty"`
	// Env are the variables that it carries, each with its value.
	Env []string `json:"env,omitempty"`
	// Allows are the effects that it covers though they ask, and Hosts those that
	// it may ask for something.
	Allows []approval.Allowed `json:"allows,omitempty"`
	Hosts  []string           `json:"hosts,omitempty"`
	// Tool tells that the pattern is of a tool's name, and When what its arguments
	// must be.
	Tool    bool        `json:"tool,omitempty"`
	When    []Condition `json:"when,omitempty"`
	Session string      `json:"session,omitempty"`
	// Ends is unix milliseconds, 0 for never; UsesLeft is -1 for any number.
	Ends     int64 `json:"ends,omitempty"`
	UsesLeft int   `json:"usesLeft"`
	// Accepts are the changed files that an entry, which is there already, is to
	// hold for from now on; nil for an entry that would be new.
	Accepts []string `json:"accepts,omitempty"`
}

func newEntry(e approval.Entry, in Person) Entry {
	shown := Entry{
		Pattern: in.short(e.Pattern), Args: escaped(e.Args), ArgsExact: e.ArgsExact,
		ArgPattern: display.Escape(cmp.Or(command.TasksOf(e.ArgPattern), e.ArgPattern)), Cwd: in.short(e.Cwd),
		Env: e.Carries(display.Escape), Allows: e.Allows, Hosts: e.Hosts, Session: display.Escape(e.SessionKey), Ends: e.Ends(), UsesLeft: -1,
	}
	if name, ok := approval.ToolPattern(e.Pattern); ok {
		shown.Tool, shown.Pattern, shown.When = true, display.Escape(name), conditions(e.When)
	}
	if e.UsesLeft != nil {
		shown.UsesLeft = *e.UsesLeft
	}
	return shown
}

func entries(list []approval.Entry, in Person) []Entry {
	shown := []Entry{}
	for _, e := range list {
		one := newEntry(e, in)
		if e.ID != "" {
			for _, id := range slices.Concat(e.Identity, e.Interpreters) {
				one.Accepts = append(one.Accepts, in.short(id.Path))
			}
		}
		shown = append(shown, one)
	}
	return shown
}

func escaped(list []string) []string {
	shown := []string{}
	for _, s := range list {
		shown = append(shown, display.Escape(s))
	}
	return shown
}
