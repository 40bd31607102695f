// Package starts holds the policies that a person can begin with. It says which
// programs a start would let run; it looks for none and writes nothing.
package starts

import "strings"

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

// developerTools are programs that mostly read. After a colon stand the first
// arguments that one is narrowed to.
const developerTools = `
ls cat head tail wc stat file diff cmp du df tree which pwd echo date uname
sw_vers basename dirname realpath md5 shasum sha256sum ps uniq cut tr sort
grep rg jq
git:status git:diff git:log git:show git:branch,--list git:rev-parse git:blame
git:ls-files git:remote,-v`

// Tool is a program that a start lets run, with the first arguments that it is
// narrowed to.
type Tool struct {
	Name string
	Args []string
}

// Tools are those of a start. A name may stand in several.
func (s Start) Tools() (tools []Tool) {
	if s != DeveloperTools {
		return nil
	}
	for _, word := range strings.Fields(developerTools) {
		name, rest, narrowed := strings.Cut(word, ":")
		t := Tool{Name: name}
		if narrowed {
			t.Args = strings.Split(rest, ",")
		}
		tools = append(tools, t)
	}
	return tools
}
