package family

import (
	_ "embed"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/proc"
)

// Program is what a process runs.
type Program struct {
	// Path is its file, and Argv the words that it was started with.
	Path string
	Argv []string
	// Shell tells that the file is one that people log in with, Ours that it has
	// the name of one of Countersign's programs.
	Shell, Ours bool
	// ByRoot tells that only root can change the file.
	ByRoot bool
	// Input is the terminal that it reads from, 0 for none.
	Input int
}

// interactive reports whether a shell is one that a person types into: it leads
// the group that has the terminal by turns, reads from this terminal, and was
// given no command and no script.
func (p Program) interactive(info proc.Info) bool {
	return p.Shell && info.Terminal != 0 && info.Group == info.PID && p.Input == info.Terminal && onlyOptions(p.Argv)
}

// withFile are the options of shells whose next word is a file with settings for
// a shell that somebody types into: terminals of editors start bash so.
var withFile = []string{"--init-file", "--rcfile"}

func onlyOptions(argv []string) bool {
	for i := 1; i < len(argv); i++ {
		word := argv[i]
		switch {
		case slices.Contains(withFile, word):
			i++
		case word == "-" || word == "--" || !strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "+"):
			return false
		case !strings.HasPrefix(word, "--") && strings.Contains(word, "c"):
			return false
		case strings.HasPrefix(word, "--command"): // fish
			return false
		}
	}
	return len(argv) > 0
}

// starters.txt lists programs of the system that start what people start.
//
//go:embed starters.txt
var startersFile string

var starters = listed(startersFile)

func listed(text string) map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		for _, name := range strings.Fields(line) {
			names[name] = true
		}
	}
	return names
}

// starts reports whether a program is part of the system and starts what people
// start. Anybody can give a file of theirs such a name, so root's count alone.
func (p Program) starts() bool { return p.ByRoot && starters[filepath.Base(p.Path)] }

// interpreters have the name of their script.
var interpreters = []string{"node", "bun", "deno", "python", "python3", "ruby", "perl"}

// name is the first word, which says more than the file where that is called by
// a version, or the script of an interpreter.
func (p Program) name() string {
	if len(p.Argv) == 0 || p.Argv[0] == "" {
		return base(p.Path)
	}
	word, _, _ := strings.Cut(p.Argv[0], " ") // a title that the program wrote over its words
	word = strings.TrimPrefix(base(word), "-")
	if len(p.Argv) > 1 && slices.Contains(interpreters, word) && !strings.HasPrefix(p.Argv[1], "-") {
		return base(p.Argv[1])
	}
	return word
}

// base is the last part of a path, "" of none.
func base(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}

// name is how a program or an agent is named in a sentence.
func name(text string) string {
	if text == "" || text == "." {
		return "a program"
	}
	if runes := []rune(text); len(runes) > 40 {
		text = string(runes[:40]) + "…"
	}
	return display.Line(text)
}
