package approval

// Condition is what [[ … ]] asks. Its words are not parted and stand for no files.
type Condition struct {
	Op    ConditionOp `json:"op"`
	Words []Word      `json:"words,omitempty"`
	Kids  []Condition `json:"kids,omitempty"`
}

// ConditionOp is what is asked of words or kids; those that compare numbers or look at
// a file are written as shells write them, -eq and -f.
type ConditionOp string

const (
	ConditionAnd    ConditionOp = "and"
	ConditionOr     ConditionOp = "or"
	ConditionNot    ConditionOp = "not"
	ConditionFull   ConditionOp = "full"   // the word is not empty
	ConditionEmpty  ConditionOp = "empty"  // it is
	ConditionLike   ConditionOp = "like"   // the second word is a pattern that matches all of the first
	ConditionUnlike ConditionOp = "unlike" // it does not
)
