package oneliner

// Awk returns "" when a program of awk surely does nothing but read its input
// and print, and else why not, as a clause that follows "the program of awk".
func Awk(program string) string {
	if reason := legible(program); reason != "" {
		return reason
	}
	if halved(program) {
		return unclear
	}
	lexer := awkLexer{text: program}
	if reason := lexer.lex(); reason != "" {
		return reason
	}
	check := awkCheck{own: awkOwn(lexer.tokens), printing: -1}
	for _, t := range lexer.tokens {
		if reason := check.token(t); reason != "" {
			return reason
		}
		check.before = t
	}
	if len(check.open) > 0 {
		return unclear
	}
	return ""
}

// awkOwn returns the names that are the program's own: the functions that it
// defines, and the variables, which stand somewhere without a parenthesis
// behind them. An awk that has a function of the name runs nothing of it.
func awkOwn(tokens []awkToken) map[string]bool {
	names := map[string]bool{}
	for i, t := range tokens {
		if t.kind == awkName && (!t.called || i > 0 && isFunction(tokens[i-1])) {
			names[t.text] = true
		}
	}
	return names
}

func isFunction(t awkToken) bool {
	return t.kind == awkKeyword && (t.text == "function" || t.text == "func")
}

// awkCheck looks at one token after the other.
type awkCheck struct {
	own  map[string]bool
	open []byte // the open brackets
	// printing is how many brackets were open at the print whose list we are
	// in, or -1. There, and outside of further brackets, > is output.
	printing int
	before   awkToken
}

func (c *awkCheck) token(t awkToken) string {
	switch t.kind {
	case awkNewline:
		return c.newline()
	case awkKeyword:
		if t.text == "print" || t.text == "printf" {
			if c.printing >= 0 {
				return unclear
			}
			c.printing = len(c.open)
		}
	case awkBuiltin:
		if !t.called && t.text != "length" {
			return unclear
		}
	case awkName:
		if t.called && !c.own[t.text] {
			return calls
		}
	case awkOp:
		return c.op(t)
	}
	return ""
}

// newline ends a print where it may. Where a line ends in an operator, the
// print goes on (to busybox, in is one too), and within brackets no awk takes
// a line's end but after a few of them.
func (c *awkCheck) newline() string {
	switch b := c.before; {
	case b.kind == awkNewline:
	case isCondition(b), b.kind == awkKeyword && b.text == "in":
		return unclear
	case b.kind == awkOp && (b.text == "," || b.text == "&&" || b.text == "||"):
	case len(c.open) > 0 && c.open[len(c.open)-1] != '{':
		return unclear
	case b.kind != awkOp, b.text == ")", b.text == "]", b.text == "++", b.text == "--":
		if c.printing == len(c.open) {
			c.printing = -1
		}
	}
	return ""
}

func (c *awkCheck) op(t awkToken) string {
	list := c.printing == len(c.open)
	switch t.text {
	case ">>":
		return writes
	case ">", ">=", "||":
		if list && t.text == "||" {
			return unclear // to busybox, the first half is a pipe
		}
		if list || c.printing >= 0 && c.open[len(c.open)-1] == '[' {
			return writes
		}
	case ";":
		if c.printing >= 0 && !list {
			return unclear
		}
		c.printing = -1
	case "(", "[", "{":
		if len(c.open) == maxDepth {
			return deep
		}
		if t.text == "{" && c.printing >= 0 {
			return unclear
		}
		c.open = append(c.open, t.text[0])
	case ")", "]", "}":
		n := len(c.open) - 1
		if n < 0 || !pair(c.open[n], t.text[0]) {
			return unclear
		}
		c.open = c.open[:n]
		if c.printing > n {
			c.printing = -1
		}
	}
	return ""
}

// pair reports whether the one bracket closes the other.
func pair(open, shut byte) bool {
	return open == '(' && shut == ')' || open == '[' && shut == ']' || open == '{' && shut == '}'
}
