package environ

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/envnames"
)

// Report says what is to be done about the variables that a request wants to
// set. The names are as the request wrote them, sorted. What is known to be
// harmless is in none of the lists: a name with a value of package envnames, of
// which PAGER and GIT_PAGER become "", which turns the pager off.
type Report struct {
	// Refused ends the request: names that steer programs, names that we
	// alone set, names that differ in case only, and Invalid.
	Refused []string
	// Asks are all others. They pass only where an entry names them with their
	// values.
	Asks []approval.Variable
	// Invalid have a name that is not [A-Za-z_][A-Za-z0-9_]*, or a value with
	// a NUL or a newline; of those that can be harmless, any control character.
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
	asks        bool
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
		s := setting{name, requested[name], true}
		class := envnames.Requested(name)
		switch {
		case invalid(s, class):
			r.Invalid, r.Refused = append(r.Invalid, name), append(r.Refused, name)
			continue
		case times[strings.ToUpper(name)] > 1:
			r.Refused = append(r.Refused, name)
			continue
		case envnames.Harmless(name, s.value):
			s.asks = false
			if name == "PAGER" || name == "GIT_PAGER" {
				s.value = ""
			}
		case class == envnames.Fixed || class == envnames.Refused:
			r.Refused = append(r.Refused, name)
			continue
		default:
			r.Asks = append(r.Asks, approval.Variable{Name: name, Value: s.value})
		}
		settings = append(settings, s)
	}
	return settings, r
}

func invalid(s setting, class envnames.Class) bool {
	return class == envnames.Malformed || strings.ContainsAny(s.value, "\x00\n") ||
		envnames.MayBeHarmless(s.name) && strings.ContainsFunc(s.value, unicode.IsControl)
}
