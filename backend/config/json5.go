package config

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"unicode"
	"unicode/utf8"
)

// toJSON writes a JSON5 text (spec.json5.org) as JSON in which everything is
// on the line where it was. It does not check what it writes: the JSON reader
// does, and refuses all that is neither. An error comes with what was written
// before it.
func toJSON(text []byte) ([]byte, error) {
	w := rewriter{left: bytes.TrimPrefix(text, []byte("\ufeff"))}
	for len(w.left) > 0 {
		if err := w.next(); err != nil {
			return w.out, err
		}
	}
	return w.out, nil
}

type rewriter struct {
	left  []byte
	out   []byte
	lines int  // line ends inside of a string, which come after it
	comma int  // where the comma is in out that may only end a list, 0 for none
	value bool // a value ends here
}

// next takes one token, or white space.
func (w *rewriter) next() error {
	c, size := utf8.DecodeRune(w.left)
	switch {
	case c == '\n':
		w.copy(1)
	case unicode.IsSpace(c) || c == '\ufeff':
		w.out = append(w.out, ' ')
		w.skip(size)
	case bytes.HasPrefix(w.left, []byte("//")):
		end := bytes.IndexAny(w.left, "\n\r\u2028\u2029")
		if end < 0 {
			end = len(w.left)
		}
		w.skip(end)
	case bytes.HasPrefix(w.left, []byte("/*")):
		return w.comment()
	case c == ',':
		w.comma = 0
		if w.value {
			w.comma = len(w.out)
		}
		w.value = false
		w.copy(1)
	case c == '"' || c == '\'':
		w.value, w.comma = true, 0
		return w.text(byte(c))
	case c == '+' || c == '-' || c == '.' || '0' <= c && c <= '9':
		w.value, w.comma = true, 0
		return w.number()
	case letter(c):
		w.value, w.comma = true, 0
		w.name()
	default:
		w.value = c == '}' || c == ']'
		if w.value && w.comma > 0 {
			w.out[w.comma] = ' '
		}
		w.comma = 0
		w.copy(size)
	}
	return nil
}

func (w *rewriter) skip(n int) { w.left = w.left[n:] }

func (w *rewriter) copy(n int) {
	w.out = append(w.out, w.left[:n]...)
	w.skip(n)
}

func (w *rewriter) comment() error {
	end := bytes.Index(w.left, []byte("*/"))
	if end < 0 {
		return errors.New("a comment does not end")
	}
	w.lines = bytes.Count(w.left[:end], []byte("\n"))
	w.skip(end + 2)
	w.out = append(w.out, ' ')
	w.breakLines()
	return nil
}

// breakLines writes the line ends that were inside of what was read.
func (w *rewriter) breakLines() {
	w.out = append(w.out, bytes.Repeat([]byte("\n"), w.lines)...)
	w.lines = 0
}

func letter(c rune) bool { return c == '$' || c == '_' || c == '\\' || unicode.IsLetter(c) }

// name takes a word: a key without quotes, or a value.
func (w *rewriter) name() {
	end := bytes.IndexFunc(w.left, func(c rune) bool { return !letter(c) && !unicode.IsDigit(c) && !unicode.Is(unicode.Mn, c) })
	if end < 0 {
		end = len(w.left)
	}
	word := w.left[:end]
	w.skip(end)
	switch {
	case w.key():
		w.out = append(append(append(w.out, '"'), word...), '"')
	case string(word) == "Infinity" || string(word) == "NaN":
		w.out = append(w.out, "null"...) // JSON has no such number, and we take none
	default:
		w.out = append(w.out, word...)
	}
}

// key tells whether a colon follows.
func (w *rewriter) key() bool {
	ahead := rewriter{left: w.left}
	for len(ahead.left) > 0 && ahead.left[0] != ':' {
		before := len(ahead.out)
		if ahead.next() != nil || len(bytes.TrimSpace(ahead.out[before:])) > 0 {
			return false
		}
	}
	return len(ahead.left) > 0
}

// escapes are those that JSON writes in another way.
var escapes = map[byte]string{'\'': "'", 'v': `\u000b`, '0': `\u0000`}

// text takes a string.
func (w *rewriter) text(quote byte) error {
	w.skip(1)
	w.out = append(w.out, '"')
	for len(w.left) > 0 && w.left[0] != quote {
		switch c := w.left[0]; {
		case c == '\n' || c == '\r':
			return errors.New("a string does not end on its line")
		case c == '\\' && len(w.left) > 1:
			w.skip(1)
			w.escape()
		case c == '"':
			w.out = append(w.out, `\"`...)
			w.skip(1)
		case c < ' ':
			w.out = fmt.Appendf(w.out, `\u%04x`, c)
			w.skip(1)
		default:
			w.copy(1)
		}
	}
	if len(w.left) == 0 {
		return errors.New("a string does not end")
	}
	w.skip(1)
	w.out = append(w.out, '"')
	w.breakLines()
	return nil
}

// escape takes what follows a backslash.
func (w *rewriter) escape() {
	c, size := utf8.DecodeRune(w.left)
	plain, other := escapes[byte(c)]
	switch {
	case bytes.HasPrefix(w.left, []byte("\r\n")): // the line goes on
		w.lines++
		w.skip(2)
	case c == '\n' || c == '\r' || c == '\u2028' || c == '\u2029':
		w.lines += bytes.Count(w.left[:size], []byte("\n"))
		w.skip(size)
	case c < utf8.RuneSelf && other:
		w.out = append(w.out, plain...)
		w.skip(1)
	case c == 'x' && len(w.left) > 2:
		w.out = append(append(w.out, `\u00`...), w.left[1:3]...)
		w.skip(3)
	case bytes.ContainsRune([]byte(`"\/bfnrtu`), c) || '1' <= c && c <= '9' || c == 'x':
		w.out = append(w.out, '\\')
		w.copy(1)
	default: // it means itself
		w.copy(size)
	}
}

// number takes a number: with a sign, a bare point, or in base 16.
func (w *rewriter) number() error {
	if w.left[0] == '+' && len(w.left) > 1 && bytes.IndexByte([]byte(".0123456789IN"), w.left[1]) >= 0 {
		w.skip(1)
	} else if w.left[0] == '-' {
		w.copy(1)
	}
	if bytes.HasPrefix(w.left, []byte("Infinity")) || bytes.HasPrefix(w.left, []byte("NaN")) {
		w.out = bytes.TrimSuffix(w.out, []byte("-"))
		return nil // the word is next
	}
	end := bytes.IndexFunc(w.left, func(c rune) bool { return c != '.' && c != '+' && c != '-' && !letter(c) && !unicode.IsDigit(c) })
	if end < 0 {
		end = len(w.left)
	}
	digits := w.left[:end]
	w.skip(end)
	if hex := bytes.TrimPrefix(bytes.ToLower(digits), []byte("0x")); len(hex)+2 == len(digits) {
		n, ok := new(big.Int).SetString(string(hex), 16)
		if !ok || hex[0] == '+' || hex[0] == '-' || len(hex) > 64 {
			return fmt.Errorf("%.20q is no number", digits)
		}
		w.out = n.Append(w.out, 10)
		return nil
	}
	whole, rest, point := bytes.Cut(digits, []byte("."))
	if point && len(whole) == 0 && len(rest) > 0 {
		digits = append([]byte("0."), rest...)
	} else if point && len(whole) > 0 && (len(rest) == 0 || rest[0]|0x20 == 'e') {
		digits = append(append(bytes.Clone(whole), ".0"...), rest...)
	}
	w.out = append(w.out, digits...)
	return nil
}
