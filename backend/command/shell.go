package command

import (
	"path"
	"slices"
	"strings"
)

// textShells are the shells whose -c argument is read as a text, and the
// grammar each is read with.
var textShells = map[string]grammar{
	"sh": posix, "dash": posix, "ash": posix, "ksh": posix,
	"bash": bash, "zsh": zsh,
}

type grammar int

const (
	posix grammar = iota
	bash
	zsh
)

// shellText takes `sh -c TEXT` apart. Only -c, -l, -e, -u and -x are read,
// alone or in a bundle, and no word may follow the text: more words would be
// its positional parameters. Anything else is judged as a plain start of a
// shell.
func shellText(argv []string) (shell, text string, ok bool) {
	if len(argv) < 3 {
		return "", "", false
	}
	shell = path.Base(argv[0])
	if _, known := textShells[shell]; !known {
		return "", "", false
	}
	c := false
	for _, option := range argv[1 : len(argv)-1] {
		letters, dash := strings.CutPrefix(option, "-")
		if !dash || letters == "" || strings.Trim(letters, "cleux") != "" || c {
			return "", "", false
		}
		c = strings.Contains(letters, "c")
	}
	return shell, argv[len(argv)-1], c
}

// strictly reports whether a shell call has options that change how the text
// runs; such a text is read, but not run from its plan.
func strictly(argv []string) bool {
	return slices.ContainsFunc(argv[1:len(argv)-1], func(option string) bool { return strings.ContainsAny(option, "eux") })
}

// ownBuiltins are done by the runner itself (plan-runner.md, builtins).
var ownBuiltins = words("cd : true false pwd exit echo")

// startedBuiltins are builtins of every shell that we start as programs, from
// the folders where the system keeps them.
var startedBuiltins = words("[ test printf")

// otherBuiltins are done by the shell inside itself. They have no program to
// judge, so a text that uses one asks.
var otherBuiltins = words(`. alias bg bind break builtin caller command compgen complete compopt
	continue coproc declare dirs disown enable eval exec export fc fg function getopts hash help
	history jobs kill let local logout mapfile popd pushd read readarray readonly return select set
	shift shopt source suspend times trap type typeset ulimit umask unalias unset wait
	autoload bindkey emulate noglob nocorrect print setopt unsetopt vared whence where zcompile zmodload zle`)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}
