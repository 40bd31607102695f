package command

import (
	_ "embed"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

//go:embed kinds.txt
var kindsText string

// kindList is one section of kinds.txt.
type kindList struct {
	kind  approval.ProgramKind
	names map[string]bool
}

// kinds are the sections of kinds.txt, the strictest first.
var kinds = readKinds(kindsText)

func readKinds(text string) []kindList {
	var list []kindList
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "[") && strings.Contains(line, "] "):
			kind, _, _ := strings.Cut(line[1:], "]")
			list = append(list, kindList{approval.ProgramKind(kind), map[string]bool{}})
		default:
			for _, name := range strings.Fields(line) {
				list[len(list)-1].names[name] = true
			}
		}
	}
	return list
}

// kindOf returns the strictest kind that any of these names stands for. A
// name is known in any case, with a version behind it (python3.12, gcc-13).
func kindOf(names ...string) approval.ProgramKind {
	readers := 0
	for _, k := range kinds {
		for _, name := range names {
			name = strings.ToLower(name)
			plain := strings.TrimRight(name, "0123456789.-_")
			if !k.names[name] && !k.names[plain] {
				continue
			}
			if k.kind != approval.KindReader {
				return k.kind
			}
			readers++
		}
	}
	// A reader only if every name says so: a link called "ls" that leads to
	// something unknown is not one.
	if readers == len(names) {
		return approval.KindReader
	}
	return approval.KindOther
}
