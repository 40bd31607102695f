package shown

// Change is a change that a command line wants.
type Change struct {
	// ID is what an answer is about: all that is shown here, and what holds before
	// and after it.
	ID string `json:"id"`
	// Who is the shell and the program of its terminal, and Process the one that
	// calls.
	Who     string `json:"who"`
	Process string `json:"process"`
	// Lines say what it permits, in sentences, and Undoes which denials it takes
	// back.
	Lines  []string `json:"lines"`
	Undoes []string `json:"undoes"`
	// Asked and Expires are in unix milliseconds.
	Asked   int64 `json:"asked"`
	Expires int64 `json:"expires"`
}

// ChangeMark begins the IDs of changes. No question has such an ID.
const ChangeMark = "change:"

// NewChange describes a change. who and process are escaped already.
func NewChange(c Change) *Change {
	c.Lines, c.Undoes = escaped(c.Lines), escaped(c.Undoes)
	return &c
}
