package command

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/programs"
)

// Tool is a program, or a command of one, that a start lets run: what else it could do
// asks by its profile, or is left out by Args and ArgPattern.
type Tool struct {
	Name string
	// Args are the first arguments that it is narrowed to; with Exact there are
	// no more.
	Args  []string
	Exact bool
	// ArgPattern is that of an entry, "" for any arguments.
	ArgPattern string
	// Hosts are the only ones that it may ask something, of a program that asks
	// servers: an entry without hosts would let it ask and send anything.
	Hosts []string
	// Installed says that a project may bring the program itself, among its packages.
	Installed bool
}

// ReadingTools are all of them, by name: programs that only read by their kind,
// and those that a profile calls reading, wrappers among them, whose command is
// judged by itself. A program may stand in several.
func ReadingTools() (tools []Tool) {
	known := profiles().programs
	for _, name := range programs.Readers() {
		if known[name] == nil || known[name].reading == nil { // some only read with some words
			tools = append(tools, Tool{Name: name})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		for _, words := range known[name].reading {
			t := toolOf(name, words)
			if known[name].asksServers() {
				t.Hosts = []string{"localhost"}
			}
			if !slices.ContainsFunc(tools, func(have Tool) bool { return have.Name == name && len(have.Args) == 0 && !have.Exact }) {
				tools = append(tools, t)
			}
		}
	}
	return tools
}

// OnlyReads reports whether nothing but reading passes of a program under an entry
// that names it with the first words that the program is given here.
func OnlyReads(argv []string) bool {
	return slices.ContainsFunc(readingTools(), func(t Tool) bool { return t.begins(argv) })
}

// AlwaysReads reports the same of a program whatever it is given.
func AlwaysReads(name string) bool {
	return slices.ContainsFunc(readingTools(), func(t Tool) bool { return t.Name == name && len(t.Args) == 0 && !t.Exact })
}

// begins reports whether a command begins with the words of a tool.
func (t Tool) begins(argv []string) bool {
	if t.Name != argv[0] && t.Name != path.Base(argv[0]) || len(argv)-1 < len(t.Args) || t.Exact && len(argv)-1 != len(t.Args) {
		return false
	}
	return slices.Equal(t.Args, argv[1:1+len(t.Args)])
}

var readingTools = sync.OnceValue(ReadingTools)

// AsksServers reports whether a program asks the servers that its words name: an entry
// for it that names no host is for all of them.
func AsksServers(name string) bool {
	p := profiles().programs[name]
	return p != nil && p.asksServers()
}

// asksServers reports whether a program asks the servers that its words name.
func (p *profile) asksServers() bool { return slices.Contains(p.operands, "address") }

// toolOf reads a command of a program as its profile writes it.
func toolOf(name, words string) Tool {
	t := Tool{Name: name}
	if words, t.Exact = strings.CutSuffix(words, "/."); words != "" {
		t.Args = strings.Split(words, "/")
	}
	if n := len(t.Args) - 1; n >= 0 && strings.HasPrefix(t.Args[n], "@") {
		t.Args, t.ArgPattern = t.Args[:n], taskPattern(t.Args[n], n)
	}
	return t
}
