// Package oneliner says whether a program of awk, sed or jq that stands in an
// argument surely does nothing but read its input and print. It looks at the
// text only.
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
	"strings"
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
	maxText  = 64 << 10 // bytes of a program
	maxDepth = 64       // open brackets
)

// legible refuses texts in which programs may see other characters than we do:
// control characters (a carriage return is a line's end to one and a blank to
// the next), what is not UTF-8, and a backslash that would be the second half
// of a character where the locale is not UTF-8.
func legible(text string) string {
	if len(text) > maxText {
		return long
	}
	if !utf8.ValidString(text) {
		return unclear
	}
	for i := range len(text) {
		c := text[i]
		if c < ' ' && c != '\t' && c != '\n' || c == 0x7f || c == '\\' && i > 0 && text[i-1] >= utf8.RuneSelf {
			return unclear
		}
	}
	return ""
}

// regexEnd finds the character that ends a regular expression, which begins
// at i. It fails where programs may see another end. Some take a bracket
// expression as a whole, some end at any end character that has no backslash
// before it; so brackets must be closed there, however they are read.
func regexEnd(text string, i int, end byte) (int, bool) {
	inside, outside := false, true // what the place may be: a bracket expression, or not
	for i < len(text) {
		switch c := text[i]; {
		case c == '\n':
			return 0, false
		case c == '\\':
			if i+1 == len(text) || text[i+1] == '\n' {
				return 0, false
			}
			if inside && text[i+1] == ']' {
				outside = true // to POSIX, a backslash in brackets is itself
			}
			if inside && text[i+1] == '[' && class(text[i+1:]) != 0 {
				return 0, false
			}
			i += 2
			continue
		case c == end:
			return i, !inside
		case c == ']' && inside:
			inside, outside = false, true
		case c == '[':
			if n := class(text[i:]); inside && n != 0 {
				if n < 0 || outside {
					return 0, false
				}
				i += n
				continue
			}
			inside = true
			if !outside {
				break
			}
			outside = false
			if strings.HasPrefix(text[i+1:], "^") && end != '^' {
				i++
			}
			if strings.HasPrefix(text[i+1:], "]") && end != ']' {
				i++
				outside = true // the first ] is a character to most, not to all
			}
		}
		i++
	}
	return 0, false
}

// class returns the length of a [:class:] that the text begins with, 0 when
// it begins with no such thing, and -1 when it begins with something close.
func class(text string) int {
	if len(text) < 2 || strings.IndexByte(":.=", text[1]) < 0 {
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
