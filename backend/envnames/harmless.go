package envnames

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

//go:embed harmless.txt
var harmlessText string

// harmless holds the shape of the values of each name that is on the list.
var harmless = sync.OnceValue(func() map[string]*regexp.Regexp { return readHarmless(harmlessText) })

// Harmless reports whether a variable may be given this value without anybody
// being asked: it is known what the two mean, and they start, load, open and trust
// nothing. Case counts.
func Harmless(name, value string) bool {
	shape := harmless()[name]
	return shape != nil && len(value) <= maxHarmless && shape.MatchString(value)
}

// MayBeHarmless reports whether there is a value with which this name is harmless.
func MayBeHarmless(name string) bool { return harmless()[name] != nil }

// maxHarmless bounds a value, which would be an odd one before it is as long.
const maxHarmless = 256

// readHarmless reads the list: shapes, and names with one of them.
func readHarmless(text string) map[string]*regexp.Regexp {
	shapes, names := map[string]*regexp.Regexp{}, map[string]*regexp.Regexp{}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		words, _, _ := strings.Cut(line, " | ")
		list := strings.Fields(words)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[' && strings.Contains(line, "] "):
			section, _, _ = strings.Cut(line[1:], "]")
		case section == "shapes":
			name, pattern, _ := strings.Cut(line, " ")
			shapes[name] = regexp.MustCompile(`\A(?:` + strings.TrimSpace(pattern) + `)\z`)
		default:
			for _, name := range list[:len(list)-1] {
				names[name] = shapes[list[len(list)-1]]
			}
		}
	}
	return names
}
