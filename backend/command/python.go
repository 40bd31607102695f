package command

import (
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/oneliner"
)

// ReadsCode reports whether code of a program is read that stands in its arguments or its
// input: an entry can cover what surely only reads.
func ReadsCode(name string) bool {
	p := profiles().programs[name]
	return p != nil && p.options["-c"].effect == effectPython
}

// allowedCode is the word with which an entry covers a program of Python.
func (a *arguments) allowedCode(program string) approval.Allowed {
	if a.onlyReads(program) {
		return approval.AllowReadingCode
	}
	return approval.AllowThisCode
}

// onlyReads reports whether a program of Python surely reads nothing but its input and
// files of the project that it names, and prints: and whether what it imports is Python's
// own, as the folder where it runs comes first. That must be in the project: elsewhere
// others may put a module there.
func (a *arguments) onlyReads(program string) bool {
	files, why := oneliner.Python(program)
	if why != "" || !a.plan.Folder.Holds(a.start) || !ownModules(a, use{}) {
		return false
	}
	if names, err := a.list(a.start); err != nil || slices.ContainsFunc(names, shownByTraces) {
		return false
	}
	for _, file := range files {
		if !a.inside(file) || a.inGit(file) {
			return false
		}
	}
	a.values, a.looked = append(a.values, files...), true
	return true
}

// shownByTraces reports whether an error of a program may show a line of a file: up to
// version 3.9, <string> and <stdin> are looked for in the folder, and in all <unknown>.
func shownByTraces(name string) bool { return strings.HasPrefix(name, "<") }
