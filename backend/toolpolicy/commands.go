package toolpolicy

import (
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// ForCommand is the call that a command is which comes as no call of a tool: of
// bash_execute, with all of the command as its argument.
func ForCommand(text string) (*approval.Tool, []Arg) {
	t := &approval.Tool{Name: bashExecute, Category: category(bashExecute, ""), Command: true}
	return t, []Arg{{Name: "command", Value: text, Text: true}}
}

// OfCommands reports whether anything is said here of the tool that takes
// commands, for whichever session.
func (r *Rules) OfCommands() bool { return r.ofCommands }

func (r *Rules) saysOfCommands() bool {
	t, _ := ForCommand("")
	is := func(pattern string) bool { return refuses(pattern, t) }
	return slices.ContainsFunc(r.denied, func(d approval.DenyRule) bool { return is(d.Pattern) }) ||
		slices.ContainsFunc(r.layers, func(l layer) bool {
			return l.Allow != nil || slices.ContainsFunc(l.Deny, is) || slices.ContainsFunc(l.rules, func(one rule) bool { return is(one.name) })
		})
}
