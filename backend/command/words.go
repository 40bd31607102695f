package command

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/envnames"
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
	words, ok := t.braces(word)
	if !ok {
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

// maxBraces bounds what braces may become (plan-runner.md, ring 1).
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
			loose.WriteString(escaped.ReplaceAllString(part.Value, "_"))
		case *syntax.BraceExp:
			if slices.ContainsFunc(part.Elems, oddBraces) {
				return true
			}
			found = true
			loose.WriteByte('_')
		}
	}
	return oddList.MatchString(loose.String()) || found && oddSequence.MatchString(loose.String())
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
var escaped = regexp.MustCompile(`(?s)\\.`)

var oddList, oddSequence = regexp.MustCompile(`(?s)\{.*,.*\}`), regexp.MustCompile(`(?s)\{.*\.\..*\}`)

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
		part, ok := t.part(p, dir)
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

// home returns what $HOME and $PWD stand for: no request and no text may change
// them. PWD is the way by which a shell came, which is known as long as that
// held no link.
func (t *textJob) home(part syntax.WordPart, whole bool, dir string) (string, bool) {
	p, ok := part.(*syntax.ParamExp)
	if !ok || !plainParameter(p) {
		return "", false
	}
	text := ""
	switch p.Param.Value {
	case "HOME":
		text = t.Home
	case "PWD":
		if !t.linked {
			text = dir
		}
	}
	if text == "" || !whole && strings.ContainsAny(text, " \t\n*?[\\") {
		return "", false
	}
	return text, t.ring2
}

// part plans one expansion.
func (t *textJob) part(part syntax.WordPart, dir string) (approval.Part, bool) {
	if !t.ring2 {
		return approval.Part{}, false
	}
	switch part := part.(type) {
	case *syntax.ParamExp:
		if !plainParameter(part) || part.Param.Value != "?" && !t.mayRead(part.Param.Value) {
			return approval.Part{}, false
		}
		return approval.Part{Kind: approval.PartVar, Text: part.Param.Value}, true
	case *syntax.CmdSubst:
		if part.TempFile || part.ReplyVar || len(part.Stmts) == 0 {
			return approval.Part{}, false
		}
		t.feeds++
		defer func() { t.feeds-- }()
		node, ok := t.stmts(part.Stmts, &dir)
		return approval.Part{Kind: approval.PartOutput, Run: node, Word: ok && t.printsWord(node)}, ok
	}
	return approval.Part{}, false
}

// printsWord reports whether what a substitution runs prints one plain word, or
// a few: no option, and nothing that leads elsewhere. What it did print is
// judged before it is used.
func (t *textJob) printsWord(n *approval.Node) bool {
	if n.Op != approval.OpRun {
		return false
	}
	seg := &t.plan.Segments[n.Seg]
	if seg.Builtin != "" {
		return false
	}
	names := []string{path.Base(seg.Program.Path), path.Base(seg.Program.File.Path)}
	if read := t.profiled(seg, names...); read != nil {
		return len(read.findings) == 0 && read.prints
	}
	return wordPrinters[names[1]]
}

// wordPrinters are programs without a profile that print a word.
var wordPrinters = words("nproc whoami hostname uname arch id getconf basename")

// plainParameter reports whether an expansion is $NAME or ${NAME} and nothing
// more.
func plainParameter(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Flags == nil && !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Split == 0 && p.GlobSubst == 0 &&
		p.RcExpand == 0 && p.NestedParam == nil && p.Index == nil && len(p.Modifiers) == 0 && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// mayRead reports whether a text may use a variable: a name, no secret, and
// none that the shell makes up.
func (t *textJob) mayRead(name string) bool {
	class := envnames.Requested(name)
	return class != envnames.Malformed && class != envnames.Asks && !envnames.Secret(name) && !ofShell[name]
}

// ofShell are variables that a shell makes up, each shell its own.
var ofShell = words(`BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_COMPAT
	BASH_EXECUTION_STRING BASH_LINENO BASH_SOURCE BASH_SUBSHELL BASH_VERSINFO BASH_VERSION BASH_XTRACEFD COMP_CWORD COMP_LINE
	COPROC DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD HOSTNAME HOSTTYPE IFS LINENO MACHTYPE MAPFILE
	OPTARG OPTERR OPTIND OSTYPE PIPESTATUS PPID PS1 PS2 PS3 PS4 RANDOM REPLY SECONDS SHELLOPTS SHLVL SRANDOM UID _`)

// Limits on the values that an open word is tried with.
const (
	maxMaybe = 64   // how many
	maxValue = 4096 // bytes of one
)

// open says what is known of a word that only the run can tell. have is what
// is known of the other words that the same braces made.
func (t *textJob) open(have *approval.Open, parts approval.Word, dir string) *approval.Open {
	o := &approval.Open{Word: true}
	literal := true
	values := []string{""}
	for i, p := range parts {
		maybe := []string{p.Text}
		switch p.Kind {
		case approval.PartVar, approval.PartOutput:
			o.Many = o.Many || !p.Quoted && !p.Word
			if maybe = t.values[p.Text]; p.Text == "PWD" && dir != "" {
				maybe = []string{dir}
			}
			if p.Kind == approval.PartOutput || len(maybe) == 0 {
				maybe = []string{"x"} // any: what stands around it may still tell
			}
		case approval.PartGlob:
			o.Many = true
		case approval.PartText:
			if literal && i == 0 {
				o.Prefix = p.Text
			}
		}
		literal = literal && p.Kind == approval.PartText
		o.Word = o.Word && (p.Kind == approval.PartText || p.Word)
		if len(values)*len(maybe) > maxMaybe || len(values[0])+len(maybe[0]) > maxValue {
			t.complex("a word may have too many values, or too long ones")
			values, maybe = values[:1], []string{""}
		}
		var next []string
		for _, v := range values {
			for _, m := range maybe {
				next = append(next, v+m)
			}
		}
		values = next
		t.spend(len(next))
	}
	o.Maybe = values
	if have != nil {
		o.Maybe, o.Prefix, o.Many, o.Word = append(o.Maybe, have.Maybe...), "", true, false
	}
	return o
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
