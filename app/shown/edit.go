package shown

import "github.com/countersign-app/countersign/backend/store"

// Edit is an edit of the policy file from outside whose looser parts wait for
// a person.
type Edit struct {
	// ID is what the page calls it on the panel, Hash what the answer is about.
	ID   string `json:"id"`
	Hash string `json:"hash"`
	// File is the policy file, Loosens what the edit would permit, in sentences.
	File    string   `json:"file"`
	Loosens []string `json:"loosens"`
}

// EditMark begins the IDs of edits. No question has such an ID.
const EditMark = "edit:"

// NewEdit describes an edit that waits.
func NewEdit(held store.Held, file string, in Person) *Edit {
	return &Edit{ID: EditMark + held.Hash, Hash: held.Hash, File: in.short(file), Loosens: escaped(held.Loosens)}
}
