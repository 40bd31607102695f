// Package envnames knows which environment variables steer programs, and which
// are harmless with which values. It is two lists with a few questions to them. A
// list of names that steer programs cannot be finished, so what is on neither of
// the two is never called harmless.
package envnames

import (
	_ "embed"
	"maps"
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
)

//go:embed names.txt
var text string

// sections are read when they are first asked, as most programs that start ask
// nothing.
var sections = sync.OnceValue(func() []*list { return read(text) })

// table holds the sections by their names; those with the same name are one.
var table = sync.OnceValue(func() map[string]*list {
	all := map[string]*list{}
	for _, l := range sections() {
		one := all[l.section]
		if one == nil {
			one = &list{names: map[string]bool{}}
			all[l.section] = one
		}
		maps.Copy(one.names, l.names)
		one.patterns = append(one.patterns, l.patterns...)
	}
	return all
})

// Requested returns the class of a name that a request wants to set, with a value
// that is not harmless. Case does not count.
func Requested(name string) Class {
	if !wellFormed(name) {
		return Malformed
	}
	name = upper(name)
	switch {
	case table()["fixed"].has(name):
		return Fixed
	case table()["refused"].has(name), table()["shell"].has(name):
		return Refused
	case table()["asks"].has(name):
		return Asks
	case table()["protocol"].has(name):
		return Refused
	case table()["tools"].has(name):
		return Asks
	}
	return Other
}

// Carried reports whether an entry may carry a variable of this name: no loader,
// nothing that a shell starts with, nothing that we alone set and no secret.
func Carried(name string) bool {
	class := Requested(name)
	return class != Malformed && class != Fixed && !StripInherited(name) && !Secret(name)
}

// OfShell reports whether a shell runs what a variable holds, or reads texts by it.
func OfShell(name string) bool { return table()["shell"].has(upper(name)) }

// StripInherited reports whether a name is taken out of the environment that
// the person's login shell made: loaders and start-up files of shells. Nobody
// hostile set the rest, and builds need it.
func StripInherited(name string) bool { return table()["inherited"].has(upper(name)) }

// Steers says in a few words what a variable steers, and "" where that is not
// known.
func Steers(name string) string {
	name = upper(name)
	for _, l := range sections() {
		if l.section == "inherited" {
			break
		}
		if l.has(name) {
			return l.steers
		}
	}
	if Secret(name) {
		return "credentials"
	}
	return ""
}

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
	section, steers string
	names           map[string]bool
	patterns        [][]string
}

// read reads the sections of the list, in their order.
func read(text string) (all []*list) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if head, steers, ok := strings.Cut(line, "]"); ok {
			all = append(all, &list{section: strings.TrimPrefix(head, "["), steers: strings.TrimSpace(steers), names: map[string]bool{}})
			continue
		}
		for _, word := range strings.Fields(line) {
			now := all[len(all)-1]
			if strings.Contains(word, "*") {
				now.patterns = append(now.patterns, strings.Split(word, "*"))
			} else {
				now.names[word] = true
			}
		}
	}
	return all
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
