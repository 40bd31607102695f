package shown

import "github.com/countersign-app/countersign/backend/approval"

// ImportList is a list of entries that a person chose a file with, before it is
// added.
type ImportList struct {
	// Token names it, for the way back; empty if nothing can be added.
	Token string `json:"token"`
	File  string `json:"file"`
	// Problem says why nothing of it can be added: which file, which field.
	Problem string      `json:"problem,omitempty"`
	Rows    []ImportRow `json:"rows"`
	// New is how many of them the agent has not got.
	New int `json:"new"`
	// Partial tells that not all of them were looked at for warnings.
	Partial bool `json:"partial"`
}

// ImportRow is one entry of such a list.
type ImportRow struct {
	Entry
	// Known tells that the agent has one like it, so that it is not added.
	Known    bool          `json:"known"`
	Disabled bool          `json:"disabled"`
	Warning  *EntryWarning `json:"warning,omitempty"`
}

// NewImportRow makes a row of an entry.
func NewImportRow(e approval.Entry, known bool, in Person) ImportRow {
	return ImportRow{Entry: newEntry(e, in), Known: known, Disabled: e.Disabled}
}
