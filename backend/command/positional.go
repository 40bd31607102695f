package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
)

// The positional parameters are what the last `set --` gave: a text begins with none.
// They are followed as variables are, by the names "1" to "9" and "@" for all of them.

// positionals notes whether a command gives any, and whether it shifts them. It returns the
// words that it gives.
func (t *textJob) positionals(call *syntax.CallExpr) []*syntax.Word {
	words := call.Args
	if len(words) > 1 && t.plainly(words[0]) == "command" {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	switch t.plainly(words[0]) {
	case "set":
		t.setsWords = true
		return words[min(2, len(words)):]
	case "shift":
		t.shifts = true
	}
	return nil
}

// holdsParameters notes what a set gives where that is known: in a loop, what stands before
// it may get that too.
func (t *textJob) holdsParameters(words []*syntax.Word) {
	parted := len(words) // from there on, places are not known
	for i, word := range words {
		text, ok := t.plainText(word)
		if !ok || strings.ContainsAny(text, "*?[{") {
			parted = min(parted, i)
			continue
		}
		first, last := i, i
		if i > parted {
			first, last = parted, len(words)
		}
		if t.shifts {
			first = 0
		}
		for k, name := range positionalNames() {
			if name == approval.AllParameters || first <= k && k <= last {
				t.note(t.values, name, text)
			}
		}
	}
}

// setsParameters reports whether a set is `set -- WORD...`.
func setsParameters(seg *approval.Segment) bool {
	return len(seg.Argv) > 1 && seg.Argv[1] == "--" && !slices.Contains(seg.Made, 1) && (len(seg.Open) == 0 || seg.Open[0].At > 1)
}

// setParameters takes down what each parameter may be after a set.
func (t *textJob) setParameters(seg *approval.Segment) {
	words := seg.Words
	if len(seg.Open) == 0 {
		words = nil
		for _, word := range seg.Argv {
			words = append(words, approval.Word{{Kind: approval.PartText, Text: word}})
		}
	}
	names := positionalNames()
	for i := 2; i < len(seg.Argv); i++ {
		many := len(words) != len(seg.Argv) || slices.ContainsFunc(seg.Open, func(o approval.Open) bool { return o.At == i && o.Many })
		first, last := i-2, i-2
		if t.shifts {
			first = 0
		}
		if many { // and where those behind it will be
			last = len(names)
		}
		if !t.spend(1) {
			return
		}
		for k, name := range names {
			switch {
			case name == approval.AllParameters, first <= k && k <= last:
			default:
				continue
			}
			if many {
				t.lost[name] = true
			} else {
				t.gives(name, words[i], seg.Dir)
			}
		}
		if many {
			break
		}
	}
}

// positionalNames are the names by which parameters are followed, in their order.
func positionalNames() []string {
	return append(strings.Split("123456789", ""), approval.AllParameters)
}

// shiftsParameters reports whether a shift is one that we do.
func shiftsParameters(seg *approval.Segment) bool {
	if len(seg.Open) > 0 || len(seg.Made) > 0 || len(seg.Argv) > 2 {
		return false
	}
	return len(seg.Argv) == 1 || len(seg.Argv[1]) == 1 && seg.Argv[1] >= "0" && seg.Argv[1] <= "9"
}

// parameters is what "$@", $@ or $* becomes where it is all of a word.
func (t *textJob) parameters(word *syntax.Word) (v value, ok bool) {
	if len(word.Parts) != 1 {
		return v, false
	}
	inner, quoted := word.Parts[0], false
	if q, is := inner.(*syntax.DblQuoted); is && !q.Dollar && len(q.Parts) == 1 {
		inner, quoted = q.Parts[0], true
	}
	p, is := inner.(*syntax.ParamExp)
	if !is || !plainParameter(p) || p.Param.Value != approval.AllParameters && (quoted || p.Param.Value != "*") {
		return v, false
	}
	return t.allParameters(quoted, t.text[word.Pos().Offset():word.End().Offset()]), true
}

// allParameters is what all of them become, written so, each of them in quotes or not.
func (t *textJob) allParameters(quoted bool, written string) value {
	part := approval.Part{Kind: approval.PartVar, Text: approval.AllParameters, Quoted: quoted}
	open := t.open(nil, approval.Word{part}, "")
	open.Many = true
	return value{open: open, written: written, words: []approval.Word{{part}}, expands: true}
}
