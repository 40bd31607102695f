package command

import (
	"reflect"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
)

// read parses a text for a shell. What no two readers can be trusted to read
// alike is unreadable, and what is too much for the parser never reaches it.
func read(text, shell string) (*syntax.File, approval.Finding) {
	no := func(reason approval.Reason, format string, args ...any) (*syntax.File, approval.Finding) {
		return nil, finding(reason, format, args...)
	}
	if len(text) > maxText {
		return no(approval.ReasonTooComplex, "the text is longer than %d bytes", maxText)
	}
	if why := unreadable(text); why != "" {
		return no(approval.ReasonUnreadable, "%s", why)
	}
	if nesting(text) > maxNesting {
		return no(approval.ReasonTooComplex, "it is nested more than %d deep", maxNesting)
	}
	if arithmetic(text) > maxArithmetic {
		return no(approval.ReasonTooComplex, "its arithmetic is nested more than %d deep", maxArithmetic)
	}
	g := textShells[shell]
	file, err := parse(text, g)
	if err != nil {
		return no(approval.ReasonUnreadable, "it is not a complete text for %s", shell)
	}
	if tooLarge(file) {
		return file, finding(approval.ReasonTooComplex, "%v", errSpent)
	}
	if !delimited(text, file) {
		return no(approval.ReasonUnreadable, "what ends its here-document is not clear")
	}
	if strings.Contains(text, "\\\n") && !joins(text, file, g) {
		return no(approval.ReasonUnreadable, "it joins lines with a backslash where shells do not agree")
	}
	if !joinersQuoted(text, file) {
		return no(approval.ReasonUnreadable, "it holds invisible characters")
	}
	return file, approval.Finding{}
}

func parse(text string, g grammar) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(g.variant()), syntax.KeepComments(strings.Contains(text, "\\\n"))).Parse(strings.NewReader(text), "")
}

// variant is the parser's name of a grammar.
func (g grammar) variant() syntax.LangVariant {
	switch g {
	case bash:
		return syntax.LangBash
	case zsh:
		return syntax.LangZsh
	}
	return syntax.LangPOSIX
}

// unreadable says why people and programs would read these characters
// differently, or "".
func unreadable(text string) string {
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case r == '\t' || r == '\n':
		case r < ' ' || r == 0x7f || unicode.Is(unicode.Cc, r):
			return "it holds control characters"
		case isJoiner(r) && i > 0 && i+1 < len(runes) && joinable(runes[i-1]) && joinable(runes[i+1]):
		case r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Cf, r):
			return "it holds invisible characters"
		case r == unicode.ReplacementChar:
			return "it holds bytes that are not text"
		}
	}
	return ""
}

// isJoiner reports whether r joins or parts letters and emoji without being
// seen itself.
func isJoiner(r rune) bool { return r == 0x200c || r == 0x200d }

func joinable(r rune) bool {
	return r > 0x7f && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r))
}

// joinersQuoted reports whether all joiners stand in quotes.
func joinersQuoted(text string, file *syntax.File) bool {
	if !strings.ContainsFunc(text, isJoiner) {
		return true
	}
	in := make(spans, len(text))
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			in.add(n)
			return false
		}
		return true
	})
	for i, r := range text {
		if isJoiner(r) && !in[i] {
			return false
		}
	}
	return true
}

// nesting is an upper bound on how deep the text is nested, counted before
// the parser sees it, because the parser recurses.
func nesting(text string) int {
	depth, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{', '`', '[':
			depth++
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
		most = max(most, depth)
	}
	for _, word := range strings.Fields(text) {
		switch word {
		case "if", "while", "until", "for", "case", "select", "!", "time", "coproc":
			if depth++; depth > maxNesting {
				return depth
			}
		case "fi", "done", "esac":
			depth = max(0, depth-1)
		}
	}
	return most
}

// arithmetic is an upper bound on how deep arithmetic is nested: the parser
// reads such texts several times.
func arithmetic(text string) int {
	depth, most := 0, 0
	for i := range len(text) {
		switch {
		case strings.HasPrefix(text[i:], "((") || strings.HasPrefix(text[i:], "$["):
			depth++
			most = max(most, depth)
		case strings.HasPrefix(text[i:], "))") || text[i] == ']':
			depth = max(0, depth-1)
		}
	}
	return most
}

// maxDepth bounds the tree of a text. A chain of commands is as deep as it is
// long, and each command is a statement and what is in it.
const maxDepth = 2 * maxSegments

// tooLarge reports whether nobody should plan a tree: it has too many commands,
// or takes a stack as large as it is deep.
func tooLarge(file *syntax.File) bool {
	depth, most, commands := 0, 0, 0
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return true
		}
		if _, ok := n.(*syntax.CallExpr); ok {
			commands++
		}
		if most = max(most, depth+1); most > maxDepth || commands > maxSegments {
			return false
		}
		depth++
		return true
	})
	return most > maxDepth || commands > maxSegments
}

// spans marks bytes of a text.
type spans []bool

func (p spans) add(n syntax.Node) {
	for i := n.Pos().Offset(); i < n.End().Offset() && int(i) < len(p); i++ {
		p[i] = true
	}
}

// delimited reports whether the words that end here-documents stand alone. To
// a shell, a # right behind a quote belongs to the word; to the parser it
// begins a comment.
func delimited(text string, file *syntax.File) bool {
	ok := true
	syntax.Walk(file, func(n syntax.Node) bool {
		if r, is := n.(*syntax.Redirect); is && (r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc) && r.Word != nil {
			end := r.Word.End().Offset()
			ok = ok && (int(end) >= len(text) || strings.IndexByte(" \t\n;&|()<>", text[end]) >= 0)
		}
		return ok
	})
	return ok
}

// joins reports whether the text means the same when its lines are joined
// where a backslash ends them. A shell joins them before it reads words; the
// parser does not always.
func joins(text string, file *syntax.File, g grammar) bool {
	literal := make(spans, len(text)) // where a backslash is only a backslash
	comments := make(spans, len(text))
	expands := make(spans, len(text)) // where only $ and ` count
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			literal.add(n)
		case *syntax.Comment:
			comments.add(n)
		case *syntax.DblQuoted:
			expands.add(n)
		case *syntax.Redirect:
			if n.Hdoc != nil && quotesDelimiter(text, n) {
				literal.add(n.Hdoc)
			} else if n.Hdoc != nil {
				expands.add(n.Hdoc)
			}
		}
		return true
	})
	var joined strings.Builder
	for i := 0; i < len(text); i++ {
		if comments[i] && text[i] == '\\' && i+1 < len(text) && text[i+1] == '\n' {
			return false // a comment ends with its line; the parser reads on
		}
		if text[i] != '\\' || literal[i] || comments[i] {
			joined.WriteByte(text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] != '\n' { // the backslash is for what follows
			joined.WriteString(text[i : i+2])
			i++
			continue
		}
		before, after := byte(0), byte(0)
		if i > 0 {
			before = text[i-1]
		}
		if i+2 < len(text) {
			after = text[i+2]
		}
		if strings.IndexByte("$<>&|", before) >= 0 || expands[i] && strings.IndexByte("({'`", after) >= 0 {
			return false
		}
		i++
	}
	again, err := parse(joined.String(), g)
	return err == nil && same(reflect.ValueOf(file.Stmts), reflect.ValueOf(again.Stmts))
}

// quotesDelimiter reports whether a here-document is taken as it stands.
func quotesDelimiter(text string, r *syntax.Redirect) bool {
	word := text[r.Word.Pos().Offset():r.Word.End().Offset()]
	return strings.ContainsAny(word, `'"\`)
}

var posType, commentsType = reflect.TypeFor[syntax.Pos](), reflect.TypeFor[[]syntax.Comment]()

// same reports whether two trees are equal but for their places and comments.
func same(a, b reflect.Value) bool {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Interface:
		return same(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			f := a.Field(i)
			if f.Type() != posType && f.Type() != commentsType && !same(f, b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.String:
		return unjoined(a.String()) == unjoined(b.String())
	}
	return a.Equal(b)
}

// unjoined takes the joined lines out of a piece of text.
func unjoined(piece string) string { return strings.ReplaceAll(piece, "\\\n", "") }
