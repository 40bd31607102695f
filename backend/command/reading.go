package command

import (
	"maps"
	"path"
	"regexp"
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
	// matches reports whether arguments are what ArgPattern says, where this is closed:
	// it says all of the arguments, and not only how they begin.
	matches func(args []string) bool
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
			t := known[name].tool(name, words)
			if known[name].asksServers() {
				t.Hosts = []string{"localhost"}
			}
			if !slices.ContainsFunc(tools, func(have Tool) bool { return have.Name == name && have.all() }) {
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
	return slices.ContainsFunc(readingTools(), func(t Tool) bool { return t.Name == name && t.all() })
}

// all reports whether a tool is the program with any arguments.
func (t Tool) all() bool { return len(t.Args) == 0 && !t.Exact && t.ArgPattern == "" }

// Tells reports whether it is a program that is only asked for its version or its help.
func (t Tool) Tells() bool { return strings.HasPrefix(t.ArgPattern, tellsBegin) }

// begins reports whether a command begins with the words of a tool.
func (t Tool) begins(argv []string) bool {
	if t.Name != argv[0] && t.Name != path.Base(argv[0]) || len(argv)-1 < len(t.Args) || t.Exact && len(argv)-1 != len(t.Args) {
		return false
	}
	if t.matches != nil {
		return t.matches(argv[1:])
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

// What stands in the place of a command in a profile.
const (
	onlyTells = "@tells" // one of the flags with which it only tells about itself
	onlyLists = "@lists" // what kubectl shows of kinds that hold no secret
)

// tool reads a command of a program that only reads.
func (p *profile) tool(name, words string) Tool {
	pattern := ""
	switch words {
	case onlyTells:
		pattern = tellsPattern(p)
	case onlyLists:
		pattern = listsPattern()
	default:
		return toolOf(name, words)
	}
	closed := regexp.MustCompile(pattern)
	return Tool{Name: name, ArgPattern: pattern, matches: func(args []string) bool {
		return closed.MatchString(strings.Join(args, "\x00") + "\x00")
	}}
}

// tellsBegin begins each pattern of arguments of which none but one flag is given.
const tellsBegin = `^(?:-`

// tellsPattern is the pattern of one flag with which a program only tells about itself.
// What takes long names with one dash takes them with two.
func tellsPattern(p *profile) string {
	flags := slices.Clone(p.lists["alone"])
	for i, flag := range flags {
		flags[i] = regexp.QuoteMeta(flag[1:])
		if p.is["single"] && len(flag) > 2 {
			flags[i] = "-?" + regexp.QuoteMeta(strings.TrimLeft(flag, "-"))
		}
	}
	return tellsBegin + strings.Join(flags, "|-") + `)\x00$`
}

// listsPattern is the pattern of what kubectl shows of kinds: of all but secrets and what
// may hold one the table, and of those without variables all.
func listsPattern() string {
	lists := taskWords()
	with := func(output string) string {
		return `(?:(?:-n|-l|--namespace|--selector|--field-selector|--sort-by|--context)(?:\x00|=)[^\x00]*\x00` + // whatever it is
			`|(?:-A|--all-namespaces|--no-headers|--show-labels|--ignore-not-found)\x00` +
			`|(?:-o(?:=|\x00)?|--output(?:=|\x00))(?:` + output + `)\x00)*`
	}
	of := func(command, output string, kinds []string) string {
		kind := `(?:` + strings.Join(kinds, "|") + `)`
		between := with(output)
		return between + command + `\x00` + between + kind + `(?:(?:,` + kind + `)*|/[a-z0-9.-]+)\x00` + between + `(?:[a-z0-9][a-z0-9.-]*\x00` + between + `)*`
	}
	open := lists["open"]
	return `^(?:` + of("get", "wide|name", append(slices.Clone(lists["kind"]), open...)) + `|` + of("(?:get|describe)", `wide|name|json|yaml|jsonpath=[^\x00]*`, open) + `)$`
}

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
