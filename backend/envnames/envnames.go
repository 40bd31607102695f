// Package envnames knows which environment variables steer programs. It is a
// list with a few questions to it; it sees names and never values, and a name
// that it cannot read is never called harmless.
package envnames

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// Class says what a request for a variable means.
type Class int

const (
	// Malformed is not [A-Za-z_][A-Za-z0-9_]* and is refused.
	Malformed Class = iota
	// Refused makes programs load, start or trust something else.
	Refused
	// Fixed is set by us alone and is refused as well.
	Fixed
	// Asks changes endpoints, trust or credentials.
	Asks
	// Other is well-formed and nothing is known of it.
	Other
	// Plain passes everywhere.
	Plain
)

//go:embed names.txt
var text string

// table is read when it is first asked, as most programs that start ask nothing.
var table = sync.OnceValue(func() map[string]*list { return read(text) })

// Requested returns the class of a name that a request wants to set. Case
// does not count.
func Requested(name string) Class {
	if !wellFormed(name) {
		return Malformed
	}
	name = upper(name)
	switch {
	case table()["fixed"].has(name):
		return Fixed
	case table()["refused"].has(name):
		return Refused
	case table()["asks"].has(name):
		return Asks
	case table()["protocol"].has(name):
		return Refused
	case table()["tools"].has(name):
		return Asks
	case table()["plain"].has(name):
		return Plain
	}
	return Other
}

// StripInherited reports whether a name is taken out of the environment that
// the person's login shell made: loaders and start-up files of shells. Nobody
// hostile set the rest, and builds need it.
func StripInherited(name string) bool { return table()["inherited"].has(upper(name)) }

// Secret reports whether the value of a variable is to be hidden.
func Secret(name string) bool { return table()["secret"].has(upper(name)) }

func wellFormed(name string) bool {
	for i, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
		case '0' <= c && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return name != ""
}

// upper folds ASCII alone: no other letter is part of a name.
func upper(name string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}, name)
}

// list is one section: names, and patterns cut at their stars.
type list struct {
	names    map[string]bool
	patterns [][]string
}

// read reads the sections of the list; those with the same name are one.
func read(text string) map[string]*list {
	sections := map[string]*list{}
	var now *list
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if head, _, ok := strings.Cut(line, "]"); ok {
			name := strings.TrimPrefix(head, "[")
			if sections[name] == nil {
				sections[name] = &list{names: map[string]bool{}}
			}
			now = sections[name]
			continue
		}
		for _, word := range strings.Fields(line) {
			if strings.Contains(word, "*") {
				now.patterns = append(now.patterns, strings.Split(word, "*"))
			} else {
				now.names[word] = true
			}
		}
	}
	return sections
}

func (l *list) has(name string) bool {
	return l.names[name] || slices.ContainsFunc(l.patterns, func(p []string) bool { return fits(p, name) })
}

// fits reports whether a name begins with the first piece, ends with the
// last, and holds the others between them in order.
func fits(pieces []string, name string) bool {
	last := len(pieces) - 1
	rest, ok := strings.CutPrefix(name, pieces[0])
	for _, piece := range pieces[1:last] {
		var found bool
		_, rest, found = strings.Cut(rest, piece)
		ok = ok && found
	}
	return ok && strings.HasSuffix(rest, pieces[last])
}

// PagerOff reports whether a variable says that there is no pager, which is
// how agents keep git from waiting for a key.
func PagerOff(name, value string) bool {
	return (name == "PAGER" || name == "GIT_PAGER") && (value == "" || value == "cat")
}
