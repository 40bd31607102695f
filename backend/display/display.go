// Package display makes text safe to show: characters that a screen would
// obey, hide or turn around become visible, and secrets become ***.
//
// It never cuts, because what is not shown cannot be judged. Text that a
// person decides on gets Escape alone: Redact hides what looks like a secret,
// and a command can be written so that more than a secret looks like one.
package display

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns text for a log: one line, without secrets.
func Line(s string) string { return Escape(Redact(s)) }

// Escape writes every character that cannot be seen, or that moves others,
// as \u{HEX}, and every byte that is not UTF-8 as \x{HEX}. Newline and tab
// count as such. Combining marks and emoji stay. Escaping twice changes
// nothing.
func Escape(s string) string {
	before := rune(0)
	start := strings.IndexFunc(s, func(r rune) bool {
		bad := r == utf8.RuneError || Hides(before, r)
		before = r
		return bad
	})
	if start < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:start])
	before, _ = utf8.DecodeLastRuneInString(s[:start])
	for i := start; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x{%02X}`, s[i])
		case Hides(before, r):
			fmt.Fprintf(&b, `\u{%X}`, r)
		default:
			b.WriteString(s[i : i+n])
		}
		before = r
		i += n
	}
	return b.String()
}

// Hides reports whether a character cannot be seen where it stands, or moves
// others. before is the one before it, 0 for none: what chooses between text
// and emoji is seen on a symbol only.
func Hides(before, r rune) bool {
	if r == 0xFE0E || r == 0xFE0F {
		symbol := before >= utf8.RuneSelf && !unicode.IsLetter(before) && !unicode.IsMark(before) && !unicode.IsSpace(before) && !hidden(before)
		return !symbol && !strings.ContainsRune("0123456789#*", before)
	}
	return hidden(r)
}

// Veils reports whether a text that may have lines and tabs holds a character
// that cannot be seen for what it is.
func Veils(text string) bool {
	before := rune(0)
	return strings.ContainsFunc(text, func(r rune) bool {
		bad := VeilsAfter(before, r)
		before = r
		return bad
	})
}

// VeilsAfter is the same of one character and the one before it.
func VeilsAfter(before, r rune) bool {
	return r != '\n' && r != '\t' && (r == utf8.RuneError || Hides(before, r))
}

// hidden reports whether a character is escaped: controls, formats such as
// bidi and zero-width characters, line and paragraph separators, all spaces
// but the common one, and what fonts draw as nothing.
func hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	switch r {
	case 0x2800, 0x1D159: // Braille without dots, a note without a head
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
