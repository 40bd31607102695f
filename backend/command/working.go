package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// WorkTools are the programs and commands that build, test and check a project, by
// name. They run what its files say, and nothing but that: their other options and
// operands ask by their profiles.
func WorkTools() (tools []Tool) {
	known := profiles().programs
	for _, name := range slices.Sorted(maps.Keys(known)) {
		for _, words := range known[name].works {
			t := toolOf(name, words)
			t.Installed = known[name].is["installed"]
			tools = append(tools, t)
		}
	}
	return tools
}

// The last word of a command in a profile may stand for names of tasks.
const (
	oneTask   = "@task"   // one, and any words behind it, which are for the task
	onlyTasks = "@tasks"  // any number of them, with options and VARIABLE=VALUE between them
	oneScript = "@script" // a file in a folder for scripts, and any words behind it
	anyLocal  = "@local"  // any words, of which none says that it deploys, sends or deletes
	onlyNames = "@names"  // one or more words that are no options, and a message
)

// taskPattern is the pattern of arguments, each ended by NUL, of which the first n may
// be anything and what a mark stands for follows.
func taskPattern(mark string, n int) string {
	before := fmt.Sprintf(`^(?:[^\x00]*\x00){%d}`, n)
	switch mark {
	case oneTask:
		return before + taskName() + `\x00`
	case oneScript:
		return before + scriptName() + `\x00`
	case anyLocal:
		return before + localWords()
	case onlyNames:
		return before + namesAlone
	}
	return before + `(?:(?:-[^\x00]*|[A-Z][A-Z0-9_]*=[^\x00]*|[0-9]+|` + taskName() + `)?\x00)*$`
}

// namesAlone is a pattern of words that are no options, with a message before or behind.
const namesAlone = `(?:-m\x00[^\x00]*\x00)?(?:[^\x00-][^\x00]*\x00)+(?:-m\x00[^\x00]*\x00)?$`

// PrintTools are programs that only read, whatever they are given, and print: what they
// print may be written to a file of a project.
func PrintTools() (tools []Tool) {
	for _, t := range ReadingTools() {
		if len(t.Args) == 0 && !t.Exact && len(t.Hosts) == 0 {
			tools = append(tools, t)
		}
	}
	return tools
}

// TasksOf says in words what a pattern of arguments is that a profile made, "" for one
// of somebody else.
func TasksOf(pattern string) string {
	switch {
	case strings.HasPrefix(pattern, tellsBegin):
		return "only its version or its help"
	case pattern == listsPattern():
		return "lists of what holds no secret"
	}
	for _, mark := range []struct{ mark, words string }{{oneTask, "a task that builds or tests"}, {onlyTasks, "only tasks that build or test"}, {oneScript, "a script of the project"}, {anyLocal, "nothing that deploys, sends or deletes"}, {onlyNames, "no options but a message"}} {
		for n := range maxBeforeTasks {
			if pattern == taskPattern(mark.mark, n) {
				return mark.words
			}
		}
	}
	return ""
}

// maxBeforeTasks is one more than how many words stand before a task in a profile.
const maxBeforeTasks = 4

// taskWords are the lists of tasks.txt.
var taskWords = sync.OnceValue(func() map[string][]string {
	text, err := profileFiles.ReadFile("tasks.txt")
	if err != nil {
		panic(err)
	}
	lists := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			lists[words[0]] = append(lists[words[0]], words[1:]...)
		}
	}
	return lists
})

// OnlyWorks reports whether a command of a program builds, tests or checks a project, by
// the first words that it is given here, whatever words follow.
func OnlyWorks(argv []string) bool {
	return slices.ContainsFunc(workTools(), func(t Tool) bool {
		return !t.Exact && !strings.HasSuffix(t.ArgPattern, namesAlone) && t.begins(argv)
	})
}

var workTools = sync.OnceValue(WorkTools)

var taskName = sync.OnceValue(func() string {
	first := strings.Join(taskWords()["task"], "|")
	return `(?:` + first + `)(?:[:._-](?:` + first + `|` + strings.Join(taskWords()["part"], "|") + `))*`
})

var scriptName = sync.OnceValue(func() string {
	word := beginsWithNone(taskWords()["never"])
	return `(?:\./)?(?:[a-z0-9@._-]*[a-z0-9_-]/)*(?:` + strings.Join(taskWords()["folder"], "|") + `)/` + word + `(?:[/._-]` + word + `)*`
})

// localWords is a pattern of words in which no word of small letters begins with one of
// "never". With --release cargo builds for speed.
var localWords = sync.OnceValue(func() string {
	const between, fast = `[^a-z0-9]`, `(?:--release\x00[^a-z0-9]*)*`
	return fast + between + `*(?:` + beginsWithNone(taskWords()["never"]) + between + `+` + fast + `)*$`
})

// beginsWithNone is a pattern for words of small letters and digits that begin with
// none of these words of letters: a pattern cannot say "not" otherwise.
func beginsWithNone(words []string) string {
	rest := map[byte][]string{}
	for _, w := range words {
		rest[w[0]] = append(rest[w[0]], w[1:])
	}
	other, longer, from := "", "", byte('a')
	for c := byte('a'); c <= 'z'+1; c++ {
		behind, some := rest[c]
		if !some && c <= 'z' {
			continue
		}
		if from < c {
			other += string(rune(from)) + "-" + string(rune(c-1))
		}
		if from = c + 1; some && !slices.Contains(behind, "") {
			longer += string(rune(c)) + `(?:` + beginsWithNone(behind) + `)?|`
		}
	}
	return `(?:` + longer + `[` + other + `0-9][a-z0-9]*)`
}
