// Package starts holds the policies that a person can begin with. It says which
// programs a start would let run; it looks for none and writes nothing.
package starts

import "github.com/countersign-app/countersign/backend/command"

// Start is one of them, by the name that people type.
type Start string

const (
	DenyAll        Start = "deny-all"
	AskMe          Start = "ask-me"
	DeveloperTools Start = "developer-tools"
)

// All are the starts, from the strictest on.
var All = []Start{DenyAll, AskMe, DeveloperTools}

// Mode is the ID of the mode of a start (approval.Modes), "" for what is none.
func (s Start) Mode() string {
	switch s {
	case DenyAll:
		return "deny"
	case AskMe, DeveloperTools:
		return "ask-when-needed"
	}
	return ""
}

// Tools are the programs and commands that a start lets run.
func (s Start) Tools() []command.ReadingTool {
	if s != DeveloperTools {
		return nil
	}
	return command.ReadingTools()
}
