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

// Clear reports whether all shells make the same of a value, whatever letters they know.
func (f *Form) Clear(value string, p Pattern) bool {
	switch f.Op {
	case FormLength, FormSlice, FormUpper, FormLower:
		return !strings.ContainsFunc(value, func(r rune) bool { return r >= 0x80 })
	case FormReplace, FormFirst, FormBegins, FormLast, FormEnds:
		return p.Clear(value)
	}
	return true
}

// Of is what a form makes of a value that is there. It reports false where that is not
// clear.
func (f *Form) Of(value string, p Pattern) (string, bool) {
	if !f.Clear(value, p) {
		return "", false
	}
	switch f.Op {
	case FormLength:
		return strconv.Itoa(len(value)), true
	case FormSlice:
		value = value[min(f.From, len(value)):]
		if f.Count >= 0 {
			value = value[:min(f.Count, len(value))]
		}
	case FormUpper, FormLower:
		change, end := strings.ToUpper, len(value)
		if f.Op == FormLower {
			change = strings.ToLower
		}
		if !f.Most {
			end = min(1, end)
		}
		value = change(value[:end]) + value[end:]
	case FormReplace:
		value = p.Replace(value, f.With, f.Most)
	case FormFirst, FormBegins:
		if n := p.Begins(value, f.Most || f.Op == FormBegins); n >= 0 {
			value = f.With + value[n:]
		}
	case FormLast, FormEnds:
		if n := p.Ends(value, f.Most || f.Op == FormEnds); n >= 0 {
			value = value[:len(value)-n] + f.With
		}
	case FormElse, FormSet, FormNeeds:
	default:
		return "", false
	}
	return value, true
}
