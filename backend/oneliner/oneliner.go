// Package oneliner says whether a program of awk, sed, jq or Python, or a statement
// of SQL, that stands in an argument surely does nothing but read its input and
// print. It looks at the text only.
//
// Nobody knows which awk, sed or jq will run, so a program passes only when
// every one of them would read it as harmless: gawk, mawk, the one of the BSDs
// and macOS and busybox; GNU and BSD sed; jq, and the yq that is not jq. Where
// they differ in what is text and what is program, and where a program is not
// understood completely, the answer is a reason.
//
// How long a program runs and how much it prints is not looked at. Options and
// operands are the caller's: -i of sed and gawk, for one, makes a harmless
// program write.
package oneliner

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// The reasons complete a sentence: the program of awk …
const (
	starts      = "starts a command"
	writes      = "writes a file"
	reads       = "reads another file"
	environment = "reads the environment"
	operands    = "reaches the list of the files to read"
	indirect    = "reaches variables and functions by name"
	calls       = "calls a function that is not known"
	long        = "is too long to be read"
	deep        = "is nested too deep to be read"
	unclear     = "is not understood"
)

// What is accepted at most.
const (
	maxText  = 16 << 10 // bytes of a program
	maxDepth = 64       // open brackets
)

// legible refuses texts in which programs may see other characters than we do:
// control characters (a carriage return is a line's end to one and a blank to
// the next), and what is not UTF-8.
func legible(text string) string {
	if len(text) > maxText {
		return long
	}
	if !utf8.ValidString(text) {
		return unclear
	}
	for i := range len(text) {
		c := text[i]
		if c < ' ' && c != '\t' && c != '\n' || c == 0x7f {
			return unclear
		}
	}
	return ""
}

// halved reports whether a backslash or a bracket may be the second half of a
// character to awk and sed where the locale is not UTF-8, such as GBK or SJIS.
func halved(text string) bool {
	for i := 1; i < len(text); i++ {
		if text[i-1] >= utf8.RuneSelf && '[' <= text[i] && text[i] <= ']' {
			return true
		}
	}
	return false
}

// regexEnd finds the character that ends a regular expression, which begins
// at i. It fails where programs see different ends. bare says that there are
// some that do not look at brackets.
func regexEnd(text string, i int, end byte, bare bool) (int, bool) {
	at := brackets{none: bare}.end(text, i, end)
	for kind := range 8 {
		b := brackets{first: kind&1 > 0, classes: kind&2 > 0, escapes: kind&4 > 0}
		if b.end(text, i, end) != at {
			return 0, false
		}
	}
	return at, at >= 0
}

// brackets says how a program looks for the end of a bracket expression.
type brackets struct {
	none    bool // it does not: an end character in brackets is the end
	first   bool // a ] that comes first is a character
	classes bool // the ] of [:alpha:] is not the end
	escapes bool // a ] behind a backslash is not the end
}

// end returns the place of the end character, or -1.
func (b brackets) end(text string, i int, end byte) int {
	for i >= 0 && i < len(text) {
		switch c := text[i]; {
		case c == '\n':
			return -1
		case c == '\\':
			i = skipEscape(text, i)
		case c == end:
			return i
		case c == '[' && !b.none:
			i = b.skip(text, i+1)
		default:
			i++
		}
	}
	return -1
}

// skip returns the place behind a bracket expression, or -1.
func (b brackets) skip(text string, i int) int {
	if b.first {
		if strings.HasPrefix(text[i:], "^") {
			i++
		}
		if strings.HasPrefix(text[i:], "]") {
			i++
		}
	}
	for i >= 0 && i < len(text) {
		n := class(text[i:])
		switch c := text[i]; {
		case c == '\n' || n < 0:
			return -1
		case c == ']':
			return i + 1
		case c == '\\' && b.escapes:
			i = skipEscape(text, i)
		case b.classes:
			i += max(n, 1)
		default:
			i++
		}
	}
	return -1
}

// skipEscape returns the place behind a backslash and the next character, or
// -1 where that is the end of the line.
func skipEscape(text string, i int) int {
	if i+1 == len(text) || text[i+1] == '\n' {
		return -1
	}
	return i + 2
}

// class returns the length of a [:class:] that the text begins with, 0 when
// it begins with no such thing, and -1 when it begins with something close.
func class(text string) int {
	if len(text) < 2 || text[0] != '[' || strings.IndexByte(":.=", text[1]) < 0 {
		return 0
	}
	i := 2
	for i < len(text) && 'a' <= text[i] && text[i] <= 'z' {
		i++
	}
	if text[1] == ':' && i > 2 && strings.HasPrefix(text[i:], ":]") {
		return i + 2
	}
	return -1
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' }

// word returns the letters, digits and underscores at i.
func word(text string, i int) string {
	end := i
	for end < len(text) && (isLetter(text[end]) || isDigit(text[end])) {
		end++
	}
	return text[i:end]
}

// skipBlanks returns the place of the next character that is no blank.
func skipBlanks(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

// set is made when it is first asked: most programs that start read no
// one-liner.
func set(words string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		m := map[string]bool{}
		for _, w := range strings.Fields(words) {
			m[w] = true
		}
		return m
	})
}

// expression is compiled when it is first asked, as a set is.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
