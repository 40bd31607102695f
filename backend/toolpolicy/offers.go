package toolpolicy

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// Bounds of what an entry repeats of the arguments of one call.
const (
	maxWhen  = 8
	maxValue = 256 // bytes
)

// offers are the ways to remember a yes, from the narrowest on. Nothing is
// remembered about protected state, and of deleting only the very files.
func offers(in Input, reason approval.Reason) []approval.Offer {
	t := in.Tool
	if reason == approval.ReasonProtectedState || t.Command || !utterable(t.FullName()) {
		return nil
	}
	var list []approval.Offer
	add := func(width approval.Width, wide approval.Wide, when map[string]string, exact bool) {
		e := approval.Entry{Pattern: approval.ToolMark + exactly(t.FullName()), Source: "allow-always", When: when, ArgsExact: exact}
		list = append(list, approval.Offer{Width: width, Writes: []approval.Entry{e}, Folder: in.Cwd, Wide: wide})
	}
	own := t.Server == ""
	if when, ok := exactFiles(t); own && ok {
		add(approval.WidthExact, "", when, false)
	} else if when, ok := exactArgs(in); ok {
		add(approval.WidthExact, "", when, true)
	}
	switch {
	case own && t.Name == fileDelete:
	case own && len(t.Files) > 0:
		if when, ok := folders(t); ok {
			add(approval.WidthWords, "", when, false)
		}
		if !slices.ContainsFunc(t.Files, func(f approval.ToolFile) bool { return !f.Inside }) {
			add(approval.WidthProgram, "", nil, false) // in the session's folder, see entry.covers
		}
	case own && t.Name == webFetch && len(t.Addresses) == 1:
		if at := t.Addresses[0]; pathOf(at.URL) >= 0 {
			add(approval.WidthWords, "", map[string]string{at.Arg: exactly(at.URL[:pathOf(at.URL)]) + "/*"}, false)
		}
	case reason == approval.ReasonAllowlistMiss || reason == approval.ReasonLeaseEnded:
		add(approval.WidthProgram, approval.WideUnknown, nil, false)
	}
	return list
}

// exactFiles names the very files of a call of a file tool. What is written
// there may be another thing each time.
func exactFiles(t *approval.Tool) (when map[string]string, ok bool) {
	if len(t.Files) == 0 || len(t.Files) > maxWhen {
		return nil, false
	}
	when = map[string]string{}
	for _, f := range t.Files {
		pattern := literalPath(f.Real)
		if other := when[f.Arg]; f.Real == "" || !utterable(f.Real) || other != "" && other != pattern { // read in two ways
			return nil, false
		}
		when[f.Arg] = pattern
	}
	return when, true
}

// folders names the folders of the files.
func folders(t *approval.Tool) (when map[string]string, ok bool) {
	if len(t.Files) != 1 || strings.Count(t.Files[0].Real, "/") < 3 || !utterable(t.Files[0].Real) {
		return nil, false
	}
	return map[string]string{t.Files[0].Arg: literalPath(path.Dir(t.Files[0].Real)) + "/**"}, true
}

func exactArgs(in Input) (when map[string]string, ok bool) {
	if len(in.Args) == 0 || len(in.Args) > maxWhen {
		return nil, false
	}
	when = map[string]string{}
	for _, a := range in.Args {
		value := a.exact()
		if len(value) > maxValue || a.Name == "" || !utterable(value) {
			return nil, false
		}
		when[a.Name] = exactly(value)
	}
	files, ok := exactFiles(in.Tool)
	if len(in.Tool.Files) > 0 && !ok {
		return nil, false
	}
	maps.Copy(when, files)
	return when, true
}

// utterable reports whether a text can be written into a pattern that a person
// reads.
func utterable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' })
}

// literalPath is the pattern of package glob that stands for just this path.
func literalPath(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(name)
}
