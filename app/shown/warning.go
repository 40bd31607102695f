package shown

// Warnings are what a person should look at in an allowlist.
type Warnings struct {
	List []EntryWarning `json:"list"`
	// Partial tells that time ran out before all entries were looked at.
	Partial bool `json:"partial"`
}

// EntryWarning is what is wrong with one entry. Of several things it is the one
// that permits most.
type EntryWarning struct {
	ID   string  `json:"id"` // of the entry
	From From    `json:"from"`
	Kind Warning `json:"kind"`
	// Count programs are covered here, More tells that there are others.
	Count int  `json:"count,omitempty"`
	More  bool `json:"more,omitempty"`
	// Folder is the one that more than root can write to.
	Folder string `json:"folder,omitempty"`
	// Days is how long it was not used.
	Days int `json:"days,omitempty"`
}

// Warnings of entries that are there already, beside those of a preview.
const (
	WarnWritable Warning = "writable" // whoever writes to its folder adds programs to it
	WarnUnused   Warning = "unused"   // for a long time
)
