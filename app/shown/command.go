package shown

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/bidi"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
)

// Command is the exact text in pieces. Nothing of it is left out or cut.
type Command struct {
	// Text is the text itself, to be copied and never to be shown.
	Text string `json:"text"`
	// Lines are those of the text, each of them pieces in order.
	Lines [][]Piece `json:"lines"`
	// Hidden tells that the text holds characters that cannot be seen or that
	// turn others around. No segment of it is marked then.
	Hidden bool `json:"hidden"`
}

// Piece is a word, a space or an operator of a line.
type Piece struct {
	Kind PieceKind `json:"kind"`
	// Parts are the text; most pieces have one.
	Parts []Part `json:"parts"`
	// Segment is the index of the segment it belongs to, -1 for none.
	Segment int     `json:"segment"`
	Verdict Verdict `json:"verdict,omitempty"`
}

// PieceKind says how a piece may be broken into lines.
type PieceKind string

const (
	Word     PieceKind = "word"     // not inside
	LongWord PieceKind = "long"     // after a slash, else anywhere
	Space    PieceKind = "space"    // before and after
	Operator PieceKind = "operator" // not inside, and quiet
)

// Part is a run of characters that are shown alike.
type Part struct {
	Text string   `json:"text"`
	Kind PartKind `json:"kind,omitempty"`
}

// PartKind says how a part is shown.
type PartKind string

const (
	Plain   PartKind = ""
	Escaped PartKind = "escaped" // a character that cannot be seen, by its number
	RTL     PartKind = "rtl"     // letters that run from right to left
)

// longWord is the length from which a word may be broken, in characters.
const longWord = 44

// newCommand splits a text. Every rune of it is in exactly one part.
func newCommand(plan approval.Plan, j approval.Judgement) Command {
	c := Command{Text: plan.Text, Hidden: display.Veils(plan.Text)}
	var owner []int
	if !c.Hidden {
		owner = owners(plan)
	}
	at := 0
	for line := range strings.SplitSeq(plan.Text, "\n") {
		c.Lines = append(c.Lines, pieces(line, at, owner, plan.Segments, j))
		at += len(line) + 1
	}
	return c
}

// turns reports whether a character belongs to text that runs from right to
// left.
func turns(r rune) bool {
	p, _ := bidi.LookupRune(r)
	switch p.Class() {
	case bidi.R, bidi.AL, bidi.AN:
		return true
	}
	return false
}

// owners tells for every byte of the text which segment it belongs to, -1 for
// none: the shortest one that holds it.
func owners(plan approval.Plan) []int {
	owner := make([]int, len(plan.Text))
	size := make([]int, len(plan.Text))
	for i := range owner {
		owner[i] = -1
	}
	for i, s := range plan.Segments {
		if s.Via > 0 || s.Named {
			continue
		}
		for at := max(0, s.Start); at < min(s.End, len(owner)); at++ {
			if n := s.End - s.Start; owner[at] < 0 || n < size[at] {
				owner[at], size[at] = i, n
			}
		}
	}
	return owner
}

// pieces splits one line, which begins at offset start of the text.
func pieces(line string, start int, owner []int, segments []approval.Segment, j approval.Judgement) []Piece {
	list := []Piece{}
	for len(line) > 0 {
		own := ownerAt(owner, start)
		n := pieceLen(line, func(i int) bool { return ownerAt(owner, start+i) == own })
		text := line[:n]
		p := Piece{Kind: kindOf(text, own), Parts: parts(text), Segment: own}
		if own >= 0 && own < len(j.Segments) {
			p.Verdict = verdict(segments[own], j.Segments[own])
		}
		list = append(list, p)
		line, start = line[n:], start+n
	}
	return list
}

func ownerAt(owner []int, at int) int {
	if at >= len(owner) {
		return -1
	}
	return owner[at]
}

// pieceLen is the length of the first piece: blanks, or what is none, as far
// as the owner stays the same.
func pieceLen(line string, same func(int) bool) int {
	blank := line[0] == ' '
	for i := range line {
		if i > 0 && ((line[i] == ' ') != blank || !same(i)) {
			return i
		}
	}
	return len(line)
}

func kindOf(text string, owner int) PieceKind {
	switch {
	case text[0] == ' ':
		return Space
	case owner < 0 && strings.Trim(text, "&|;(){}!") == "":
		return Operator
	case len([]rune(text)) > longWord:
		return LongWord
	}
	return Word
}

// parts splits a piece into what is shown as it is, what is escaped, and
// letters that run the other way.
func parts(text string) []Part {
	var list []Part
	add := func(s string, kind PartKind) {
		if n := len(list); n > 0 && list[n-1].Kind == kind && kind != Escaped {
			list[n-1].Text += s
			return
		}
		list = append(list, Part{s, kind})
	}
	before := rune(0)
	for _, r := range text {
		s := string(r)
		switch {
		case r == '\t' || display.VeilsAfter(before, r):
			add(name(r), Escaped)
		case turns(r), len(list) > 0 && list[len(list)-1].Kind == RTL && unicode.Is(unicode.M, r):
			add(s, RTL)
		default:
			add(s, Plain)
		}
		before = r
	}
	return list
}

// name is how a character is written that cannot be seen.
func name(r rune) string {
	if r == '\t' {
		return "TAB"
	}
	const digits = "0123456789ABCDEF"
	hex := ""
	for ; r > 0 || len(hex) < 4; r >>= 4 {
		hex = string(digits[r&15]) + hex
	}
	return "U+" + hex
}
