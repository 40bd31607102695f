package command

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
)

// safeBins are read at the first use, as profiles are.
var safeBins = sync.OnceValue(func() *library { return mustRead("safebins.txt") })

// SafeBin reports whether these words are a filter of the built-in list that
// can only read its standard input. It is decided from the words alone.
func SafeBin(argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	p := safeBins().programs[path.Base(argv[0])]
	if p == nil {
		return false
	}
	a := &arguments{job: unlooked(), has: map[string]bool{}} // these profiles name no files
	a.read(p, operands(&approval.Segment{Argv: argv}))
	return len(a.findings) == 0 && !a.spent()
}

// unlooked is a job of words alone, which looks at no file.
func unlooked() *job { return &job{effort: newEffort(context.Background())} }

// KnownSafeBin reports whether a filter of this name is in the built-in list.
func KnownSafeBin(name string) bool { return safeBins().programs[name] != nil }

// OwnSafeBin does so by what a person wrote of a filter that is not in the list.
func OwnSafeBin(own approval.SafeBinProfile, argv []string) bool {
	p := newProfile("")
	p.is["exact"] = true
	p.any, p.operands = own.MaxPositional > 0, []effect{effectNone}
	for _, name := range own.AllowedValueFlags {
		p.options[name] = option{takes: takesValue}
	}
	for _, name := range own.AllowedBooleanFlags {
		p.options[name] = option{}
	}
	for _, name := range own.DeniedFlags {
		delete(p.options, name)
	}
	if slices.ContainsFunc(argv[1:], func(word string) bool { return strings.Contains(word, "/") }) {
		return false // it may name a file
	}
	a := &arguments{job: unlooked(), has: map[string]bool{}}
	a.read(p, operands(&approval.Segment{Argv: argv}))
	return len(a.findings) == 0 && !a.spent() && own.MinPositional <= a.count && a.count <= own.MaxPositional
}
