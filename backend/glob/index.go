package glob

import (
	"bytes"
	"encoding/binary"
	"path"
	"slices"
	"strings"
)

// maxSteps bounds what one look-up hands to the library, in bytes that it may
// have to compare. It is twice what the dearest pattern that Parse accepts
// takes with the longest path.
const maxSteps = 2 * maxPath * maxGlob

// Index answers for many patterns at once what each would by itself, and
// looks only at the few that can match. It is immutable and may be used by
// many at once.
//
// Every pattern is filed under a piece of its literal text, the one that the
// fewest others hold, and a look-up goes through the pieces of a path: its
// cost follows the length of the path and the patterns that share a piece
// with it, not the number of all. A piece may stand anywhere, so it does not
// matter where a pattern has its wildcards. Patterns without literal text,
// like /*/*, are tried each time.
//
// The worst are many patterns that differ in their wildcards only: a path
// that fits all their literal text costs a few comparisons for each, and at
// most maxSteps in the library for all. A pattern that would take more is left
// untried. The look-up then returns false, and counts that pattern as a hit
// where a hit denies (MatchFold) and as none where it allows (Match,
// MatchName), so ignoring the result is safe. It takes about a thousand
// patterns of 40 bytes that all fit one path of 50.
type Index struct {
	patterns []Pattern
	rest     []uint32 // positions of the patterns that have no piece
	sizes    []int    // sizes of the pieces in use
	table
}

// NewIndex prepares patterns for look-ups. It keeps the slice, which must not
// be changed afterwards.
func NewIndex(patterns []Pattern) *Index {
	x := &Index{patterns: patterns}
	x.file()
	return x
}

// Match calls yield with the position of each pattern whose Match(file) is
// true, once and in no particular order, until yield returns false. It
// returns false if patterns were left untried, see Index.
func (x *Index) Match(file string, yield func(int) bool) bool {
	if !isFile(file) {
		return true
	}
	var room [256]byte
	return x.answer(question{file: file}, appendFold(room[:0], file), yield)
}

// MatchName is to Pattern.MatchName what Match is to Pattern.Match.
func (x *Index) MatchName(word string, yield func(int) bool) bool {
	if !isName(word) {
		return true
	}
	var room [256]byte
	return x.answer(question{name: word}, appendFold(append(room[:0], '/'), word), yield)
}

// MatchFold is to Pattern.MatchFold what Match is to Pattern.Match, but a
// pattern that was left untried is a hit.
func (x *Index) MatchFold(file string, yield func(int) bool) bool {
	if file == "" {
		return true
	}
	if len(file) > maxPath {
		for i := range x.patterns {
			if x.patterns[i].MatchFold(file) && !yield(i) {
				break
			}
		}
		return true
	}
	file = fold(path.Clean(file))
	var room [256]byte
	text := room[:0]
	if file[0] != '/' {
		text = append(text, '/')
	}
	return x.answer(question{file: file, name: path.Base(file), folded: true}, append(text, file...), yield)
}

// answer goes through the patterns that can answer a question. Text is what
// it is about, folded and with a slash before it.
func (x *Index) answer(q question, text []byte, yield func(int) bool) bool {
	left, complete := maxSteps, true
	try := func(positions []uint32) bool {
		for _, at := range positions {
			hit, tried := q.ask(&x.patterns[at], &left)
			complete = complete && tried
			if hit && !yield(int(at)) {
				return false
			}
		}
		return true
	}
	if !try(x.rest) {
		return complete
	}
	var room [64]uint32
	for _, bucket := range x.find(room[:0], text, q.name != "") {
		if !try(x.bucket(bucket)) {
			break
		}
	}
	return complete
}

// find appends the buckets, each once, of the patterns that have a piece in
// text or are literally text or, if asked for, its last name.
func (x *Index) find(found []uint32, text []byte, base bool) []uint32 {
	found = x.lookUp(found, hashAll(text))
	if base {
		found = x.lookUp(found, hashAll(text[bytes.LastIndexByte(text, '/'):]))
	}
	length := len(text)
	text = append(text, make([]byte, 8)...) // the end, and room to read on
	for _, size := range x.sizes {
		for i := range length {
			found = x.lookUp(found, hash(binary.LittleEndian.Uint64(text[i:]), size))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// question is what is asked of each pattern: of one with a folder whether it
// matches file, of a bare one whether it matches name. Nothing is asked of a
// kind for which it is empty.
type question struct {
	file, name string
	folded     bool
}

// ask reports whether a pattern answers the question, and whether there were
// steps enough left to find out.
func (q *question) ask(p *Pattern, left *int) (hit, tried bool) {
	if p.any {
		return true, true
	}
	s, text := &p.exact, q.file
	if q.folded {
		s = &p.folded
	}
	if p.bare {
		text = q.name
	}
	if text == "" || s.glob == "" {
		return text != "" && text == s.prefix, true
	}
	rest, ok := strings.CutPrefix(text, s.prefix)
	if !ok || !strings.HasSuffix(rest, s.tail()) {
		return false, true
	}
	steps := s.steps(len(rest))
	if steps > *left {
		return q.folded, false
	}
	*left -= steps
	return s.match(text), true
}

// tail is the literal text that the glob ends in.
func (s *shape) tail() string { return s.glob[strings.LastIndexAny(s.glob, `*?\`)+1:] }

// steps bounds what match costs for so many bytes after the prefix.
func (s *shape) steps(rest int) int {
	once := rest * len(s.glob)
	if strings.HasSuffix(s.glob, "*/**") {
		return 2 * once
	}
	return once
}
