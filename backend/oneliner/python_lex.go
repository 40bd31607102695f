package oneliner

import (
	"strings"
)

// pythonKind is what a token of Python is, as far as it matters here.
type pythonKind int

const (
	pythonNone pythonKind = iota
	pythonNewline
	pythonNumber
	pythonString
	pythonName // also a keyword
	pythonOp
)

type pythonToken struct {
	kind pythonKind
	// text is what a string holds between its quotes, else the token itself.
	text string
	// raw and formatted are the prefixes r and f of a string; joined tells that another
	// string stands beside it, to which Python joins it.
	raw, formatted, joined bool
	open                   int // the place of the bracket that a closing one belongs to
}

func (t pythonToken) is(op string) bool { return t.kind == pythonOp && t.text == op }

func (t pythonToken) opens() bool { return t.is("(") || t.is("[") || t.is("{") }

func (t pythonToken) closes() bool { return t.is(")") || t.is("]") || t.is("}") }

// ends reports whether a statement ends there.
func (t pythonToken) ends() bool {
	return t.kind == pythonNewline || t.is(";") || t.is(":") // of a suite, or inside a slice
}

// plain reports whether a string is the text that it holds.
func (t pythonToken) plain() bool {
	return !t.formatted && !t.joined && (t.raw || !strings.Contains(t.text, `\`)) && !strings.Contains(t.text, "\n")
}

// pythonOps are the operators, the longer ones first. What is not here, such as what
// decorates, refuses.
var pythonOps = []string{
	"**=", "//=", "<<=", ">>=", "**", "//", "<<", ">>", "->", ":=", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
	"(", ")", "[", "]", "{", "}", ",", ":", ".", ";", "=", "+", "-", "*", "/", "%", "<", ">", "&", "|", "^", "~",
}

// pythonTokens cuts a program into tokens, all versions of Python alike, or says why not.
func pythonTokens(text string) (list []pythonToken, reason string) {
	open := []int{} // the places of the brackets that are open
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c == '\t':
			i++
		case c == '\n':
			if i++; len(open) == 0 {
				list = append(list, pythonToken{kind: pythonNewline})
			}
		case strings.HasPrefix(text[i:], "\\\n"):
			i += 2
		case c == '#':
			end := i
			for end < len(text) && text[end] != '\n' {
				end++
			}
			i = end
		case isDigit(c) || c == '.' && i+1 < len(text) && isDigit(text[i+1]):
			end := pythonNumberEnd(text, i)
			if end < len(text) && (isLetter(text[end]) || text[end] >= 0x80) {
				return nil, unclear
			}
			list = append(list, pythonToken{kind: pythonNumber, text: text[i:end]})
			i = end
		case isLetter(c):
			name := word(text, i)
			if next := i + len(name); next < len(text) && (text[next] == '\'' || text[next] == '"') {
				t, end, ok := pythonStringAt(text, next, strings.ToLower(name))
				if !ok {
					return nil, unclear
				}
				list, i = pythonJoin(list, t), end
				continue
			}
			list = append(list, pythonToken{kind: pythonName, text: name})
			i += len(name)
		case c == '\'' || c == '"':
			t, end, ok := pythonStringAt(text, i, "")
			if !ok {
				return nil, unclear
			}
			list, i = pythonJoin(list, t), end
		default:
			op, from := "", 0
			for _, one := range pythonOps {
				if strings.HasPrefix(text[i:], one) {
					op = one
					break
				}
			}
			switch op {
			case "":
				return nil, unclear
			case "(", "[", "{":
				open = append(open, len(list))
			case ")", "]", "}":
				if len(open) == 0 {
					return nil, unclear
				}
				from, open = open[len(open)-1], open[:len(open)-1]
			}
			list = append(list, pythonToken{kind: pythonOp, text: op, open: from})
			i += len(op)
		}
	}
	return list, ""
}

// pythonNumberEnd is the place behind a number.
func pythonNumberEnd(text string, i int) int {
	if hex := strings.ToLower(text[i:min(i+2, len(text))]); hex == "0x" || hex == "0o" || hex == "0b" {
		i += 2
		for i < len(text) && (isDigit(text[i]) || text[i] == '_' || 'a' <= text[i]|0x20 && text[i]|0x20 <= 'f') {
			i++
		}
		return i
	}
	digits := func() {
		for i < len(text) && (isDigit(text[i]) || text[i] == '_') {
			i++
		}
	}
	if digits(); i < len(text) && text[i] == '.' {
		i++
		digits()
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		at := i + 1
		if at < len(text) && (text[at] == '+' || text[at] == '-') {
			at++
		}
		if at < len(text) && isDigit(text[at]) {
			i = at
			digits()
		}
	}
	if i < len(text) && text[i]|0x20 == 'j' {
		i++
	}
	return i
}

// pythonStringAt reads a string whose first quote is at i. Its end is the first such
// quotes without a backslash before them: of an f-string, the quotes in its fields end it
// in older versions, and braces that are not closed by then refuse it.
func pythonStringAt(text string, i int, prefix string) (t pythonToken, end int, ok bool) {
	t.kind = pythonString
	switch prefix {
	case "", "b", "u":
	case "r", "br", "rb":
		t.raw = true
	case "f":
		t.formatted = true
	case "fr", "rf":
		t.raw, t.formatted = true, true
	default:
		return t, 0, false
	}
	quotes := text[i : i+1]
	if strings.HasPrefix(text[i:], strings.Repeat(quotes, 3)) {
		quotes = text[i : i+3]
	}
	from := i + len(quotes)
	for at := from; at < len(text); at++ {
		switch {
		case text[at] == '\\':
			at++
		case text[at] == '\n' && len(quotes) == 1:
			return t, 0, false
		case strings.HasPrefix(text[at:], quotes):
			t.text = text[from:at]
			return t, at + len(quotes), true
		}
	}
	return t, 0, false
}

// pythonJoin appends a string, and notes where it stands beside another one.
func pythonJoin(list []pythonToken, t pythonToken) []pythonToken {
	if n := len(list) - 1; n >= 0 && list[n].kind == pythonString {
		list[n].joined, t.joined = true, true
	}
	return append(list, t)
}

// fields checks what stands in the braces of an f-string.
func (c *pythonCheck) fields(text string) string {
	if c.depth++; c.depth > 3 {
		return deep
	}
	defer func() { c.depth-- }()
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "{{"), strings.HasPrefix(text[i:], "}}"):
			i++
		case text[i] == '}':
			return unclear
		case text[i] == '{':
			end, reason := c.field(text, i+1)
			if reason != "" {
				return reason
			}
			i = end
		}
	}
	return ""
}

// field checks the expression of a field that begins at i, and returns where its closing
// brace is.
func (c *pythonCheck) field(text string, i int) (end int, reason string) {
	from, depth, quote := i, 0, byte(0)
	for ; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\\' || b == '#' || b == '\n' || strings.HasPrefix(text[i:], "\"\"\"") || strings.HasPrefix(text[i:], "'''"):
			return 0, unclear
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '\'' || b == '"':
			quote = b
		case strings.IndexByte("([{", b) >= 0:
			depth++
		case depth > 0 && strings.IndexByte(")]}", b) >= 0:
			depth--
		case depth > 0:
		case strings.HasPrefix(text[i:], "!="), strings.HasPrefix(text[i:], "=="), strings.HasPrefix(text[i:], "<="), strings.HasPrefix(text[i:], ">="):
			i++
		case b == '!' || b == ':' || b == '}' || b == '=':
			tokens, why := pythonTokens(text[from:i])
			if why != "" || len(tokens) == 0 {
				return 0, unclear
			}
			if len(until(tokens, ":")) < len(tokens) {
				return 0, unclear
			}
			for _, t := range tokens {
				if t.is(":=") || t.is(";") || t.text == "lambda" || t.text == "yield" || t.text == "import" {
					return 0, unclear
				}
			}
			if why := c.bind(tokens); why != "" {
				return 0, why
			}
			if why := c.tokens(tokens); why != "" {
				return 0, why
			}
			end := strings.IndexByte(text[i:], '}')
			if end < 0 || strings.ContainsAny(text[i:i+end], "{\\") {
				return 0, unclear
			}
			return i + end, ""
		}
	}
	return 0, unclear
}
