package policy

import (
	"path"
	"strings"
)

// meansWords reports whether the words after a command are those of a rule: its
// first ones or, where the rule says so, what they mean wherever they stand.
func (d *denyRule) meansWords(args []string) bool {
	if !d.Anywhere {
		return leading(d.Args, args)
	}
	at := 0
	for _, want := range d.Args {
		if strings.HasPrefix(want, "-") && want != "--" {
			if !allOptions(want, args) {
				return false
			}
			continue
		}
		for at < len(args) && !isWord(want, args[at]) {
			at++
		}
		if at == len(args) {
			return false
		}
		at++
	}
	return true
}

// isWord reports whether a word is the one of a rule, in which * is any text.
func isWord(want, word string) bool {
	if !strings.Contains(want, "*") {
		return want == word
	}
	const noSlash = "\x00" // path.Match keeps * within a part
	ok, err := path.Match(strings.ReplaceAll(want, "/", noSlash), strings.ReplaceAll(word, "/", noSlash))
	return ok || err != nil && want == word
}

// leading reports whether args begins with want; "*" stands for any one.
func leading(want, args []string) bool {
	if len(want) > len(args) {
		return false
	}
	for i, w := range want {
		if w != "*" && w != args[i] {
			return false
		}
	}
	return true
}

// allOptions reports whether an option is among the words or, of a bundle of
// letters, each of them.
func allOptions(want string, args []string) bool {
	if strings.HasPrefix(want, "--") || len(want) == 2 {
		return anyOption(want, args)
	}
	for _, letter := range want[1:] {
		if !anyOption("-"+string(letter), args) {
			return false
		}
	}
	return true
}

// anyOption reports whether an option is among the words, in any spelling that
// programs read as it. It errs on the strict side: a word that could be the value
// of another option counts, and a -- that could be one ends no options.
func anyOption(want string, args []string) bool {
	for i, arg := range args {
		if arg == "--" && (i == 0 || !strings.HasPrefix(args[i-1], "-")) {
			return false
		}
		for _, spelled := range spellings(want) {
			if isOption(spelled, arg) {
				return true
			}
		}
	}
	return false
}

// spellings are an option and what commonly means the same. A + before what is
// pushed is git's other word for force.
func spellings(option string) []string {
	for _, same := range [][]string{
		{"--force", "-f", "+"}, {"--recursive", "-r", "-R"}, {"--delete", "-d", "-D"}, {"--all", "-a", "-A"},
		{"--yes", "-y", "--assume-yes"}, {"--quiet", "-q"}, {"--global", "-g"}, {"--output", "-o"}, {"--interactive", "-i"}, {"--privileged"},
	} {
		for _, s := range same {
			if s == option {
				return same
			}
		}
	}
	return []string{option}
}

// isOption reports whether a word is an option: as it is written, with a value,
// as a longer one that begins so (--force-with-lease), cut short (--f), or in
// a bundle of letters (-uf).
func isOption(option, arg string) bool {
	switch {
	case option == "+":
		return len(arg) > 1 && arg[0] == '+'
	case strings.HasPrefix(option, "--"):
		name, _, _ := strings.Cut(arg, "=")
		return strings.HasPrefix(arg, option) || len(name) > 2 && strings.HasPrefix(option, name) && strings.HasPrefix(name, "--")
	case len(option) == 2:
		return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.Contains(arg[1:], option[1:])
	}
	return arg == option || strings.HasPrefix(arg, option+"=")
}
