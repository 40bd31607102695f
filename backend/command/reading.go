package command

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/programs"
)

// ReadingTool is a program, or a command of one, of which nothing but reading
// passes under an entry: its other options and operands ask by its profile, or are
// left out by Args.
type ReadingTool struct {
	Name string
	// Args are the first arguments that it is narrowed to; with Exact there are
	// no more.
	Args  []string
	Exact bool
	// Hosts are the only ones that it may ask something, of a program that asks
	// servers: an entry without hosts would let it ask and send anything.
	Hosts []string
}

// Allows are the effects that the entry of a tool needs beside its hosts.
func (t ReadingTool) Allows() []approval.Allowed {
	if len(t.Hosts) == 0 {
		return nil
	}
	return []approval.Allowed{approval.AllowNetworkReads}
}

// ReadingTools are all of them, by name: programs that only read by their kind,
// and those that a profile calls reading, wrappers among them, whose command is
// judged by itself. A program may stand in several.
func ReadingTools() (tools []ReadingTool) {
	known := profiles().programs
	for _, name := range programs.Readers() {
		if known[name] == nil || known[name].reading == nil { // some only read with some words
			tools = append(tools, ReadingTool{Name: name})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		for _, words := range known[name].reading {
			t := ReadingTool{Name: name}
			if known[name].asksServers() {
				t.Hosts = []string{"localhost"}
			}
			if words, t.Exact = strings.CutSuffix(words, "/."); words != "" {
				t.Args = strings.Split(words, "/")
			}
			if !slices.ContainsFunc(tools, func(have ReadingTool) bool { return have.Name == name && len(have.Args) == 0 && !have.Exact }) {
				tools = append(tools, t)
			}
		}
	}
	return tools
}

// OnlyReads reports whether nothing but reading passes of a program under an entry
// that names it with the first words that the program is given here.
func OnlyReads(argv []string) bool {
	return slices.ContainsFunc(readingTools(), func(t ReadingTool) bool {
		if t.Name != argv[0] && t.Name != path.Base(argv[0]) || len(argv)-1 < len(t.Args) || t.Exact && len(argv)-1 != len(t.Args) {
			return false
		}
		return slices.Equal(t.Args, argv[1:1+len(t.Args)])
	})
}

var readingTools = sync.OnceValue(ReadingTools)

// asksServers reports whether a program asks the servers that its words name.
func (p *profile) asksServers() bool { return slices.Contains(p.operands, "address") }

// onlyReading are the effects that may pass in what is called reading. All others
// ask always, or let a value through that is written, run or sent. Those of requests
// ask unless the entry covers them.
var onlyReading = words("name word only local url text path plain mark bsd shown awk sed jq yq awkfile sedfile owner pull inside folder moves file command fed run tool venv sink repo package settings environment var address method header format agent body follows resolve sends")

// beyondReading says which option or operand of a profile can do more than read
// without being asked about; "" for none.
func (p *profile) beyondReading() string {
	asks := func(e effect) bool {
		rule := effects()[e]
		return e == effectNone || onlyReading()[string(e)] || rule.reason != approval.ReasonNone && rule.check == nil
	}
	for name, o := range p.options {
		if !asks(o.effect) {
			return name
		}
	}
	for _, e := range append(slices.Clone(p.operands), p.always, p.bare, p.last) {
		if !asks(e) {
			return string(e)
		}
	}
	if len(p.derives) > 0 || p.is["rest"] {
		return "derives"
	}
	return ""
}
