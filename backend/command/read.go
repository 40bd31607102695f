package command

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
)

// read parses a text for a shell. What no two readers can be trusted to read
// alike is unreadable, and what is too much for the parser never reaches it
// (judgement.md, step 2).
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
	if strings.Contains(text, "\\\n") && !joins(text, file, g) {
		return no(approval.ReasonUnreadable, "it joins lines with a backslash where shells do not agree")
	}
	if !joinersQuoted(text, file) {
		return no(approval.ReasonUnreadable, "it holds invisible characters")
	}
	return file, approval.Finding{}
}

func parse(text string, g grammar) (*syntax.File, error) {
	lang := syntax.LangPOSIX
	switch g {
	case bash:
		lang = syntax.LangBash
	case zsh:
		lang = syntax.LangZsh
	}
	return syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(strings.Contains(text, "\\\n"))).Parse(strings.NewReader(text), "")
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
	in := quotedSpans(file)
	for i, r := range text {
		if isJoiner(r) && !in.hold(i) {
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

// spans are places of a text, from and to.
type spans [][2]int

func (s spans) hold(i int) bool {
	return slices.ContainsFunc(s, func(span [2]int) bool { return span[0] <= i && i < span[1] })
}

func span(n syntax.Node) [2]int { return [2]int{int(n.Pos().Offset()), int(n.End().Offset())} }

func quotedSpans(file *syntax.File) (in spans) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			in = append(in, span(n))
			return false
		}
		return true
	})
	return in
}

// joins reports whether the text means the same when its lines are joined
// where a backslash ends them. A shell joins them before it reads words; the
// parser does not always (lessons.md, 4).
func joins(text string, file *syntax.File, g grammar) bool {
	var literal, expands spans // where a backslash is only a backslash; where only $ and ` count
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted, *syntax.Comment:
			literal = append(literal, span(n))
		case *syntax.DblQuoted:
			expands = append(expands, span(n))
		case *syntax.Redirect:
			if n.Hdoc != nil && quotesDelimiter(text, n) {
				literal = append(literal, span(n.Hdoc))
			} else if n.Hdoc != nil {
				expands = append(expands, span(n.Hdoc))
			}
		}
		return true
	})
	var joined strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || literal.hold(i) {
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
		if strings.IndexByte("$<>&|", before) >= 0 || expands.hold(i) && strings.IndexByte("({'`", after) >= 0 {
			return false
		}
		i++
	}
	again, err := parse(joined.String(), g)
	return err == nil && shape(file) == shape(again)
}

// quotesDelimiter reports whether a here-document is taken as it stands.
func quotesDelimiter(text string, r *syntax.Redirect) bool {
	word := text[r.Word.Pos().Offset():r.Word.End().Offset()]
	return strings.ContainsAny(word, `'"\`)
}

// shape writes a tree without its places.
func shape(file *syntax.File) string {
	var b strings.Builder
	write(&b, reflect.ValueOf(file.Stmts))
	return b.String()
}

func write(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			write(b, v.Elem())
		}
	case reflect.Slice:
		fmt.Fprintf(b, "%d[", v.Len())
		for i := range v.Len() {
			write(b, v.Index(i))
		}
		b.WriteByte(']')
	case reflect.Struct:
		fmt.Fprintf(b, "%s{", v.Type().Name())
		for i := range v.NumField() {
			switch f := v.Field(i); f.Interface().(type) {
			case syntax.Pos, []syntax.Comment:
			default:
				write(b, f)
			}
		}
		b.WriteByte('}')
	case reflect.String:
		fmt.Fprintf(b, "%q", strings.ReplaceAll(v.String(), "\\\n", ""))
	default:
		fmt.Fprintf(b, "%v,", v.Interface())
	}
}
