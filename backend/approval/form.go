package approval

import (
	"strconv"
	"strings"
)

// Form is what ${NAME…} makes of the value of a variable.
type Form struct {
	Op FormOp `json:"op"`
	// Null tells that an empty value counts as none.
	Null bool `json:"null,omitempty"`
	// Word is what stands in the place of the value, or the pattern: of its parts,
	// text and values are taken as they stand.
	Word Word `json:"word,omitempty"`
	// Most takes away as much as can be, or changes each place.
	Most bool `json:"most,omitempty"`
	// With is what FormReplace puts in the place of what the pattern matches.
	With string `json:"with,omitempty"`
	// From and Count are those of FormSlice; Count is negative for all that follows.
	From  int `json:"from,omitempty"`
	Count int `json:"count,omitempty"`
}

// FormOp names a form.
type FormOp string

const (
	FormElse    FormOp = "else"    // Word where there is no value
	FormThen    FormOp = "then"    // Word where there is one
	FormSet     FormOp = "set"     // Word where there is none, and the variable gets it
	FormNeeds   FormOp = "needs"   // the shell ends where there is none, and says Word
	FormLength  FormOp = "length"  // how many characters it has
	FormFirst   FormOp = "first"   // without what Word matches at its beginning
	FormLast    FormOp = "last"    // without what Word matches at its end
	FormReplace FormOp = "replace" // With for what Word matches
	FormBegins  FormOp = "begins"  // the same, at its beginning alone
	FormEnds    FormOp = "ends"    // the same, at its end alone
	FormSlice   FormOp = "slice"   // Count characters behind the first From
	FormUpper   FormOp = "upper"   // in upper case: the first letter, or with Most all
	FormLower   FormOp = "lower"   // in lower case, the same way
)

// Pattern is what a form compares a value with. Package pathname reads it.
type Pattern interface {
	// Clear reports whether all shells find the same in a value.
	Clear(value string) bool
	// Begins and Ends return how much matches there, the least or the most, and a
	// number below zero for nothing.
	Begins(value string, most bool) int
	Ends(value string, most bool) int
	Replace(value, with string, all bool) string
}

// Of is what a form makes of a value that is there. It reports false for what shells
// make different things of, by the letters that they know.
func (f *Form) Of(value string, p Pattern) (string, bool) {
	plain := !strings.ContainsFunc(value, func(r rune) bool { return r >= 0x80 })
	switch f.Op {
	case FormLength:
		return strconv.Itoa(len(value)), plain
	case FormSlice:
		value = value[min(f.From, len(value)):]
		if f.Count >= 0 {
			value = value[:min(f.Count, len(value))]
		}
		return value, plain
	case FormUpper, FormLower:
		change, end := strings.ToUpper, len(value)
		if f.Op == FormLower {
			change = strings.ToLower
		}
		if !f.Most {
			end = min(1, end)
		}
		return change(value[:end]) + value[end:], plain
	case FormReplace:
		return p.Replace(value, f.With, f.Most), p.Clear(value)
	case FormFirst, FormBegins:
		n := p.Begins(value, f.Most || f.Op == FormBegins)
		if n < 0 {
			return value, p.Clear(value)
		}
		return f.With + value[n:], p.Clear(value)
	case FormLast, FormEnds:
		n := p.Ends(value, f.Most || f.Op == FormEnds)
		if n < 0 {
			return value, p.Clear(value)
		}
		return value[:len(value)-n] + f.With, p.Clear(value)
	case FormElse, FormSet, FormNeeds:
		return value, true
	}
	return "", false
}
