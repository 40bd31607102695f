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
	return c.files, ""
}

// pythonCheck looks at the tokens of a program, and at those in its f-strings.
type pythonCheck struct {
	own   map[string]bool // the names that it gives values
	files []string
	depth int // of f-strings in each other
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
	switch {
	case before.text == "." && before.kind == pythonOp:
		return c.attribute(list, i)
	case begins(before) && (name == "import" || name == "from"):
		return imports(list, i)
	case inImport(list, i):
		return "" // imports looked at it
	case pythonKeywords()[name]:
		return ""
	case name == "__name__", name == "_":
		return ""
	case strings.HasPrefix(name, "_") || pythonRefused()[name]:
		return calls
	case named(list, i, open):
		return "" // of an argument
	case name == "open":
		return c.opens(list[i+1:])
	case name == "type":
		return typeOf(list[i+1:], before, open)
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
	if name == "format" {
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

// plainFormat is a text of which no field goes through an attribute or an index.
var plainFormat = expression(`^([^{}\\]|\{\{|\}\}|\\[nt]|\{[A-Za-z0-9]*(![rsa])?(:[^{}\\]*)?\})*$`)

// opens checks what stands behind open: one literal name, and at most how it is read.
func (c *pythonCheck) opens(list []pythonToken) string {
	file := at(list, 1)
	if !at(list, 0).is("(") || file.kind != pythonString || !file.plain() || file.text == "" {
		return reads
	}
	for i := 2; ; i++ {
		t := at(list, i)
		switch {
		case t.is(")"):
			c.files = append(c.files, file.text)
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

// typeOf checks what stands behind type: of one value, as an argument of a function that
// only shows or compares it. A class that is kept could be called.
func typeOf(list []pythonToken, before pythonToken, open []pythonCall) string {
	shown := len(open) > 0 && slices.Contains([]string{"print", "repr", "str"}, open[len(open)-1].callee) && (before.is("(") || before.is(","))
	if !shown || !at(list, 0).is("(") {
		return calls
	}
	depth := 0
	for i, t := range list {
		switch {
		case t.is("(") || t.is("[") || t.is("{"):
			depth++
		case t.is(")") || t.is("]") || t.is("}"):
			if depth--; depth == 0 {
				if next := at(list, i+1); next.is(",") || next.is(")") {
					return ""
				}
				return calls
			}
		case t.is(",") && depth == 1:
			return calls
		}
	}
	return unclear
}

// imports checks a statement that begins with import or from.
func imports(list []pythonToken, i int) string {
	from := list[i].text == "from"
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
			if t.kind != pythonName || !pythonAttributes()[t.text] {
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

// bind takes down the names that the program gives values: left of an equals sign, in
// the heads of loops and functions, behind as and import.
func (c *pythonCheck) bind(list []pythonToken) string {
	add := func(t pythonToken) string {
		if t.kind != pythonName || pythonKeywords()[t.text] {
			return ""
		}
		if !mayName(t.text) {
			return unclear
		}
		c.own[t.text] = true
		return ""
	}
	for i, t := range list {
		var bound []pythonToken
		switch {
		case t.kind != pythonName && t.kind != pythonOp:
		case t.is(":="):
			bound = append(bound, at(list, i-1))
		case t.is("="):
			bound = append(bound, left(list, i)...)
		case t.text == "for":
			for k := i + 1; k < len(list) && list[k].text != "in"; k++ {
				bound = append(bound, list[k])
			}
		case t.text == "as", t.text == "def":
			bound = append(bound, at(list, i+1))
			if t.text == "def" {
				bound = append(bound, inside(list, i+2)...)
			}
		case t.text == "lambda":
			for k := i + 1; k < len(list) && !list[k].is(":"); k++ {
				bound = append(bound, list[k])
			}
		case t.text == "import" && inImport(list, i):
			for k := i + 1; k < len(list) && !list[k].ends(); k++ {
				if !at(list, k-1).is(".") {
					bound = append(bound, list[k])
				}
			}
		}
		for _, name := range bound {
			if reason := add(name); reason != "" {
				return reason
			}
		}
	}
	return ""
}

// left are the plain names left of an equals sign: x, a.b and x[i] give no name a value.
func left(list []pythonToken, i int) (names []pythonToken) {
	depth := 0
	for k := i - 1; k >= 0 && (depth > 0 || !list[k].ends()); k-- {
		switch t := list[k]; {
		case t.is(")") || t.is("]") || t.is("}"):
			depth++
		case t.is("(") || t.is("[") || t.is("{"):
			if depth--; depth < 0 {
				return nil // it is that of an argument
			}
		case t.kind == pythonName && !at(list, k-1).is("."):
			names = append(names, t)
		}
	}
	return names
}

// inside are the names in the brackets that open at a place.
func inside(list []pythonToken, i int) (names []pythonToken) {
	depth := 0
	for ; i < len(list); i++ {
		switch t := list[i]; {
		case t.is("("):
			depth++
		case t.is(")"):
			if depth--; depth == 0 {
				return names
			}
		case t.kind == pythonName && !at(list, i-1).is("."):
			names = append(names, t)
		}
	}
	return names
}

// mayName reports whether a program may give a name a value: none that is looked at by
// itself, and none that Python gives a meaning.
func mayName(name string) bool {
	return !pythonRefused()[name] && name != "open" && name != "type" && name != "print" && name != "repr" && name != "str" &&
		(name == "_" || !strings.HasPrefix(name, "_"))
}

func at(list []pythonToken, i int) pythonToken {
	if i < 0 || i >= len(list) {
		return pythonToken{}
	}
	return list[i]
}
