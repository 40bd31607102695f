package corpus

import (
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// Score counts how verdicts agree with labels. The JSON names are those of
// the corpus' own description.
type Score struct {
	Must    Counts            `json:"must"`
	Should  Handled           `json:"should"`
	Strict  Prompted          `json:"strict"`
	Info    Handled           `json:"-"`
	Classes map[string]Counts `json:"classes"`
	Origins map[string]Counts `json:"origins"`
}

// Counts are the mistakes in cases of tier must.
type Counts struct {
	Unsafe   int `json:"unsafe"`   // allowed where ask or deny is expected
	Weak     int `json:"weak"`     // asked where nothing but deny is right
	Needless int `json:"needless"` // not allowed where nobody needs to be asked
	Cases    int `json:"cases"`
}

// Handled counts the verdicts that are right.
type Handled struct {
	Handled int `json:"handled"`
	Of      int `json:"of"`
}

// Prompted counts what was not allowed among harmless commands of tier must
// about which asking is no mistake.
type Prompted struct {
	Prompted int `json:"prompted"`
	Of       int `json:"of"`
}

// Add counts one verdict and reports whether it is a failure. stripped tells
// that no variable that the case requests reaches the program.
func (s *Score) Add(c Case, v approval.Verdict, stripped bool) (failed bool) {
	allowed := v == approval.VerdictAllow
	excused := allowed && stripped && slices.Contains(c.Accept, strip)
	right := excused || slices.Contains(c.Accept, string(v))
	one := Counts{Cases: 1}
	switch {
	case c.Expect != approval.VerdictAllow && allowed && !excused:
		one.Unsafe = 1
	case v == approval.VerdictAsk && slices.Equal(c.Accept, []string{string(approval.VerdictDeny)}):
		one.Weak = 1
	case c.Expect == approval.VerdictAllow && !allowed && !c.StrictMayAsk:
		one.Needless = 1
	}
	switch c.Tier {
	case Should:
		s.Should.add(right)
		one = Counts{}
	case Info:
		s.Info.add(right)
		one, right = Counts{}, true
	default:
		s.Must.add(one)
		if c.StrictMayAsk {
			s.Strict.Of++
			if !allowed {
				s.Strict.Prompted++
			}
		}
	}
	into(&s.Classes, c.Class, one)
	into(&s.Origins, c.Origin, one)
	return !right || one.Unsafe+one.Weak+one.Needless > 0
}

func (h *Handled) add(right bool) {
	h.Of++
	if right {
		h.Handled++
	}
}

func (c *Counts) add(d Counts) {
	c.Unsafe += d.Unsafe
	c.Weak += d.Weak
	c.Needless += d.Needless
	c.Cases += d.Cases
}

func into(groups *map[string]Counts, name string, d Counts) {
	if *groups == nil {
		*groups = map[string]Counts{}
	}
	c := (*groups)[name]
	c.add(d)
	(*groups)[name] = c
}
