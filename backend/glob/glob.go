// Package glob reads the patterns of allowlists and denylists and matches
// paths and command names against them. It looks at text only, never at the
// disk; and a pattern that it does not understand is an error, because one
// that silently means something else would allow what nobody allowed.
//
// A pattern is an absolute path, a path below home (~/…), a path below any
// folder (**/…), or a bare name. In it
//
//   - is any text within a folder or file name
//     **   as a whole folder is any number of folders, none included
//     ?    is one character
//     \    before one of * ? [ ] { } \ takes it literally
//
// and everything else stands for itself, also [ ] { } and a backslash before
// anything else.
package glob

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// Pattern is one pattern, read once and matched often. It is immutable and
// comparable; the zero value matches nothing.
type Pattern struct {
	text   string
	bare   bool
	any    bool
	exact  shape
	folded shape
}

// shape is a pattern ready to be matched: literal text, then what doublestar
// has to look at. Without a glob, prefix is the whole of it.
type shape struct{ prefix, glob string }

func (s shape) match(name string) bool {
	if s.glob == "" {
		return name == s.prefix
	}
	rest, ok := strings.CutPrefix(name, s.prefix)
	if !ok {
		return false
	}
	if doublestar.MatchUnvalidated(s.glob, rest) {
		return true
	}
	// The library does not let a last /** stand for no folder when a * that
	// matches nothing comes right before it.
	shorter, ok := strings.CutSuffix(s.glob, "*/**")
	return ok && doublestar.MatchUnvalidated(shorter+"*", rest)
}

func (s shape) fold() shape { return shape{fold(s.prefix), fold(s.glob)} }

// Match reports whether the pattern covers a file, given by its absolute,
// cleaned path in the case in which the disk stores it. A bare pattern covers
// no path, except that a lone * covers every one. A path that is not clean
// is covered by nothing.
func (p Pattern) Match(file string) bool {
	return isFile(file) && (p.any || !p.bare && p.exact.match(file))
}

func isFile(file string) bool {
	return strings.HasPrefix(file, "/") && len(file) <= maxPath && path.Clean(file) == file
}

// MatchName reports whether a bare pattern covers a command word that has no
// slash and was found through PATH.
func (p Pattern) MatchName(word string) bool {
	return isName(word) && p.bare && p.exact.match(word)
}

func isName(word string) bool {
	return word != "" && len(word) <= maxPath && !strings.Contains(word, "/")
}

// MatchFold reports whether a deny rule with this pattern hits a path or a
// command word, in any case of letters. It errs on the side of a hit: a bare
// pattern hits the last name of a path wherever the file lies, a path is
// cleaned first, and one that is longer than any file's is always hit.
func (p Pattern) MatchFold(file string) bool {
	if p.text == "" || file == "" {
		return false
	}
	if p.any || len(file) > maxPath {
		return true
	}
	file = path.Clean(file)
	if p.bare {
		file = path.Base(file)
	}
	return p.folded.match(fold(file))
}

// Bare reports whether the pattern is a name without a folder.
func (p Pattern) Bare() bool { return p.bare }

// Any reports whether the pattern is a lone *.
func (p Pattern) Any() bool { return p.any }

// Literal returns the one absolute path that the pattern covers, if it has no
// wildcard and is not a bare name.
func (p Pattern) Literal() (string, bool) {
	if p.bare || p.exact.glob != "" || p.text == "" {
		return "", false
	}
	return p.exact.prefix, true
}

// String returns the pattern as it was written, without space around it.
func (p Pattern) String() string { return p.text }

// fold maps all letters that differ in case only to one of them, also K and
// the Kelvin sign, s and the long s.
func fold(s string) string { return strings.Map(foldRune, s) }

// appendFold appends fold(s) to b.
func appendFold(b []byte, s string) []byte {
	for _, r := range s {
		if r < utf8.RuneSelf {
			b = append(b, byte(asciiLower(r)))
		} else {
			b = utf8.AppendRune(b, foldRune(r))
		}
	}
	return b
}

func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		return asciiLower(r)
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return unicode.ToLower(least)
}

func asciiLower(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		r += 'a' - 'A'
	}
	return r
}
