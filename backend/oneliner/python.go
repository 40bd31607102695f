package oneliner

import (
	"slices"
	"strings"
)

// Python returns the files that a program of Python opens to read, where it surely
// does nothing beside that, reading its input and printing; and else why not, as a
// clause that follows "the program of python".
//
// It follows no values. Every name is one that the program itself gives a value, or a
// function that only computes; every attribute is of a list of which none, on anything
// that can be reached by these, writes, starts, or leads to the names of a module. So
// nothing is allowed that has a file, a process or an environment behind it, but open
// with a literal name and a mode that reads.
//
// Which modules are imported is checked by name. That these are Python's own, and no
// files of the folder where it runs, is for the caller to see.
func Python(program string) (files []string, reason string) {
	if reason := legible(program); reason != "" {
		return nil, reason
	}
	if cookie(program) || swallowed().MatchString(program) {
		return nil, unclear
	}
	tokens, reason := pythonTokens(program)
	if reason != "" {
		return nil, reason
	}
	c := pythonCheck{own: map[string]bool{}}
	if reason := c.bind(tokens); reason != "" {
		return nil, reason
	}
	if reason := c.tokens(tokens); reason != "" {
		return nil, reason
	}
	if c.typed && c.renamed {
		return nil, calls
	}
	return c.files, ""
}

// cookie reports whether a program may say, in its first two lines, how the rest is read.
// Older versions look for that in a text that is open there too.
func cookie(program string) bool {
	lines := strings.SplitN(program, "\n", 3)
	return slices.ContainsFunc(lines[:min(2, len(lines))], func(line string) bool {
		line = strings.TrimLeft(line, " \t")
		return strings.HasPrefix(line, "#") && strings.Contains(line, "coding")
	})
}

// swallowed is a backslash or a brace that may be the second half of a character where the
// locale is not UTF-8, such as GBK or SJIS, and would mean something if it were not.
var swallowed = expression(`[^\x00-\x7f](\\|\}|\{\{)`)

// pythonCheck looks at the tokens of a program, and at those in its f-strings.
type pythonCheck struct {
	own   map[string]bool // the names that it gives values
	files []string
	depth int // of f-strings in each other
	// typed is set by a class that is shown. renamed is set by a name of what shows it, or
	// of type, where it is not called: it may get another meaning there.
	typed, renamed bool
}

// pythonCall is an open bracket, with the function that it calls by a plain name.
type pythonCall struct {
	open   byte
	callee string
}

func (c *pythonCheck) tokens(list []pythonToken) string {
	var open []pythonCall
	for i := 0; i < len(list); i++ {
		t := list[i]
		before, after := at(list, i-1), at(list, i+1)
		switch t.kind {
		case pythonName:
			if reason := c.name(list, i, open); reason != "" {
				return reason
			}
		case pythonString:
			if t.formatted {
				if reason := c.fields(t.text); reason != "" {
					return reason
				}
			}
		case pythonOp:
			switch t.text {
			case "(", "[", "{":
				if len(open) == maxDepth {
					return deep
				}
				callee := ""
				if t.text == "(" && before.kind == pythonName && at(list, i-2).text != "." {
					callee = before.text
				}
				open = append(open, pythonCall{t.text[0], callee})
			case ")", "]", "}":
				n := len(open) - 1
				if n < 0 || !pair(open[n].open, t.text[0]) {
					return unclear
				}
				open = open[:n]
			case ".":
				if after.kind != pythonName {
					return unclear
				}
			}
		}
	}
	if len(open) > 0 {
		return unclear
	}
	return ""
}

// name checks one name where it stands.
func (c *pythonCheck) name(list []pythonToken, i int, open []pythonCall) string {
	name, before := list[i].text, at(list, i-1)
	if (shows(name) || name == "type") && !before.is(".") && !at(list, i+1).is("(") {
		c.renamed = true
	}
	switch {
	case begins(before) && (name == "import" || name == "from"):
		return imports(list, i)
	case inImport(list, i):
		return "" // imports looked at it
	case before.is("."):
		return c.attribute(list, i)
	case pythonKeywords()[name]:
		return ""
	case name == "__name__", name == "_":
		return ""
	case strings.HasPrefix(name, "_"):
		return calls
	case named(list, i, open):
		return "" // of an argument
	case pythonRefused()[name]:
		return calls
	case name == "open":
		return c.opens(list[i+1:])
	case name == "Path":
		return c.path(list[i+1:])
	case name == "type":
		return c.typeOf(list[i+1:], before, open)
	case name == "SyntaxError":
		if before.text == "except" {
			return ""
		}
		return reads // one that a program makes can name a file, of which a line is shown
	case pythonBuiltins()[name], c.own[name]:
		return ""
	}
	return calls
}

// named reports whether a name is that of an argument: NAME=VALUE in the brackets of a
// call, or of a parameter.
func named(list []pythonToken, i int, open []pythonCall) bool {
	before, after := at(list, i-1), at(list, i+1)
	return len(open) > 0 && open[len(open)-1].open == '(' && after.is("=") && (before.is("(") || before.is(","))
}

// attribute checks a name behind a dot.
func (c *pythonCheck) attribute(list []pythonToken, i int) string {
	name := list[i].text
	switch name {
	case "__name__":
		if !typed(list, i-2) {
			return calls
		}
		return ""
	case "read_text", "read_bytes":
		if end := list[max(i-2, 0)]; !end.closes() || at(list, end.open-1).text != "Path" {
			return calls
		}
		return ""
	case "parse": // the module, or the function with one argument
		if end, one := argument(list[i+1:]); !at(list, i+1).is(".") && (end == 0 || !one) {
			return reads // a second one names a file, of which a line is shown
		}
	case "format":
		of := at(list, i-2)
		if of.kind != pythonString || of.formatted || of.joined || !plainFormat().MatchString(of.text) {
			return indirect // a field of a format goes through attributes
		}
		return ""
	}
	if !pythonAttributes()[name] {
		return calls
	}
	return ""
}

// argument returns the place behind the brackets of a call, 0 where there is none, and
// whether there is one argument in them.
func argument(list []pythonToken) (end int, one bool) {
	if !at(list, 0).is("(") {
		return 0, false
	}
	one = !at(list, 1).is("*") && !at(list, 1).is("**")
	depth := 0
	for i, t := range list {
		switch {
		case t.opens():
			depth++
		case t.closes():
			if depth--; depth == 0 {
				return i + 1, one
			}
		case t.is(",") && depth == 1:
			one = false
		}
	}
	return 0, false
}

// plainFormat is a text of which no field goes through an attribute or an index.
var plainFormat = expression(`^([^{}\\]|\{\{|\}\}|\\[nt]|\{[A-Za-z0-9]*(![rsa])?(:[^{}\\]*)?\})*$`)

// opens checks what stands behind open: one literal name, or 0 for the input, and at most
// how it is read.
func (c *pythonCheck) opens(list []pythonToken) string {
	file := at(list, 1)
	input := file.kind == pythonNumber && file.text == "0"
	if !at(list, 0).is("(") || !input && (file.kind != pythonString || !file.plain() || file.text == "") {
		return reads
	}
	for i := 2; ; i++ {
		t := at(list, i)
		switch {
		case t.is(")"):
			if !input {
				c.files = append(c.files, file.text)
			}
			return ""
		case !t.is(","):
			return reads
		}
		i++
		key := "mode"
		if at(list, i+1).is("=") {
			key = at(list, i).text
			i += 2
		} else if i != 3 {
			return reads
		}
		value := at(list, i)
		switch {
		case value.kind != pythonString || !value.plain():
			return writes
		case key == "mode" && !slices.Contains([]string{"r", "rb", "rt"}, value.text):
			return writes
		case key != "mode" && key != "encoding" && key != "errors" && key != "newline":
			return reads
		}
	}
}

// path checks what stands behind Path: one literal name, which is read at once.
func (c *pythonCheck) path(list []pythonToken) string {
	file, how := at(list, 1), at(list, 4).text
	switch end, one := argument(list); {
	case end != 3 || !one || file.kind != pythonString || !file.plain() || file.text == "":
		return reads
	case !at(list, 3).is(".") || how != "read_text" && how != "read_bytes" || !at(list, 5).is("("):
		return reads
	}
	c.files = append(c.files, file.text)
	return ""
}

// typeOf checks what stands behind type: one value, of which the class is named, or is an
// argument of a function that only shows it. A class that is kept could be called.
func (c *pythonCheck) typeOf(list []pythonToken, before pythonToken, open []pythonCall) string {
	end, one := argument(list)
	if c.typed = true; !one {
		return calls
	}
	next := at(list, end)
	if next.is(".") && at(list, end+1).text == "__name__" {
		return ""
	}
	shown := len(open) > 0 && shows(open[len(open)-1].callee) && (before.is("(") || before.is(","))
	if !shown || !next.is(",") && !next.is(")") {
		return calls
	}
	return ""
}

// shows reports whether a function only makes a text of what it is given.
func shows(name string) bool { return name == "print" || name == "repr" || name == "str" }

// typed reports whether the brackets that close at a place are those of type(x).
func typed(list []pythonToken, end int) bool {
	if !at(list, end).closes() {
		return false
	}
	i := list[end].open - 1
	return at(list, i).text == "type" && !at(list, i-1).is(".")
}

// imports checks a statement that begins with import or from.
func imports(list []pythonToken, i int) string {
	from := list[i].text == "from"
	if from && at(list, i+1).text == "pathlib" && at(list, i+2).text == "import" && at(list, i+3).text == "Path" && (at(list, i+4).ends() || at(list, i+4).kind == pythonNone) {
		return ""
	}
	module, part := "", 0 // part: 0 a module, 1 behind its name, 2 names of it
	for i++; i < len(list) && !list[i].ends(); i++ {
		switch t := list[i]; {
		case t.is("("), t.is(")"):
			if part != 2 {
				return unclear
			}
		case t.is(","):
			if part == 1 && !from {
				module, part = "", 0
			} else if part != 2 {
				return unclear
			}
		case t.kind != pythonName && !t.is("."):
			return unclear
		case t.text == "as":
			i++
			if name := at(list, i); name.kind != pythonName || !mayName(name.text) || part == 0 {
				return unclear
			}
		case t.text == "import" && from && part == 1:
			part = 2
		case part == 2:
			if t.kind != pythonName || !pythonAttributes()[t.text] || t.text == "parse" {
				return calls
			}
		case t.is("."):
			if part != 1 || at(list, i+1).kind != pythonName {
				return unclear
			}
			i++
			if module += "." + list[i].text; !pythonModules()[module] {
				return calls
			}
		case part == 0:
			if module, part = t.text, 1; !pythonModules()[module] && !(module == "urllib" && at(list, i+1).is(".")) {
				return calls
			}
		default:
			return unclear
		}
	}
	if part == 0 || from && part != 2 {
		return unclear
	}
	return ""
}

// inImport reports whether a token is part of a statement that imports.
func inImport(list []pythonToken, i int) bool {
	for i > 0 && !list[i-1].ends() {
		i--
	}
	first := at(list, i)
	return first.kind == pythonName && (first.text == "import" || first.text == "from")
}

// begins reports whether a statement begins behind a token.
func begins(before pythonToken) bool { return before.kind == pythonNone || before.ends() }

func at(list []pythonToken, i int) pythonToken {
	if i < 0 || i >= len(list) {
		return pythonToken{}
	}
	return list[i]
}
