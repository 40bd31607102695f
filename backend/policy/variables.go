package policy

import (
	"slices"
	"strings"
	"unicode"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/envnames"
)

// reaching are the variables that reach the program of a segment and are not
// harmless: those of the request, and those of the text.
func (in Input) reaching(s *approval.Segment) []approval.Variable {
	if len(in.Env) == 0 {
		return s.Env
	}
	return slices.Concat(in.Env, s.Env)
}

// carries reports whether a segment is judged with its variables: others are about the
// whole of the request.
func carries(s approval.Segment) bool { return s.Program != nil && s.Builtin == "" && !s.Named }

// steersAll reports whether a variable steers whatever starts: the C library, the
// loader. Of a program that stands for a builtin no other counts.
func steersAll(v approval.Variable) bool { return envnames.Requested(v.Name) == envnames.Refused }

// variables names variables, each once, and what they steer where that is known.
func variables(list []approval.Variable) string {
	var words []string
	for _, v := range list {
		word := v.Name
		if steers := envnames.Steers(v.Name); steers != "" {
			word += " (" + steers + ")"
		}
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	if more := len(words) - maxNamed; more > 0 {
		words = append(words[:maxNamed], "and more")
	}
	return strings.Join(words, ", ")
}

// maxNamed is how many variables a sentence names.
const maxNamed = 12

// without returns the variables that an entry does not carry: it names neither this
// value nor any value.
func (one *rule) without(env []approval.Variable) (missing []approval.Variable) {
	for _, v := range env {
		values := one.Env[v.Name]
		if !slices.Contains(values, approval.AnyValue) && (v.Unknown || !slices.Contains(values, v.Value)) || !envnames.Carried(v.Name) {
			missing = append(missing, v)
		}
	}
	return missing
}

// entryWith is the narrowest entry by path for the program of a segment, with the
// variables that reach it. It reports false where an entry cannot carry one: its
// value is not known, is a secret, or would stand for others.
func entryWith(in Input, s *approval.Segment) (e approval.Entry, ok bool) {
	e = entryFor(s.Program, s.Kind)
	for _, v := range in.reaching(s) {
		text := v.Name + "=" + v.Value
		odd := v.Unknown || v.Value == approval.AnyValue || len(v.Value) > approval.MaxEnvValue || strings.ContainsFunc(v.Value, unicode.IsControl)
		if odd || !envnames.Carried(v.Name) || display.Redact(text) != text {
			return e, false
		}
		if e.Env == nil {
			e.Env = map[string][]string{}
		}
		if !slices.Contains(e.Env[v.Name], v.Value) {
			e.Env[v.Name] = append(e.Env[v.Name], v.Value)
			slices.Sort(e.Env[v.Name])
		}
	}
	return e, len(e.Env) <= approval.MaxEnv
}
