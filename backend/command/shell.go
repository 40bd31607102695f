package command

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
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

// shellText takes `sh -c TEXT` apart. Only -c, -l, -e, -u, -x and -o pipefail
// are read, alone or in a bundle, and no word may follow the text: more words
// would be its positional parameters. Anything else is judged as a plain start
// of a shell. options are those that change how the text runs.
func shellText(argv []string) (shell, text string, options []string, ok bool) {
	if len(argv) < 3 {
		return "", "", nil, false
	}
	shell = path.Base(argv[0])
	if _, known := textShells[shell]; !known {
		return "", "", nil, false
	}
	options, ok = shellOptions(argv[1:len(argv)-1], "cleux")
	text = argv[len(argv)-1]
	if !ok || len(slices.DeleteFunc(slices.Clone(options), func(o string) bool { return o != "c" })) != 1 {
		return "", "", nil, false
	}
	return shell, text, slices.DeleteFunc(options, func(o string) bool { return o == "c" || o == "l" }), true
}

// pipefail is an option that dash takes for a mistake, and ends.
const pipefail = "pipefail"

// shellOptions reads options of a shell: these letters in any bundle, and -o
// pipefail.
func shellOptions(words []string, letters string) (options []string, ok bool) {
	for i := 0; i < len(words); i++ {
		bundle, dash := strings.CutPrefix(words[i], "-")
		if !dash || bundle == "" {
			return nil, false
		}
		for _, c := range bundle {
			switch {
			case strings.ContainsRune(letters, c):
				options = append(options, string(c))
			case c == 'o' && i+1 < len(words) && words[i+1] == pipefail && strings.HasSuffix(bundle, "o") && strings.Count(bundle, "o") == 1:
				options = append(options, pipefail)
				i++
			default:
				return nil, false
			}
		}
	}
	return options, true
}

// ownBuiltins are done by the runner itself.
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

// words is a set that is made when it is first asked: most programs that start
// judge no command.
func words(list string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		set := map[string]bool{}
		for _, word := range strings.Fields(list) {
			set[word] = true
		}
		return set
	})
}

// expression is compiled when it is first asked, as words are.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
