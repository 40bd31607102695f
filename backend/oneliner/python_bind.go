package oneliner

import "strings"

// bind takes down the names that the program gives values: left of an equals sign, in
// the heads of loops and functions, behind as and import. That it finds all is not what
// anything rests on.
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
		case at(list, i+1).is(":") && begins(at(list, i-1)):
			bound = append(bound, t) // with an annotation
		case t.text == "for":
			bound = until(list[i+1:], "in")
		case t.text == "as":
			bound = append(bound, at(list, i+1))
		case t.text == "def":
			bound = append(bound, at(list, i+1))
			if end, _ := argument(list[min(i+2, len(list)):]); end > 0 {
				bound = append(bound, parameters(list[i+3:i+1+end])...)
			}
		case t.text == "lambda":
			bound = parameters(until(list[i+1:], ":"))
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
	depth, inner := 0, 0 // inner is the depth from which on it is an index, or an argument
	for k := i - 1; k >= 0 && (depth > 0 || !list[k].ends()); k-- {
		switch t := list[k]; {
		case t.closes():
			if depth++; inner == 0 && behindValue(list, k) {
				inner = depth
			}
		case t.opens():
			if depth--; depth < 0 {
				return nil // it is that of an argument
			}
			if depth < inner {
				inner = 0
			}
		case t.kind == pythonName && inner == 0 && !at(list, k-1).is("."):
			names = append(names, t)
		}
	}
	return names
}

// behindValue reports whether the brackets that close at a place stand behind a value.
func behindValue(list []pythonToken, end int) bool {
	before := at(list, list[end].open-1)
	return before.closes() || before.kind == pythonString || before.kind == pythonName && !pythonKeywords()[before.text]
}

// until are the tokens before a word that stands in no brackets.
func until(list []pythonToken, word string) []pythonToken {
	depth := 0
	for i, t := range list {
		switch {
		case t.opens():
			depth++
		case t.closes():
			depth--
		case depth == 0 && t.kind != pythonString && t.text == word:
			return list[:i]
		}
	}
	return list
}

// parameters are the names of parameters, without what is said of their kind and value.
func parameters(list []pythonToken) (names []pythonToken) {
	depth, behind := 0, false // behind a name
	for _, t := range list {
		switch {
		case t.opens():
			depth++
		case t.closes():
			depth--
		case depth == 0 && t.is(","):
			behind = false
		case depth == 0 && (t.is("=") || t.is(":")):
			behind = true
		case t.kind == pythonName && !behind:
			names = append(names, t)
		}
	}
	return names
}

// mayName reports whether a program may give a name a value: none that is looked at by
// itself, and none that Python gives a meaning.
func mayName(name string) bool {
	return !pythonRefused()[name] && name != "open" && name != "type" && name != "SyntaxError" && !shows(name) &&
		(name == "_" || !strings.HasPrefix(name, "_"))
}
