package toolpolicy

import (
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// Opened says which files of a folder a search opens.
type Opened struct {
	Only    []string // patterns of their names, all files if there are none
	Not     []string // patterns of names that it leaves out
	Ignores bool     // it leaves out what .gitignore names
}

// search collects what the arguments of a search say of what it opens.
type search struct {
	Opened
	arg     string // the argument that counts for what is opened
	ignored bool   // an argument may say that what .gitignore names is not left out
}

// globArguments say which files are searched, by their names in small letters
// without what stands between words.
var globArguments = []string{
	"glob", "globs", "include", "includes", "includepattern", "includepatterns", "includeglob", "includeglobs", "includedfiles", "filestoinclude",
	"fileglob", "fileglobs", "filepattern", "filepatterns", "filesglob", "globpattern", "globpatterns", "globfilter", "pathglob", "pathpattern", "pathfilter", "filefilter", "filter",
}

func plainKey(key string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(key))
}

// globArgument reports whether an argument of a search says which files are
// read.
func globArgument(key string) bool { return slices.Contains(globArguments, plainKey(key)) }

// told notes an argument that may say what is ignored.
func (s *search) told(key string) {
	if plain := plainKey(key); strings.Contains(plain, "ignore") && plain != "ignorecase" {
		s.ignored = true
	}
}

// globs looks at patterns that say which files are searched: at what they name in
// any folder, and at what leads out of the folder, also as one of several.
func (l *looker) globs(at, key, text string) error {
	for _, pattern := range patterns(text) {
		not, out := strings.CutPrefix(pattern, "!")
		out = out && not != "" && !strings.ContainsAny(not, "!()[]{}\\|")
		switch counts := key == l.search.arg; {
		case out && counts:
			l.search.Not = append(l.search.Not, not)
		case counts:
			l.search.Only = append(l.search.Only, pattern)
		}
		if out {
			continue
		}
		name := strings.Trim(strings.TrimPrefix(pattern, "**/"), "*!")
		parts := append([]string{name}, strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("{}(),|", r) })...)
		for _, part := range parts {
			if l.secret(part) || strings.HasPrefix(part, "/") || strings.HasPrefix(part, "~") || goesUp(part) {
				return l.file(at, part)
			}
		}
	}
	return nil
}

// patterns takes apart what agents split at blanks and at commas that stand in no
// braces.
func patterns(text string) (list []string) {
	depth, from := 0, 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text), depth == 0 && strings.IndexByte(" \t\n,;", text[i]) >= 0:
			if from < i {
				list = append(list, text[from:i])
			}
			from = i + 1
		case text[i] == '{':
			depth++
		case text[i] == '}':
			depth = max(0, depth-1)
		}
	}
	return list
}

// searchedArg marks a file that no argument names, and that a search opens.
const searchedArg = "path, searched"

// searched looks for files with secrets in the folders that a search goes through.
// A pattern brings back what .gitignore names, as with rg; where some patterns name
// files and others leave some out, programs do not agree on what is left. Each folder
// is looked at once; where several are more than can be looked at, the search asks:
// the first could be there to hide the others.
func (l *looker) searched() {
	if l.Search == nil {
		return
	}
	opened := l.search.Opened
	if len(opened.Only) > 0 && len(opened.Not) > 0 {
		opened.Only, opened.Not = nil, nil
		l.search.ignored = true
	}
	opened.Ignores = !l.search.ignored && len(opened.Only) == 0
	seen := map[string]bool{}
	for _, f := range slices.Clone(l.tool.Files) {
		if seen[f.Real] || f.Real == "" || !f.File.IsFolder() || f.Protected != approval.ProtectedNot {
			continue
		}
		seen[f.Real] = true
		found, whole := l.Search(f.Real, opened)
		if found == "" && (whole || f.Inside && len(seen) == 1) { // what is not looked at to its end passes in the session's folder
			continue
		}
		at := l.look(searchedArg, path.Join(f.Real, found))
		if at.Protected != approval.ProtectedOurs {
			at.Protected = approval.ProtectedPrivate
		}
		at.Inside = f.Inside
		l.tool.Files = append(l.tool.Files, at)
	}
}
