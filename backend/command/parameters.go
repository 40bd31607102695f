package command

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pathname"
)

// What ${NAME…} may do to a value is a closed list, with patterns that the text itself
// holds: what comes out of a variable counts as the text that it is, or ends the run.

// form reads what an expansion does to the value of a variable. It returns nil for
// $NAME and ${NAME}. whole tells that the result stays one word.
func (t *textJob) form(p *syntax.ParamExp, quoted, whole bool, dir string) (form *approval.Form, ok bool) {
	bare := *p
	bare.Length, bare.Slice, bare.Repl, bare.Exp = false, nil, nil, nil
	if !plainParameter(&bare) {
		return nil, false
	}
	switch {
	case p.Length:
		return &approval.Form{Op: approval.FormLength}, p.Slice == nil && p.Repl == nil && p.Exp == nil
	case p.Slice != nil:
		return t.slice(p.Slice)
	case p.Repl != nil:
		return t.replace(p.Repl, quoted, dir)
	case p.Exp != nil:
		return t.expansion(p, quoted, whole, dir)
	}
	return nil, true
}

// elses are the forms that have a word for a value that is there or not, and the
// same forms where an empty value counts as none.
var elses = map[syntax.ParExpOperator]approval.Form{
	syntax.DefaultUnset: {Op: approval.FormElse}, syntax.DefaultUnsetOrNull: {Op: approval.FormElse, Null: true},
	syntax.AlternateUnset: {Op: approval.FormThen}, syntax.AlternateUnsetOrNull: {Op: approval.FormThen, Null: true},
	syntax.AssignUnset: {Op: approval.FormSet}, syntax.AssignUnsetOrNull: {Op: approval.FormSet, Null: true},
	syntax.ErrorUnset: {Op: approval.FormNeeds}, syntax.ErrorUnsetOrNull: {Op: approval.FormNeeds, Null: true},
}

// cuts are the forms that have a pattern.
var cuts = map[syntax.ParExpOperator]approval.Form{
	syntax.RemSmallPrefix: {Op: approval.FormFirst}, syntax.RemLargePrefix: {Op: approval.FormFirst, Most: true},
	syntax.RemSmallSuffix: {Op: approval.FormLast}, syntax.RemLargeSuffix: {Op: approval.FormLast, Most: true},
}

// cases are the forms that change letters, of bash alone.
var cases = map[syntax.ParExpOperator]approval.Form{
	syntax.UpperFirst: {Op: approval.FormUpper}, syntax.UpperAll: {Op: approval.FormUpper, Most: true},
	syntax.LowerFirst: {Op: approval.FormLower}, syntax.LowerAll: {Op: approval.FormLower, Most: true},
}

func (t *textJob) expansion(p *syntax.ParamExp, quoted, whole bool, dir string) (*approval.Form, bool) {
	word := p.Exp.Word
	if form, is := elses[p.Exp.Op]; is {
		if form.Word, is = t.instead(word, quoted, whole || form.Op == approval.FormNeeds || form.Op == approval.FormSet, dir); !is {
			return nil, false
		}
		if form.Op == approval.FormSet && approval.Positional(p.Param.Value) > 0 {
			return nil, false
		}
		if form.Op == approval.FormSet {
			// What it sets is looked at by others, who read it as it stands.
			return &form, literal(form.Word) && t.given(p.Param.Value, textOf(form.Word), true)
		}
		return &form, true
	}
	if form, is := cuts[p.Exp.Op]; is {
		form.Word, is = t.pattern(word, quoted, dir)
		return &form, is
	}
	form, is := cases[p.Exp.Op]
	return &form, is && t.grammar == bash && word == nil
}

// assigned returns what ${NAME:=WORD} sets, nil for another form.
func assigned(p *syntax.ParamExp) *syntax.Assign {
	if p.Param == nil || p.Exp == nil || elses[p.Exp.Op].Op != approval.FormSet {
		return nil
	}
	return &syntax.Assign{Name: p.Param, Value: p.Exp.Word}
}

// instead reads the word that stands in the place of a value. Shells part it where
// the value would be parted, so that an unquoted one holds no blanks and no pattern.
func (t *textJob) instead(word *syntax.Word, quoted, whole bool, dir string) (approval.Word, bool) {
	if word == nil || len(word.Parts) == 0 {
		return approval.Word{}, true
	}
	unclear := "'\"`\\$~{}<>()&|;!^"
	if !quoted && !whole {
		unclear += " \t\n*?[]"
	}
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(part.Value, unclear) {
				return nil, false
			}
		case *syntax.SglQuoted, *syntax.DblQuoted:
			if quoted {
				return nil, false // which quotes count in quotes is not the same to all
			}
		}
	}
	if quoted {
		word = &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: word.Parts}}}
	}
	parts, _, ok := t.parts(word, dir, !whole)
	return parts, ok
}

// pattern reads a pattern that a value is compared with. What comes out of a variable
// must be text without a sign of patterns, which the run tells.
func (t *textJob) pattern(word *syntax.Word, quoted bool, dir string) (approval.Word, bool) {
	if word == nil {
		return approval.Word{}, true
	}
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if !clearPattern(part.Value) || strings.Contains(part.Value, "[^") && t.grammar != bash {
				return nil, false
			}
		case *syntax.SglQuoted:
			if quoted {
				return nil, false
			}
		}
	}
	parts, _, ok := t.parts(word, dir, true)
	if !ok {
		return nil, false
	}
	for _, p := range parts {
		switch p.Kind {
		case approval.PartGlob:
			if _, ok := pathname.Read(p.Text); !ok {
				return nil, false
			}
		case approval.PartVar:
			if p.Form != nil || !p.Quoted && slices.ContainsFunc(t.values[p.Text], pathname.Signs) {
				return nil, false
			}
		case approval.PartOutput, approval.PartSum:
			return nil, false
		}
	}
	return parts, true
}

// clearPattern reports whether a piece of a pattern holds no sign that shells read in
// a way of their own, in quotes or without, and no backslash but before a sign that
// it takes the meaning from.
func clearPattern(piece string) bool {
	for i := 0; i < len(piece); i++ {
		switch c := piece[i]; {
		case c == '\\':
			if i++; i == len(piece) || strings.IndexByte("/.*?[]-:,", piece[i]) < 0 {
				return false
			}
		case strings.IndexByte("'\"`$~{}<>()&|;", c) >= 0:
			return false
		}
	}
	return true
}

// replace reads ${NAME/PATTERN/TEXT}, of bash.
func (t *textJob) replace(r *syntax.Replace, quoted bool, dir string) (*approval.Form, bool) {
	if t.grammar != bash || r.Orig == nil || len(r.Orig.Parts) == 0 {
		return nil, false
	}
	form := &approval.Form{Op: approval.FormReplace, Most: r.All}
	orig := &syntax.Word{Parts: append([]syntax.WordPart{}, r.Orig.Parts...)}
	if lit, is := orig.Parts[0].(*syntax.Lit); is && strings.IndexByte("#%", (lit.Value + " ")[0]) >= 0 {
		if r.All || len(lit.Value) == 1 && len(orig.Parts) == 1 {
			return nil, false // bash takes the sign for itself then, or changes nothing
		}
		if form.Op = approval.FormBegins; lit.Value[0] == '%' {
			form.Op = approval.FormEnds
		}
		rest := *lit
		rest.Value = lit.Value[1:]
		orig.Parts[0] = &rest
	}
	var ok bool
	if form.Word, ok = t.pattern(orig, quoted, dir); !ok || len(form.Word) == 0 {
		return nil, false
	}
	for _, p := range form.Word { // what has no length is matched by each version of bash in its own way
		if p.Kind == approval.PartGlob && strings.Contains(p.Text, "*") || p.Kind == approval.PartVar && !p.Quoted || p.Kind == approval.PartText && p.Text == "" && len(form.Word) == 1 {
			return nil, false
		}
	}
	form.With, ok = replacement(r.With, quoted)
	return form, ok
}

// replacement is a text that is put in the place of another, "" for none. Newer
// versions of bash read & and backslashes in it.
func replacement(word *syntax.Word, quoted bool) (string, bool) {
	if word == nil {
		return "", true
	}
	var b strings.Builder
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(part.Value, "'\"`\\$~{}<>()&|;") {
				return "", false
			}
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			if quoted || part.Dollar || strings.ContainsAny(part.Value, `&\`) {
				return "", false
			}
			b.WriteString(part.Value)
		default:
			return "", false
		}
	}
	return b.String(), true
}

// maxSlice bounds where a slice of a value begins, and how long it is.
const maxSlice = 1 << 20

// slice reads ${NAME:FROM} and ${NAME:FROM:COUNT}, of bash, where both are plain
// numbers.
func (t *textJob) slice(s *syntax.Slice) (*approval.Form, bool) {
	from, ok := plainCount(s.Offset)
	form := &approval.Form{Op: approval.FormSlice, From: from, Count: -1}
	if s.Length != nil {
		count, fine := plainCount(s.Length)
		form.Count, ok = count, ok && fine
	}
	return form, ok && t.grammar == bash
}

func plainCount(x syntax.ArithmExpr) (int, bool) {
	word, ok := x.(*syntax.Word)
	if !ok {
		return 0, false
	}
	lit := word.Lit()
	n, err := strconv.Atoi(lit)
	return n, err == nil && n >= 0 && n <= maxSlice && strconv.Itoa(n) == lit
}

// formed returns the values that a form may make of those that a variable may have.
func (t *textJob) formed(form *approval.Form, values []string, dir string) (made []string) {
	switch form.Op {
	case approval.FormElse, approval.FormThen, approval.FormSet:
		if form.Op != approval.FormThen {
			made = values
		}
		return append(made[:len(made):len(made)], t.open(nil, form.Word, dir).Maybe...)
	case approval.FormNeeds:
		return values
	}
	read, ok := t.plainPattern(form)
	if !ok {
		return nil
	}
	for _, value := range values {
		if len(value) > maxValue || (1+len(value))*len(form.With) > maxText || !t.spend(1+read.Steps(len(value))/perBytes) {
			return nil
		}
		if text, ok := form.Of(value, read); ok {
			made = append(made, text)
		}
	}
	return made
}

// plainPattern is the pattern of a form that the text holds whole.
func (t *textJob) plainPattern(form *approval.Form) (pathname.Pattern, bool) {
	pattern := ""
	for _, p := range form.Word {
		switch p.Kind {
		case approval.PartText:
			pattern += pathname.Escape(p.Text)
		case approval.PartGlob:
			pattern += p.Text
		default:
			return nil, false
		}
	}
	return pathname.Read(pattern)
}

// clear reports whether shells make the same of the values that a variable may have,
// as far as the text tells.
func (t *textJob) clear(name string, form *approval.Form) bool {
	if form == nil || form.Op == approval.FormThen {
		return true
	}
	pattern, ok := t.plainPattern(form)
	return !ok || !slices.ContainsFunc(t.values[name], func(value string) bool { return !t.bytes(len(value)) || !form.Clear(value, pattern) })
}
