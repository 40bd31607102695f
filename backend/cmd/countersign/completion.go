package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCommand struct {
	Shell string   `arg:"" help:"bash, zsh or fish: print its script, to be read at the shell's start." enum:"bash,zsh,fish,words"`
	Words []string `arg:"" optional:"" hidden:"" passthrough:""`
}

// completionScripts ask us for the words that may follow; the last of those
// they hand over is the one that is being typed.
var completionScripts = map[string]string{
	"bash": `_countersign() {
	local IFS=$'\n'
	COMPREPLY=($(countersign completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _countersign countersign
`,
	"zsh": `#compdef countersign
_countersign() {
	local -a found
	found=("${(@f)$(countersign completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	compadd -a found || _files
}
compdef _countersign countersign
`,
	"fish": `complete -c countersign -f -a '(countersign completion words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
}

func (c *completionCommand) Run(p *program) error {
	if c.Shell != "words" {
		_, err := io.WriteString(p.stdout, completionScripts[c.Shell])
		return err
	}
	k, err := kong.New(new(commands))
	if err != nil {
		return err
	}
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, w := range following(k.Model.Node, words) {
		fmt.Fprintln(p.stdout, w)
	}
	return nil
}

// following returns the words that may stand in the last place.
func following(at *kong.Node, words []string) (list []string) {
	if len(words) == 0 {
		return nil
	}
	typed := words[len(words)-1]
	var flag *kong.Flag // that still wants its value
	for _, w := range words[:len(words)-1] {
		switch {
		case w == "--":
			return nil // the words of a command
		case flag != nil:
			flag = nil
		case strings.HasPrefix(w, "--"):
			flag = valued(at, w)
		default:
			if i := slices.IndexFunc(at.Children, func(n *kong.Node) bool { return n.Name == w }); i >= 0 {
				at = at.Children[i]
			}
		}
	}
	if flag != nil {
		return starting(typed, flag.EnumSlice()...)
	}
	if strings.HasPrefix(typed, "-") {
		for _, group := range at.AllFlags(true) {
			for _, f := range group {
				list = append(list, starting(typed, "--"+f.Name)...)
			}
		}
		return list
	}
	for _, n := range at.Children {
		if !n.Hidden {
			list = append(list, starting(typed, n.Name)...)
		}
	}
	for _, a := range at.Positional {
		list = append(list, starting(typed, a.EnumSlice()...)...)
	}
	return list
}

// valued is the flag of a word that wants a value of its own, nil for none.
func valued(at *kong.Node, word string) *kong.Flag {
	for _, group := range at.AllFlags(false) {
		for _, f := range group {
			if "--"+f.Name == word && !f.IsBool() && !f.IsCounter() {
				return f
			}
		}
	}
	return nil
}

func starting(with string, words ...string) (list []string) {
	for _, w := range words {
		if w != "" && strings.HasPrefix(w, with) {
			list = append(list, w)
		}
	}
	return list
}
