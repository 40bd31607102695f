package command

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

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
var kinds = sync.OnceValue(func() []kindList { return readKinds(kindsText) })

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

func (k kindList) has(name string) bool { return k.names[name] }

// otherNames are the plain names that a name may stand for: without the
// platform before it, without a version or a variant behind it, and without
// the g of GNU programs beside others.
func otherNames(name string) []string {
	if i := strings.Index(name, "-linux-gnu-"); i >= 0 {
		name = name[i+len("-linux-gnu-"):]
	} else if i := strings.Index(name, "-apple-darwin"); i >= 0 {
		_, name, _ = strings.Cut(name[i+len("-apple-darwin"):], "-")
	}
	plain := name
	if i := strings.IndexAny(name, ".0123456789"); i > 0 {
		plain = strings.TrimRight(name[:i], "-_")
	}
	return []string{name, plain, strings.TrimPrefix(plain, "g")}
}

// kindOf returns the strictest kind that any of these names stands for. A
// name is known in any case, with a version behind it (python3.12, gcc-13).
func kindOf(names ...string) approval.ProgramKind {
	readers := 0
	for _, k := range kinds() {
		for _, name := range names {
			name = strings.ToLower(name)
			switch {
			case k.kind != approval.KindReader && k.names[name], k.kind != approval.KindReader && slices.ContainsFunc(otherNames(name), k.has):
				return k.kind
			case k.names[name]:
				readers++
			}
		}
	}
	// A reader only if every name says so: a link called "ls" that leads to
	// something unknown is not one.
	if readers == len(names) {
		return approval.KindReader
	}
	return approval.KindOther
}
