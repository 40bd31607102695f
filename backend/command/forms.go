package command

import (
	"path"
	"slices"
	"strings"
)

// nameLetters are those of names that no program reads anything else into.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./%,+^{}#~-"

// wordLetters are those of words that are no path, no address and no list.
const wordLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=+-"

// cmakeType is the type that cmake may be told of a variable.
var cmakeType = expression(`:(BOOL|STRING)$`)

// hiddenName is a path with a name in it that begins with a dot.
var hiddenName = expression(`(^|/)\.+[^./]`)

// switchValue is a value that turns something on or off, counts, or names a
// version.
var switchValue = expression(`^([0-9]+|v?[0-9]+(\.[0-9]+)+([-+][0-9A-Za-z.-]+)?|(?i:on|off|true|false|yes|no|enabled|disabled|auto|debug|release|relwithdebinfo|minsizerel|debugoptimized|production|development|test))$`)

// repository is a name, or an address that git fetches from without starting
// what the address names. The first letter is none that begins an option.
var repository = expression(`^([A-Za-z0-9][\w./-]*|(https?|ssh|git)://[A-Za-z0-9][\w.@:-]*(/[\w.@:/~+%-]*)?|([A-Za-z0-9][\w.-]*@)?[A-Za-z0-9][\w.-]*:/?[\w~][\w./~+-]*)$`)

// webAddress is an address of the web, with or without its scheme. Brackets
// before the path, of which curl makes several addresses, are those of a number.
var webAddress = expression(`(?is)^(https?://)?([^/@{}\[\]?#][^/{}\[\]?#]*@)?([^/@{}\[\]:?#\s]+|\[[0-9a-f]*:[0-9a-f:.]*\])(:[0-9]+)?([/?#].*)?$`)

// plainName reports whether a word is made of the letters of names and of
// more, of which it begins with none.
func plainName(s, more string) bool {
	return s != "" && strings.Trim(s, nameLetters+more) == "" && strings.Trim(s[:1], "/.~-"+more) != "" && !strings.Contains(s, "..")
}

// isPackage reports whether a word is NAME, NAME@VERSION or @SCOPE/NAME.
func isPackage(value string) bool {
	scope, rest, scoped := strings.Cut(value, "/")
	if !scoped || !strings.HasPrefix(scope, "@") {
		scope, rest = "@x", value
	}
	return plainName(scope[1:], "") && plainName(rest, "@~*<>=") && !strings.Contains(rest, "/")
}

// isGo reports whether go takes a word for a file of its language.
func isGo(word string) bool { return strings.HasSuffix(word, ".go") }

// quotedWord is a word of such flags that begins with a quote, as go reads it.
var quotedWord = expression(`(^|\s)'([\w./-]+=)[^'"\\]*'`)

// goFlags reports whether flags for go's compiler or linker only say what the
// result holds. The linker takes the word behind -X whatever it is.
func goFlags(text string) bool {
	text = quotedWord().ReplaceAllString(text, "${1}${2}x")
	if strings.ContainsAny(text, `'"\`) {
		return false
	}
	if pattern, rest, ok := strings.Cut(text, "="); ok && !strings.HasPrefix(strings.TrimSpace(text), "-") && !strings.ContainsAny(pattern, " \t\n") {
		text = rest
	}
	fields := strings.Fields(text)
	for i := 0; i < len(fields); i++ {
		switch name, set, given := strings.Cut(fields[i], "="); {
		case slices.Contains([]string{"-s", "-w", "-N", "-l", "-m", "-m=2"}, fields[i]):
		case name == "-X" && given && strings.Contains(set, "="):
		case fields[i] == "-X" && i+1 < len(fields) && strings.Contains(fields[i+1], "=") && fields[i+1][0] != '-':
			i++
		default:
			return false
		}
	}
	return true
}

// usual reports whether a file is named as the settings of a program are.
func usual(program, file string) bool {
	switch file {
	case "package.json", "pyproject.toml", "setup.cfg", "tox.ini":
		return true
	}
	own := program[:len(program)-len(strings.TrimLeft(program, "abcdefghijklmnopqrstuvwxyz"))]
	return strings.HasPrefix(strings.TrimPrefix(file, "."), own)
}

// unclearBraces are braces of which programs make different things: with a sequence
// in them, quoted, or among the letters of a set.
var unclearBraces = expression("[\\\\\"'`]|\\[[^]]*[{}]|{[^}]*\\.\\.")

// maxAlternatives bounds the braces of a pattern, and what they stand for.
const maxAlternatives = 64

// alternatives takes the braces of a pattern apart, from the inside, as programs
// do that read patterns themselves. It reports false if that is not sure.
func alternatives(pattern string) (list []string, ok bool) {
	count := strings.Count(pattern, "{")
	if count == 0 {
		return nil, true
	}
	if count > maxAlternatives || unclearBraces().MatchString(pattern) {
		return nil, false
	}
	todo := []string{pattern}
	for len(todo) > 0 && len(todo)+len(list) <= maxAlternatives {
		word := todo[0]
		todo = todo[1:]
		end := max(0, strings.IndexByte(word, '}'))
		begin := strings.LastIndexByte(word[:end], '{')
		if begin < 0 {
			list = append(list, word)
			continue
		}
		parts := strings.Split(word[begin+1:end], ",")
		if len(parts) == 1 { // these stay as they are
			parts[0] = "(" + parts[0] + ")"
		}
		for _, part := range parts {
			todo = append(todo, word[:begin]+part+word[end+1:])
		}
	}
	return list, len(todo) == 0 && !slices.ContainsFunc(list, func(word string) bool { return strings.ContainsAny(word, "{}") })
}

// tells are the commands of sqlite3 that only show something, or how it shows.
var tells = expression(`^\.(tables|schema|indexes|indices|databases|fullschema|dump|mode|headers?|timer|nullvalue)( [\w.%]+)*$`)

// otherFiles are the parts of names that lead a statement to files beside its
// database, in spite of -safe and -readonly.
var otherFiles = expression(`(?i)fsdir|zipfile|_file|_directory`)

// statement reports whether a statement of sqlite3 does no more than -safe and
// -readonly allow, or a command of it no more than show something: some
// commands, such as .trace, write files in spite of both.
func statement(_ *arguments, u use) bool {
	if strings.HasPrefix(strings.TrimSpace(u.value), ".") {
		return tells().MatchString(u.value)
	}
	return !otherFiles().MatchString(u.value) && !strings.Contains(u.value, "\n.")
}

// statements reports the same of a text that such a program reads.
func statements(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, ".") && !tells().MatchString(line) {
			return false
		}
	}
	return !otherFiles().MatchString(text)
}

// matches reports whether a value is like one of the patterns.
func matches(patterns []string, value string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, value)
		return ok && err == nil
	})
}

// sent returns the files that curl sends for a value of one of its options. It
// reports false where the value may do more.
func sent(u use) (files []string, ok bool) {
	name, value, assigned := strings.Cut(u.value, "=")
	switch {
	case strings.Contains(u.value, "%output"), (u.option == "-F" || u.option == "--form") && strings.Contains(strings.ToLower(u.value), "headers="):
		return nil, false
	case u.option == "-T" || u.option == "--upload-file", (u.option == "-b" || u.option == "--cookie") && !assigned:
		return []string{u.value}, true
	case strings.HasPrefix(u.value, "@"):
		return []string{u.value[1:]}, true
	case (u.option == "--data-urlencode" || u.option == "--url-query") && !assigned && strings.Contains(name, "@"):
		_, file, _ := strings.Cut(name, "@")
		return []string{file}, true
	case (u.option == "-F" || u.option == "--form") && assigned && value != "" && (value[0] == '@' || value[0] == '<'):
		file, _, _ := strings.Cut(value[1:], ";")
		return strings.Split(file, ","), !strings.Contains(value, `"`)
	}
	return nil, true
}
