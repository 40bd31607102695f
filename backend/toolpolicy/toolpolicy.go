// Package toolpolicy decides whether a tool call may be made, as package policy
// does for commands: it says what a call would touch, and judges that by the
// layers of rules, the entries and what is known of the tool. A command is a
// call of bash_execute, whichever door it comes by.
//
// It is pure but for the one look at the files that a call names, which its
// caller hands in. It makes no call and changes nothing. What must never
// happen here: a layer that loosens what another one refuses, a secret that
// passes, or a call of a tool that nobody knows without a question.
package toolpolicy

import (
	"github.com/countersign-app/countersign/backend/approval"
)

// Machine is what must be known of the machine to say what a call touches.
type Machine struct {
	// Home is the person's home folder.
	Home string
	// Look follows links and returns what is at a path.
	Look func(path string) (approval.File, error)
	// Link returns what the text of a link is, "" where there is no link.
	Link func(path string) string
	// Protected says which protected state a path is; reads tells that it is only
	// read.
	Protected func(path string, reads bool) approval.Protected
	// Key reports whether what a file holds begins as a key does; nil where nobody
	// looks.
	Key func(file approval.File) bool
	// Search looks at the names in a folder that is searched as a whole and returns
	// one that may hold secrets, or "", and whether that were all names; nil where
	// nobody looks.
	Search func(folder string, s Opened) (found string, whole bool)
}

// Bounds of a call. What goes beyond them is invalid.
const (
	maxName  = 256 // bytes of a tool's or a server's name
	maxArgs  = 240_000
	maxDepth = 32
	maxNodes = 10_000 // values in the arguments
	maxFiles = 200    // files and addresses that they name
)
