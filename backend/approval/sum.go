package approval

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
