package command

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pathname"
)

// value is what a written word becomes, as far as the text tells.
type value struct {
	// final are the words, where they are known.
	final []string
	// open is set where only the run can tell; written is the word then.
	open    *approval.Open
	written string
	// words are the parts, for the run: more than one behind braces.
	words []approval.Word
	// literal tells that it is one word, as it stands.
	literal bool
	// expands tells that an expansion is in it, known or not.
	expands bool
}

// word evaluates an operand of a command that runs in dir. It reports false
// for what is not understood.
func (t *textJob) word(word *syntax.Word, dir string) (value, bool) {
	if t.strict {
		text, ok := t.strictly(word)
		return value{final: []string{text}, words: []approval.Word{{{Kind: approval.PartText, Text: text}}}, literal: true}, ok
	}
	if v, ok := t.parameters(word); ok && t.ring2 {
		return v, true
	}
	words, ok := t.braces(word)
	if !ok {
		return value{}, false
	}
	if !t.tick(len(words)) {
		return value{}, false
	}
	v := value{literal: len(words) == 1, expands: len(words) > 1, written: t.text[word.Pos().Offset():word.End().Offset()]}
	for _, one := range words {
		parts, expands, ok := t.parts(one, dir, true)
		if !ok {
			return value{}, false
		}
		v.expands = v.expands || expands
		if len(parts) == 0 {
			continue // nothing stands between two commas, not even quotes
		}
		v.words = append(v.words, parts)
		switch {
		case len(parts) == 1 && parts[0].Kind == approval.PartText:
			v.final = append(v.final, parts[0].Text)
		case len(parts) == 1 && parts[0].Kind == approval.PartGlob:
			if !pathname.Portable(parts[0].Text) && t.grammar != bash {
				return value{}, false
			}
			names, ok := t.names(parts[0].Text, dir)
			if !ok || t.made[dir] { // what will be there is not there yet
				return value{}, false
			}
			v.final, v.literal = append(v.final, names...), false
		default:
			v.open, v.literal = t.open(v.open, parts, dir), false
		}
	}
	if v.open != nil {
		v.open.Many = v.open.Many || len(words) > 1
		v.final = nil
	}
	return v, true
}

// one evaluates a word that stays one word, whatever is in it: the value of an
// assignment, or the text behind <<<.
func (t *textJob) one(word *syntax.Word, dir string) (approval.Word, bool) {
	if word == nil {
		return nil, true
	}
	if t.strict {
		text, ok := t.strictly(word)
		return approval.Word{{Kind: approval.PartText, Text: text}}, ok
	}
	parts, _, ok := t.parts(word, dir, false)
	return parts, ok
}

// literal reports whether a word is text and nothing else.
func literal(word approval.Word) bool {
	return len(word) == 0 || len(word) == 1 && word[0].Kind == approval.PartText
}

// static gathers the literal pieces of a word that stand side by side.
type static struct {
	text    strings.Builder
	pattern strings.Builder // the same with what counts in patterns behind backslashes
	globs   bool
	has     bool // something was there, be it empty quotes
}

func (s *static) plain(c byte) {
	s.has = true
	s.text.WriteByte(c)
	s.pattern.WriteString(pathname.Escape(string([]byte{c})))
}

func (s *static) all(text string) {
	s.has = true
	for i := range len(text) {
		s.plain(text[i])
	}
}

func (s *static) special(c byte) {
	s.has = true
	s.globs = s.globs || c == '*' || c == '?' || c == '['
	s.text.WriteByte(c)
	s.pattern.WriteByte(c)
}

// end closes the stretch.
func (s *static) end(parts approval.Word) approval.Word {
	switch {
	case s.globs:
		parts = append(parts, approval.Part{Kind: approval.PartGlob, Text: s.pattern.String()})
	case s.has:
		parts = append(parts, approval.Part{Kind: approval.PartText, Text: s.text.String()})
	}
	*s = static{}
	return parts
}

// parts takes a word apart. fields tells that it may become several words and
// a pattern. expands reports whether an expansion is in it.
func (t *textJob) parts(word *syntax.Word, dir string, fields bool) (parts approval.Word, expands, ok bool) {
	var s static
	add := func(p syntax.WordPart, quoted bool) bool {
		expands = true
		if home, ok := t.home(p, quoted || !fields, dir); ok {
			s.all(home)
			return true
		}
		if quoted || !fields {
			if text, ok := t.constant(p, dir); ok {
				s.all(text)
				return t.bytes(len(text))
			}
		}
		part, ok := t.part(p, quoted, quoted || !fields, dir)
		if !ok || !t.spend(1) {
			return false
		}
		part.Quoted = quoted || !fields
		parts = append(s.end(parts), part)
		return true
	}
	for i, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if !t.unquoted(&s, part.Value, i == 0, i == 0 && len(word.Parts) == 1, fields) {
				return nil, false, false
			}
		case *syntax.SglQuoted:
			text := part.Value
			if part.Dollar {
				if text, ok = ansi(text); !ok || t.grammar != bash {
					return nil, false, false
				}
			}
			s.all(text)
		case *syntax.DblQuoted:
			if part.Dollar && t.grammar != bash {
				return nil, false, false
			}
			s.has = true
			for _, inner := range part.Parts {
				if lit, isLit := inner.(*syntax.Lit); isLit {
					if t.grammar != bash && strings.Contains(lit.Value, "$[") {
						return nil, false, false
					}
					var b strings.Builder
					quoted(&b, lit.Value)
					s.all(b.String())
				} else if !add(inner, true) {
					return nil, false, false
				}
			}
		default:
			if !add(part, false) {
				return nil, false, false
			}
		}
	}
	return s.end(parts), expands, true
}

// unquoted adds a piece that stands without quotes. first tells that it begins
// the word, and only that it is all of it.
func (t *textJob) unquoted(s *static, piece string, first, only, fields bool) bool {
	if only && (piece == "[" || piece == "]") {
		s.all(piece) // the command, not a pattern
		return true
	}
	if first && (piece == "~" && only || strings.HasPrefix(piece, "~/")) {
		s.all(t.Home)
		piece = piece[1:]
	}
	if first && (strings.HasPrefix(piece, "~") || strings.HasPrefix(piece, "=") && t.noShell && !(only && piece == "=")) {
		return false
	}
	for i := 0; i < len(piece); i++ {
		c := piece[i]
		switch {
		case c == '\\':
			if i++; i == len(piece) {
				return false
			}
			if piece[i] != '\n' {
				s.plain(piece[i])
			}
		case c == '$' && t.grammar != bash:
			return false // $'…', $"…" and $[…] mean more to bash
		case c == '~' && i > 0 && (piece[i-1] == '=' && fields || piece[i-1] == ':'):
			return false // bash expands it after = and : in some words
		case fields && strings.IndexByte("*?[]-!^", c) >= 0:
			s.special(c)
		default:
			s.plain(c)
		}
	}
	return true
}

// ansi decodes the text of $'…', as bash does.
func ansi(text string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		c := text[i]
		if j := strings.IndexByte(`abeEfnrtv\'"?`, c); j >= 0 {
			b.WriteByte("\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[j])
			continue
		}
		base, most := 8, 3
		switch {
		case c == 'x':
			base, most = 16, 2
		case c == 'u':
			base, most = 16, 4
		case c == 'U':
			base, most = 16, 8
		case c < '0' || c > '7':
			return "", false // \c and what bash leaves as it is
		default:
			i--
		}
		n, digits := 0, 0
		for digits < most && i+1 < len(text) && digit(text[i+1], base) >= 0 {
			n = n*base + digit(text[i+1], base)
			digits++
			i++
		}
		switch {
		case digits == 0 || n == 0 || n > utf8.MaxRune || base == 8 && n > 255:
			return "", false
		case c == 'u' || c == 'U':
			b.WriteRune(rune(n))
		default:
			b.WriteByte(byte(n))
		}
	}
	return b.String(), utf8.ValidString(b.String())
}

func digit(c byte, base int) int {
	i := strings.IndexByte("0123456789abcdef", c|0x20)
	if c >= '0' && c <= '9' {
		i = int(c - '0')
	}
	if i >= base {
		return -1
	}
	return i
}
