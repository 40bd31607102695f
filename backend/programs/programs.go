// Package programs says what a program is by its name alone: of which kind, and whether
// it gives what it starts more rights than the person has.
//
// kinds.txt is the one list, for whoever judges a command, reads a rule or names a
// server. What must never happen here: a name that counts for less than any program
// it may stand for.
package programs

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"
)

//go:embed kinds.txt
var text string

// reader is the kind that counts only if every name says so.
const reader = "reader"

// section is one section of kinds.txt.
type section struct {
	kind  string
	names map[string]marks
}

// marks are what kinds.txt says of one name beside its kind.
type marks struct{ raises, launches bool }

// sections are those of kinds.txt, the strictest first.
var sections = sync.OnceValue(func() []section { return read(text) })

func read(text string) []section {
	var list []section
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "[") && strings.Contains(line, "] "):
			kind, _, _ := strings.Cut(line[1:], "]")
			list = append(list, section{kind, map[string]marks{}})
		default:
			for _, name := range strings.Fields(line) {
				name, raises := strings.CutSuffix(name, "!")
				name, launches := strings.CutSuffix(name, ">")
				list[len(list)-1].names[name] = marks{raises, launches}
			}
		}
	}
	return list
}

// Readers are the programs that read what they are told and nothing else, by name.
func Readers() []string {
	list := sections()
	i := slices.IndexFunc(list, func(s section) bool { return s.kind == reader })
	return slices.Sorted(maps.Keys(list[i].names))
}

func (s section) has(name string) bool {
	_, has := s.names[name]
	return has
}

// PlainNames are the plain names that a name may stand for: without the platform before
// it, without a version or a variant behind it, and without the g of GNU programs
// beside others.
func PlainNames(name string) []string {
	if i := strings.Index(name, "-linux-gnu-"); i >= 0 {
		name = name[i+len("-linux-gnu-"):]
	} else if i := strings.Index(name, "-apple-darwin"); i >= 0 {
		_, name, _ = strings.Cut(name[i+len("-apple-darwin"):], "-")
	}
	plain := name
	if i := strings.IndexAny(name, ".0123456789"); i > 0 {
		plain = strings.TrimRight(name[:i], "-_")
	}
	return []string{name, plain, strings.TrimPrefix(plain, "g")}
}

// KindOf returns the strictest kind that any of these names stands for, as kinds.txt
// writes it, or "" for an ordinary program. A name is known in any case, with a
// version behind it (python3.12, gcc-13).
func KindOf(names ...string) string {
	readers := 0
	for _, s := range sections() {
		for _, name := range names {
			name = strings.ToLower(name)
			switch {
			case s.kind != reader && s.has(name), s.kind != reader && slices.ContainsFunc(PlainNames(name), s.has):
				return s.kind
			case s.has(name):
				readers++
			}
		}
	}
	// A reader only if every name says so: a link called "ls" that leads to
	// something unknown is not one.
	if readers == len(names) {
		return reader
	}
	return ""
}

// Raises reports whether a program of this name gives a command more than the
// person's own rights: an entry for it counts only if it names arguments.
func Raises(name string) bool {
	return slices.ContainsFunc(sections(), func(s section) bool { return s.names[name].raises })
}

// Launches reports whether a program of exactly this name runs the program that its
// words name: a shell, an interpreter, a wrapper, many programs in one, and the
// starters that kinds.txt marks.
func Launches(name string) bool {
	return slices.ContainsFunc(sections(), func(s section) bool {
		m, has := s.names[name]
		return has && (m.launches || s.kind == "shell" || s.kind == "interpreter" || s.kind == "multiplexer" || s.kind == "wrapper")
	})
}
