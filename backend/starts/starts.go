// Package starts holds the policies that a person can begin with, and makes the
// entries of one on a machine. It looks at no file and writes nothing.
package starts

import (
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
)

// Start is one of them, by the name that people type.
type Start string

const (
	DenyAll        Start = "deny-all"
	AskMe          Start = "ask-me"
	DeveloperTools Start = "developer-tools"
	// ProjectCommands are the tests and builds of one project, which run what its files
	// say, git's work that stays here, and edits of its files. They come on top of what holds, and are no way to begin.
	ProjectCommands Start = "project-commands"
)

// All are the starts that begin a policy, from the strictest on; Names are these and
// ProjectCommands.
var (
	All   = []Start{DenyAll, AskMe, DeveloperTools}
	Names = append(slices.Clone(All), ProjectCommands)
)

// ForQuestions are those that a question can be answered with, in the project of its
// session alone: the one that lets less pass first.
var ForQuestions = []Start{DeveloperTools, ProjectCommands}

// Enough is how many requests of an agent a person allowed, and denied none, before a
// start that lets these pass is suggested.
const Enough = 3

// Title is what people call it.
func (s Start) Title() string {
	return map[Start]string{DenyAll: "Deny all", AskMe: "Ask me", DeveloperTools: "Developer tools", ProjectCommands: "Project commands"}[s]
}

// Mode is the ID of the mode of a start (approval.Modes), "" for what is none or
// leaves the mode as it is.
func (s Start) Mode() string {
	switch s {
	case DenyAll:
		return "deny"
	case AskMe, DeveloperTools:
		return "ask-when-needed"
	}
	return ""
}

// tools are the programs and commands that a start lets run.
func (s Start) tools() []command.Tool {
	switch s {
	case DeveloperTools:
		return command.ReadingTools()
	case ProjectCommands:
		return append(command.WorkTools(), command.PrintTools()...)
	}
	return nil
}

// allows are the effects that the entry of a tool covers besides.
func (s Start) allows(tool command.Tool) []approval.Allowed {
	switch {
	case s == ProjectCommands && tool.Name == "git": // under it, a checkout overwrites files
		return []approval.Allowed{approval.AllowProjectCode, approval.AllowTempWrites}
	case s == ProjectCommands && strings.HasSuffix(tool.Name, "mv"): // to the temp folder, it takes work away
		return []approval.Allowed{approval.AllowProjectWrites}
	case s == ProjectCommands && command.AlwaysReads(tool.Name):
		return []approval.Allowed{approval.AllowProjectWrites, approval.AllowTempWrites}
	case s == ProjectCommands:
		return []approval.Allowed{approval.AllowProjectCode, approval.AllowProjectWrites, approval.AllowTempWrites}
	case len(tool.Hosts) > 0:
		return []approval.Allowed{approval.AllowNetworkReads, approval.AllowTempWrites}
	case command.ReadsCode(tool.Name):
		return []approval.Allowed{approval.AllowReadingCode, approval.AllowTempWrites}
	}
	return []approval.Allowed{approval.AllowTempWrites}
}

// Made is what a start writes on one machine.
type Made struct {
	Entries []approval.Entry `json:"entries"`
	// Names are those of the programs, one for each entry.
	Names []string `json:"-"`
	// Missing are programs that are not there.
	Missing []string `json:"missing"`
}

// Program returns an entry that means the program of a name on a machine, and false
// where there is none.
type Program func(name string) (approval.Entry, bool)

// Make makes the entries of a start, each once where two names lead to the same
// program. They count in the folder of a project, whose name must be no pattern, and
// where it is "" everywhere, which ProjectCommands never do.
func (s Start) Make(project string, program Program) Made {
	m := Made{Entries: []approval.Entry{}, Missing: []string{}}
	looked := map[string]*approval.Entry{} // by name: git stands in many rows
	for _, tool := range s.tools() {
		known, before := looked[tool.Name]
		if !before {
			if e, there := program(tool.Name); there {
				known = &e
			} else if !strings.Contains(tool.Name, ".") { // a file that people start by another name
				m.Missing = append(m.Missing, tool.Name)
			}
			looked[tool.Name] = known
		}
		if known != nil {
			m.add(s.narrowed(*known, tool, project), tool.Name)
		}
	}
	if s == ProjectCommands {
		for _, tool := range command.WorkTools() {
			if tool.Installed {
				pattern := project + "/**/*bin/" + tool.Name // as node_modules/.bin and .venv/bin
				if strings.Contains(tool.Name, ".") {        // what a link in node_modules/.bin leads to
					pattern = project + "/**/node_modules/**/" + tool.Name
				}
				m.add(s.narrowed(approval.Entry{Pattern: pattern}, tool, project), pattern)
			}
		}
	}
	return m
}

func (s Start) narrowed(e approval.Entry, tool command.Tool, project string) approval.Entry {
	e.Args, e.ArgsExact, e.ArgPattern = slices.Clone(tool.Args), tool.Exact, tool.ArgPattern
	e.Identity, e.Allows = slices.Clone(e.Identity), s.allows(tool)
	e.Hosts, e.Cwd, e.AddedBy = slices.Clone(tool.Hosts), project, s.by()
	return e
}

// by is who added the entries of a start.
func (s Start) by() string { return strings.ToLower(s.Title()) }

// Made reports whether a start made an entry.
func (s Start) Made(e approval.Entry) bool { return e.AddedBy == s.by() }

func (m *Made) add(e approval.Entry, name string) {
	for _, have := range m.Entries {
		if have.Pattern == e.Pattern && have.ArgsExact == e.ArgsExact && have.ArgPattern == e.ArgPattern && slices.Equal(have.Args, e.Args) {
			return
		}
	}
	m.Entries, m.Names = append(m.Entries, e), append(m.Names, name)
}
