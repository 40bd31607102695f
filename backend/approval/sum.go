package approval

import (
	"math"
	"strconv"
	"strings"
)

// Sum is arithmetic on whole numbers, as in $((…)). Nothing in it is evaluated as
// text: what a variable holds counts where it is a plain decimal number, and the run
// ends where it is anything else.
type Sum struct {
	Op SumOp `json:"op"`
	// Number is that of SumNumber.
	Number int64 `json:"number,omitempty"`
	// Name is the variable of SumName, or the one that gets a value.
	Name string `json:"name,omitempty"`
	// Word is what becomes the number of SumWord. Tight tells that a minus stands
	// right before it, so that it must have none of its own.
	Word  Word  `json:"word,omitempty"`
	Tight bool  `json:"tight,omitempty"`
	Kids  []Sum `json:"kids,omitempty"`
}

// SumOp is what a part of arithmetic does with its kids; all others are written as
// shells write them.
type SumOp string

const (
	SumNumber SumOp = "number"
	SumName   SumOp = "name"  // what a variable holds; nothing is 0
	SumWord   SumOp = "word"  // what $… becomes
	SumSet    SumOp = "set"   // Name gets the kid, and that is the value
	SumAfter  SumOp = "after" // the same, and the value is what Name held before
	SumMinus  SumOp = "minus" // of one kid, as SumPlus
	SumPlus   SumOp = "plus"
)

// Decimal reads a plain decimal number, with blanks before it. Nothing is 0, as in
// arithmetic of a shell; what a shell would read in another way is no such number.
func Decimal(text string) (int64, bool) {
	text = strings.TrimLeft(text, " \t\n")
	if text == "" {
		return 0, true
	}
	digits := strings.TrimPrefix(text, "-")
	if digits == text {
		digits = strings.TrimPrefix(text, "+")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n != math.MinInt64 && digits[0] >= '0' && digits[0] <= '9' && (digits[0] != '0' || len(digits) == 1)
}
