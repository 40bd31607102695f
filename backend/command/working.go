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
			tools = append(tools, toolOf(name, words))
		}
	}
	return tools
}

// The last word of a command in a profile may stand for names of tasks.
const (
	oneTask   = "@task"  // one, and any words behind it, which are for the task
	onlyTasks = "@tasks" // any number of them, with options and VARIABLE=VALUE between them
)

// taskPattern is the pattern of arguments, each ended by NUL, of which the first n may
// be anything and tasks follow.
func taskPattern(mark string, n int) string {
	before := fmt.Sprintf(`^(?:[^\x00]*\x00){%d}`, n)
	if mark == oneTask {
		return before + taskName() + `\x00`
	}
	return before + `(?:(?:-[^\x00]*|[A-Z][A-Z0-9_]*=[^\x00]*|[0-9]+|` + taskName() + `)?\x00)*$`
}

// taskName is the pattern of the names in tasks.txt.
var taskName = sync.OnceValue(func() string {
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
	first := strings.Join(lists["task"], "|")
	return `(?:` + first + `)(?:[:._-](?:` + first + `|` + strings.Join(lists["part"], "|") + `))*`
})
