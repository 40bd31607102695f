//go:build linux || darwin

package runner

import (
	"strconv"
	"strings"
)

// echo returns what bash's echo writes.
func echo(args []string) string {
	newline, escapes := true, false
	for len(args) > 0 && isEchoOption(args[0]) {
		for _, c := range args[0][1:] {
			switch c {
			case 'n':
				newline = false
			case 'e':
				escapes = true
			case 'E':
				escapes = false
			}
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		var ended bool
		if text, ended = unescape(text); ended {
			return text
		}
	}
	if newline {
		text += "\n"
	}
	return text
}

// isEchoOption: a word with any other letter is text as a whole.
func isEchoOption(word string) bool {
	return len(word) > 1 && word[0] == '-' && strings.Trim(word[1:], "neE") == ""
}

var echoEscapes = map[byte]byte{
	'a': '\a', 'b': '\b', 'e': 0x1b, 'E': 0x1b, 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\',
}

// echoDigits tells of each escape with a number how many digits it may have.
var echoDigits = map[byte]struct{ base, digits int }{
	'0': {8, 3}, 'x': {16, 2}, 'u': {16, 4}, 'U': {16, 8},
}

// unescape replaces backslash escapes, and reports whether \c ended the text.
func unescape(s string) (string, bool) {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(s, `\`)
		out.WriteString(before)
		if !found {
			return out.String(), false
		}
		if after == "" {
			return out.String() + `\`, false
		}
		c := after[0]
		s = after[1:]
		if c == 'c' {
			return out.String(), true
		}
		if plain, ok := echoEscapes[c]; ok {
			out.WriteByte(plain)
			continue
		}
		digits := ""
		number, ok := echoDigits[c]
		if ok {
			digits = leadingDigits(s, number.base, number.digits)
			s = s[len(digits):]
		}
		if !ok || digits == "" && c != '0' {
			out.Write([]byte{'\\', c}) // not an escape: it stays
			continue
		}
		value, _ := strconv.ParseUint("0"+digits, number.base, 32)
		if c == 'u' || c == 'U' {
			writeRune(&out, value)
		} else {
			out.WriteByte(byte(value))
		}
	}
}

func leadingDigits(s string, base, limit int) string {
	n := 0
	for n < len(s) && n < limit {
		if _, err := strconv.ParseUint(s[n:n+1], base, 8); err != nil {
			break
		}
		n++
	}
	return s[:n]
}

// utf8Limits are the first values that need more than 1, 2 … 5 bytes.
var utf8Limits = []uint64{0x80, 0x800, 0x1_0000, 0x20_0000, 0x400_0000, 0x8000_0000}

// writeRune writes a character as bash does: UTF-8 as it was first defined,
// with surrogates and up to six bytes.
func writeRune(out *strings.Builder, value uint64) {
	if value < utf8Limits[0] {
		out.WriteByte(byte(value))
		return
	}
	for i, limit := range utf8Limits[1:] {
		if value < limit {
			more := i + 1 // bytes after the first, which counts them in ones
			out.WriteByte(byte(0xff<<(7-more)&0xff) | byte(value>>(6*more)))
			for more--; more >= 0; more-- {
				out.WriteByte(0x80 | byte(value>>(6*more)&0x3f))
			}
			return
		}
	}
}
