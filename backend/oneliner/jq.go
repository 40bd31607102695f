package oneliner

import "strings"

// JQ returns "" when a program of jq, or of yq, surely does nothing but read
// its input and print, and else why not, as a clause that follows "the
// program of jq".
func JQ(program string) string {
	if reason := legible(program); reason != "" {
		return reason
	}
	if strings.HasSuffix(program, ".yq") {
		return reads // where there is a file of this name, yq takes its program from it
	}
	p := jqProgram{text: program, defined: map[string]bool{}}
	for p.pos < len(p.text) {
		if reason := p.token(); reason != "" {
			return reason
		}
	}
	if len(p.open) > 0 || p.apart && p.words {
		return unclear
	}
	return ""
}

// yqWords are what a text must not hold that yq may take for program. yq ends
// no name where jq does: to it, notload is not and load.
var yqWords = []string{"load", "eval", "system", "envsubst", "env(", "exec"}

func hasYqWord(text string) bool {
	for _, w := range yqWords {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// jqProgram reads a program as jq does, and keeps an eye on what yq would see.
type jqProgram struct {
	text    string
	pos     int
	before  string // the token before
	open    []byte // open brackets: ( [ {, i for an if, and " for a \( in a string
	strings []jqString
	defined map[string]bool // functions that the program defines, and their parameters
	// path: yq reads a path here, which goes on for longer than a field of jq.
	path bool
	// apart: yq may see another string than jq does. words: a string holds a
	// word of yq's. One of them is harmless.
	apart, words bool
}

// jqString is what is known of a string that is not at its end.
type jqString struct{ escape, words bool }

func (p *jqProgram) peek() byte {
	if p.pos == len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

// take moves on, and notes what the token was.
func (p *jqProgram) take(n int) string {
	p.before = p.text[p.pos : p.pos+n]
	p.pos += n
	for i := range n {
		switch c := p.before[i]; {
		case c == '.':
			p.path = true
		case strings.IndexByte(" ;}{:[],|()=\n", c) >= 0:
			p.path = false
		}
	}
	return ""
}

func (p *jqProgram) token() string {
	c := p.text[p.pos]
	switch {
	case c == ' ' || c == '\t' || c == '\n':
		before := p.before
		p.take(1)
		p.before = before
		return ""
	case c == '#':
		return p.comment()
	case c == '"':
		return p.beginString()
	case c == '.':
		return p.dot()
	case isDigit(c):
		return p.number()
	case isLetter(c):
		return p.name()
	case c == '$':
		return p.variable()
	case c == '@':
		name := word(p.text, p.pos+1)
		if !jqFormats()[name] {
			return unclear
		}
		return p.take(1 + len(name))
	case strings.IndexByte("([{", c) >= 0:
		if len(p.open) == maxDepth {
			return deep
		}
		p.open = append(p.open, c)
		return p.take(1)
	case strings.IndexByte(")]}", c) >= 0:
		return p.shut(c)
	case strings.IndexByte("|,:;=<>+-*/%?", c) >= 0:
		return p.take(1)
	case strings.HasPrefix(p.text[p.pos:], "!="):
		return p.take(2)
	}
	return unclear
}

// top returns the innermost bracket.
func (p *jqProgram) top() byte {
	if len(p.open) == 0 {
		return 0
	}
	return p.open[len(p.open)-1]
}

func (p *jqProgram) shut(c byte) string {
	top := p.top()
	if top == '"' && c == ')' {
		p.open = p.open[:len(p.open)-1]
		p.take(1)
		return p.str()
	}
	if !pair(top, c) {
		return unclear
	}
	p.open = p.open[:len(p.open)-1]
	return p.take(1)
}

// comment reads a comment. Newer versions of jq go on behind a backslash, and
// to yq a comment may be the rest of a path, and its brackets count within a
// string.
func (p *jqProgram) comment() string {
	line, _, _ := strings.Cut(p.text[p.pos:], "\n")
	if strings.Contains(line, `\`) || hasYqWord(line) || len(p.strings) > 0 {
		return unclear
	}
	p.apart = p.apart || strings.Contains(line, `"`)
	p.pos += len(line)
	return ""
}

// dot reads a field, a number, or dots.
func (p *jqProgram) dot() string {
	n := 1
	for p.pos+n < len(p.text) && p.text[p.pos+n] == '.' {
		n++
	}
	if n > 3 {
		return unclear
	}
	rest := p.text[p.pos+n:]
	field := word(rest, 0)
	switch {
	case field == "":
		return p.take(n)
	case n > 1:
		return unclear // ..env is no field: the name counts
	case isDigit(field[0]):
		return p.number()
	}
	return p.take(n + len(field))
}

// number reads a number. To some versions of jq the dot of 1.env belongs to
// the number, and env is the function.
func (p *jqProgram) number() string {
	i, dots := p.pos, 0
	for i < len(p.text) && (isDigit(p.text[i]) || p.text[i] == '.') {
		if p.text[i] == '.' {
			dots++
		}
		i++
	}
	if e := i; e < len(p.text) && p.text[e]|0x20 == 'e' {
		e++
		if e < len(p.text) && (p.text[e] == '+' || p.text[e] == '-') {
			e++
		}
		if e < len(p.text) && isDigit(p.text[e]) {
			i = e
			for i < len(p.text) && isDigit(p.text[i]) {
				i++
			}
		}
	}
	if dots > 1 || i < len(p.text) && (isLetter(p.text[i]) || p.text[i] == '.') {
		return unclear
	}
	return p.take(i - p.pos)
}

// variable reads a variable. Some versions of jq take a blank behind the $;
// we do not.
func (p *jqProgram) variable() string {
	name := word(p.text, p.pos+1)
	if name == "" || isDigit(name[0]) || strings.HasPrefix(p.text[p.pos+1+len(name):], "::") {
		return unclear
	}
	if name == "ENV" || name == "__prog_args" {
		return jqRefused[name]
	}
	return p.take(1 + len(name))
}

func (p *jqProgram) name() string {
	name := word(p.text, p.pos)
	after := strings.TrimLeft(p.text[p.pos+len(name):], " \t\n")
	if strings.HasPrefix(after, "::") {
		return unclear
	}
	// Behind { and , of an object stands a key, and a comma within a value has
	// brackets of its own around it.
	key := p.top() == '{' && (p.before == "{" || p.before == ",") && after != "" && strings.IndexByte(":,}", after[0]) >= 0
	sure := key && after[0] == ':'
	switch {
	case sure && name == "env":
		return p.take(len(name))
	case hasYqWord(name) || !sure && jqRefused[name] != "" || strings.HasSuffix(name, "env") && !sure:
		if reason := jqRefused[name]; reason != "" {
			return reason
		}
		if strings.HasPrefix(name, "load") {
			return reads
		}
		return unclear
	case key:
	case name == "def":
		return p.define()
	case name == "if":
		if len(p.open) == maxDepth {
			return deep
		}
		p.open = append(p.open, 'i')
	case name == "end":
		if p.top() != 'i' {
			return unclear
		}
		p.open = p.open[:len(p.open)-1]
	case !jqNames()[name] && !p.defined[name]:
		return calls
	}
	return p.take(len(name))
}

// define reads a definition up to the colon, and notes the names it gives.
func (p *jqProgram) define() string {
	p.take(len("def"))
	head, _, found := strings.Cut(p.text[p.pos:], ":")
	if !found || strings.ContainsAny(head, "#\"\\") {
		return unclear
	}
	name, parameters, _ := strings.Cut(strings.TrimRight(head, ") \t\n"), "(")
	for _, n := range append([]string{name}, strings.Split(parameters, ";")...) {
		n = strings.TrimPrefix(strings.Trim(n, " \t\n"), "$")
		if n == "" && parameters == "" {
			continue
		}
		if n == "" || word(n, 0) != n || isDigit(n[0]) || hasYqWord(n) || strings.HasSuffix(n, "env") || jqRefused[n] != "" {
			return unclear
		}
		p.defined[n] = true
	}
	return p.take(len(head))
}
