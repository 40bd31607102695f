package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// maxBraces bounds what braces may become.
const maxBraces = 1000

// braces takes the braces of a word apart, as bash does.
func (t *textJob) braces(word *syntax.Word) ([]*syntax.Word, bool) {
	if !slices.ContainsFunc(word.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return ok && strings.Contains(lit.Value, "{")
	}) {
		return []*syntax.Word{word}, true
	}
	if n := strings.Count(t.text[word.Pos().Offset():word.End().Offset()], "{"); n > maxArithmetic {
		t.complex("a word has more than %d braces", maxArithmetic)
		return nil, false
	}
	split := &syntax.Word{Parts: slices.Clone(word.Parts)}
	syntax.SplitBraces(split)
	found := slices.ContainsFunc(split.Parts, func(p syntax.WordPart) bool { _, ok := p.(*syntax.BraceExp); return ok })
	if t.grammar != bash && found || oddBraces(split) || found && joinsName(split) {
		return nil, false
	}
	if !found {
		return []*syntax.Word{word}, true
	}
	if braced(split) > maxBraces {
		t.complex("braces stand for more than %d words", maxBraces)
		return nil, false
	}
	return expand.Braces(split), true
}

// oddBraces reports whether braces are left over where bash may still find
// some, or find none after all: it reads {a},b} as the words a} and b, and
// {..{1..3}} as itself.
func oddBraces(word *syntax.Word) bool {
	var loose strings.Builder // the unquoted text, with a mark in the place of braces
	found := false
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			loose.WriteString(escaped().ReplaceAllString(part.Value, "_"))
		case *syntax.BraceExp:
			if slices.ContainsFunc(part.Elems, oddBraces) {
				return true
			}
			found = true
			loose.WriteByte('_')
		}
	}
	return oddList().MatchString(loose.String()) || found && oddSequence().MatchString(loose.String())
}

// joinsName reports whether a $NAME stands where braces end or begin: bash
// puts the texts together first, so that $x{a,b} is $xa and $xb.
func joinsName(word *syntax.Word) bool {
	short := func(p syntax.WordPart) bool {
		param, ok := p.(*syntax.ParamExp)
		return ok && param.Short
	}
	for i, part := range word.Parts {
		braces, ok := part.(*syntax.BraceExp)
		if !ok {
			continue
		}
		if i > 0 && short(word.Parts[i-1]) {
			return true
		}
		for _, elem := range braces.Elems {
			if n := len(elem.Parts); n > 0 && short(elem.Parts[n-1]) || joinsName(elem) {
				return true
			}
		}
	}
	return false
}

// escaped are characters without a meaning of their own.
var escaped = expression(`(?s)\\.`)

var oddList, oddSequence = expression(`(?s)\{.*,.*\}`), expression(`(?s)\{.*\.\..*\}`)

// braced counts the words that braces stand for, up to a little over the cap.
func braced(word *syntax.Word) int {
	n := 1
	for _, part := range word.Parts {
		b, ok := part.(*syntax.BraceExp)
		if !ok {
			continue
		}
		sum := 0
		if b.Sequence {
			sum = sequence(b)
		} else {
			for _, elem := range b.Elems {
				sum += braced(elem)
			}
		}
		if n *= max(1, sum); n > maxBraces {
			return maxBraces + 1
		}
	}
	return n
}

// sequence counts the words of {x..y}, {x..y..step}.
func sequence(b *syntax.BraceExp) int {
	ends := [2]int{}
	for i, elem := range b.Elems[:2] {
		text := elem.Lit()
		n, digits := 0, strings.TrimLeft(text, "+-")
		if len(digits) > 6 {
			return maxBraces + 1
		}
		for _, c := range []byte(digits) {
			if c < '0' || c > '9' {
				n = int(c)
				break
			}
			n = n*10 + int(c-'0')
		}
		if strings.HasPrefix(text, "-") {
			n = -n
		}
		ends[i] = n
	}
	return max(ends[0]-ends[1], ends[1]-ends[0]) + 1
}
