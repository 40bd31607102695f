package oneliner

import "strings"

// awkKind is what a token of awk is, as far as it matters here.
type awkKind int

const (
	awkNewline awkKind = iota
	awkNumber
	awkString
	awkRegex
	awkName    // a variable, or a function with a parenthesis behind it
	awkKeyword // print, if, BEGIN …
	awkBuiltin // a function that awk has
	awkOp
)

type awkToken struct {
	kind awkKind
	text string
	// called: a parenthesis follows. There may be blanks before it: to a
	// builtin that is a call all the same.
	called bool
	// condition: it closes what follows if, while, for or switch.
	condition bool
}

// awkKeywords may stand before a parenthesis and call nothing.
var awkKeywords = set(`BEGIN END BEGINFILE ENDFILE function func print printf
	if else while do for in switch case default break continue next nextfile
	exit return delete`)

// awkBuiltins are the functions that compute and do nothing else.
var awkBuiltins = set(`length substr index split sub gsub match sprintf sin cos
	atan2 exp log sqrt int rand srand tolower toupper strftime systime mktime
	gensub asort asorti patsplit strtonum and or xor lshift rshift compl close
	fflush typeof isarray`)

// awkRefused are the names that refuse a program wherever they stand, also
// where the program gives them a meaning of its own.
var awkRefused = map[string]string{
	"system":     starts,
	"getline":    reads,
	"ARGV":       operands,
	"ARGC":       operands,
	"ARGIND":     operands,
	"ENVIRON":    environment,
	"PROCINFO":   environment,
	"SYMTAB":     indirect,
	"FUNCTAB":    indirect,
	"BINMODE":    unclear,
	"LINT":       unclear,
	"TEXTDOMAIN": unclear,
}

// awkPlain are uses of such names that do nothing else: the next line of the
// input, into a variable or not, and the order in which gawk goes through arrays.
var awkPlain = expression(`^(getline([ \t]+[A-Za-z_]\w*)?[ \t]*([;})\n]|$|(>|>=|==|!=)[ \t]*[0-9])|PROCINFO\["sorted_in"\][ \t]*=[ \t]*"@[a-z_]+")`)

// awkOps are the operators, the longer ones first. What is not here, such as
// a pipe, an indirect call, or a part of another file, refuses.
var awkOps = []string{
	"**=", "**", "*=", "++", "+=", "--", "-=", "%=", "^=", "==", "!=", "!~", "<=", ">>", ">=", "&&", "||",
	"*", "+", "-", "%", "^", "=", "!", "<", ">", "~", "?", ":", ",", ";", "(", ")", "[", "]", "{", "}", "$",
}

// awkBeforeRegex are the operators and keywords after which every awk begins
// a regular expression at a slash.
var awkBeforeRegex = set(`( , { } ; ! ~ !~ && || = == != ? : print return else do exit`)

// awkLexer cuts a program into tokens.
type awkLexer struct {
	text   string
	pos    int
	tokens []awkToken
	// open says of each open parenthesis whether a condition is in it.
	open []bool
}

func (l *awkLexer) lex() string {
	for l.pos < len(l.text) {
		if reason := l.next(); reason != "" {
			return reason
		}
	}
	return ""
}

func (l *awkLexer) next() string {
	c := l.text[l.pos]
	switch {
	case c == ' ' || c == '\t':
		l.pos++
	case c == '\n':
		l.add(awkNewline, 1)
	case strings.HasPrefix(l.text[l.pos:], "\\\n"):
		l.pos += 2
	case c == '#':
		return l.comment()
	case c == '"':
		return l.str()
	case c == '/':
		return l.slash()
	case isDigit(c) || c == '.':
		return l.number()
	case isLetter(c):
		return l.name()
	case c == '|' && !strings.HasPrefix(l.text[l.pos:], "||"):
		return starts
	default:
		return l.op()
	}
	return ""
}

func (l *awkLexer) add(kind awkKind, n int) {
	l.tokens = append(l.tokens, awkToken{kind: kind, text: l.text[l.pos : l.pos+n]})
	l.pos += n
}

func (l *awkLexer) comment() string {
	line, _, _ := strings.Cut(l.text[l.pos:], "\n")
	if strings.HasSuffix(line, `\`) {
		return unclear
	}
	l.pos += len(line)
	return ""
}

func (l *awkLexer) str() string {
	for i := l.pos + 1; i < len(l.text); i++ {
		switch l.text[i] {
		case '\n':
			return unclear
		case '\\':
			i++
			if i < len(l.text) && l.text[i] == '\n' {
				return unclear
			}
		case '"':
			l.add(awkString, i+1-l.pos)
			return ""
		}
	}
	return unclear
}

// number reads a number that every awk reads so. 0xaPROCINFO is one name less
// to gawk than to others, so nothing of a name may follow.
func (l *awkLexer) number() string {
	i, digits, dots := l.pos, 0, 0
	for i < len(l.text) && (isDigit(l.text[i]) || l.text[i] == '.') {
		if l.text[i] == '.' {
			dots++
		} else {
			digits++
		}
		i++
	}
	if e := i; digits > 0 && e < len(l.text) && l.text[e]|0x20 == 'e' {
		e++
		if e < len(l.text) && (l.text[e] == '+' || l.text[e] == '-') {
			e++
		}
		if e < len(l.text) && isDigit(l.text[e]) {
			i = e
			for i < len(l.text) && isDigit(l.text[i]) {
				i++
			}
		}
	}
	if digits == 0 || dots > 1 || i < len(l.text) && (isLetter(l.text[i]) || l.text[i] == '.') {
		return unclear
	}
	l.add(awkNumber, i-l.pos)
	return ""
}

func (l *awkLexer) name() string {
	name := word(l.text, l.pos)
	if reason := awkRefused[name]; reason != "" && !awkPlain().MatchString(l.text[l.pos:]) {
		return reason
	}
	after := l.pos + len(name)
	if after < len(l.text) && (name == "_" && l.text[after] == '"' || strings.HasPrefix(l.text[after:], "::")) {
		return unclear // a text to be translated, a name of another name space
	}
	kind := awkName
	switch {
	case awkKeywords()[name]:
		kind = awkKeyword
	case awkBuiltins()[name]:
		kind = awkBuiltin
	}
	l.add(kind, len(name))
	after = l.behindBlanks(after)
	l.tokens[len(l.tokens)-1].called = after < len(l.text) && l.text[after] == '('
	return ""
}

// behindBlanks also skips a line's end that a backslash takes away.
func (l *awkLexer) behindBlanks(i int) int {
	for {
		i = skipBlanks(l.text, i)
		if !strings.HasPrefix(l.text[i:], "\\\n") {
			return i
		}
		i += 2
	}
}

// slash tells a division from a regular expression by what stands before it,
// and gives up where an awk decides otherwise: mawk looks at one token only,
// others at the grammar.
func (l *awkLexer) slash() string {
	i := len(l.tokens)
	for i > 0 && l.tokens[i-1].kind == awkNewline {
		i--
	}
	lines := len(l.tokens) - i
	var before awkToken
	if i > 0 {
		before = l.tokens[i-1]
	}
	switch {
	case before.condition:
		return unclear
	case i == 0, lines > 0, awkBeforeRegex()[before.text] && (before.kind == awkOp || before.kind == awkKeyword):
		end, ok := regexEnd(l.text, l.pos+1, '/', true)
		if !ok {
			return unclear
		}
		l.add(awkRegex, end+1-l.pos)
		return ""
	case before.kind == awkNumber, before.kind == awkString, before.kind == awkRegex, before.kind == awkName,
		before.text == ")", before.text == "]":
		n := 1
		if strings.HasPrefix(l.text[l.pos:], "/=") {
			n = 2
			if before.kind != awkName && before.text != "]" && !(before.kind == awkNumber && i > 1 && l.tokens[i-2].text == "$") {
				return unclear // nothing that can be set: who knows
			}
		}
		l.add(awkOp, n)
		return ""
	}
	return unclear
}

func (l *awkLexer) op() string {
	for _, op := range awkOps {
		if !strings.HasPrefix(l.text[l.pos:], op) {
			continue
		}
		switch op {
		case "(":
			if len(l.open) == maxDepth {
				return deep
			}
			l.open = append(l.open, len(l.tokens) > 0 && isCondition(l.tokens[len(l.tokens)-1]))
			l.add(awkOp, 1)
		case ")":
			n := len(l.open)
			if n == 0 {
				return unclear
			}
			l.add(awkOp, 1)
			l.tokens[len(l.tokens)-1].condition = l.open[n-1]
			l.open = l.open[:n-1]
		default:
			l.add(awkOp, len(op))
		}
		return ""
	}
	return unclear
}

func isCondition(t awkToken) bool {
	return t.kind == awkKeyword && (t.text == "if" || t.text == "while" || t.text == "for" || t.text == "switch")
}
