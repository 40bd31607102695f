package environ

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/countersign-app/countersign/backend/envnames"
)

// Report says what is to be done about the variables that a request wants to
// set. The names are as the request wrote them, sorted. A name that passes
// everywhere is in none of the lists: TERM, LANG and their like, and PAGER or
// GIT_PAGER when "" or "cat" turns the pager off (they become "").
type Report struct {
	// Refused ends the request: names that steer programs, names that we
	// alone set, names that differ in case only, and Invalid.
	Refused []string
	// Asks are endpoints, trust and credentials.
	Asks []string
	// Other pass when we run a plain command or a plan; they ask where a
	// real shell or the caller runs the text.
	Other []string
	// Invalid have a name that is not [A-Za-z_][A-Za-z0-9_]*, or a value with
	// a NUL or a newline; among those that pass everywhere, any control
	// character.
	Invalid []string
}

// Check judges the variables that a request wants to set.
func Check(requested map[string]string) Report {
	_, report := sift(requested)
	return report
}

// setting is one requested variable that may be set.
type setting struct {
	name, value string
	class       envnames.Class
}

// sift parts what may be set, sorted by name, from what is refused.
func sift(requested map[string]string) ([]setting, Report) {
	times := map[string]int{}
	for name := range requested {
		times[strings.ToUpper(name)]++
	}
	var settings []setting
	var r Report
	for _, name := range slices.Sorted(maps.Keys(requested)) {
		s := setting{name, requested[name], envnames.Requested(name)}
		if envnames.PagerOff(s.name, s.value) {
			s.value, s.class = "", envnames.Plain
		}
		if invalid(s) {
			r.Invalid = append(r.Invalid, name)
			s.class = envnames.Malformed
		} else if times[strings.ToUpper(name)] > 1 {
			s.class = envnames.Refused
		}
		switch s.class {
		case envnames.Plain:
		case envnames.Other:
			r.Other = append(r.Other, name)
		case envnames.Asks:
			r.Asks = append(r.Asks, name)
		default:
			r.Refused = append(r.Refused, name)
			continue
		}
		settings = append(settings, s)
	}
	return settings, r
}

func invalid(s setting) bool {
	return s.class == envnames.Malformed || strings.ContainsAny(s.value, "\x00\n") ||
		s.class == envnames.Plain && strings.ContainsFunc(s.value, unicode.IsControl)
}
