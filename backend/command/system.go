package command

import (
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/paths"
)

// Kept reports whether only the system's package manager changes a file: it is
// root's, nobody else may write to it, and it lies where the system keeps its
// programs. Such a file gets new content by upgrades, which are no reason to
// ask.
func Kept(file approval.File) bool {
	return file.OfRoot() && paths.OfSystem(file.Path)
}

// keptAll reports whether only the system's package manager changes a program
// and all that interprets it.
func keptAll(res *approval.Resolution) bool {
	for at := res; at != nil; at = at.Interpreter {
		if !Kept(at.File) || at != res && at.Bare {
			return false
		}
	}
	return true
}
