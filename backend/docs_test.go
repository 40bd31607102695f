package backend_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestDocuments holds what the documents of the root name against the tree: each
// file and folder, each target of make, and each test, which must stand in a
// folder of a file that its line names too.
func TestDocuments(t *testing.T) {
	for _, name := range []string{"SECURITY.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Error(err)
			continue
		}
		checked := 0
		for i, line := range strings.Split(string(text), "\n") {
			named, wrong := namedIn(line)
			checked += named
			for _, w := range wrong {
				t.Errorf("%s:%d: %s", name, i+1, w)
			}
		}
		if checked < 50 {
			t.Errorf("%s: only %d names were checked: does it still name files and tests in back quotes?", name, checked)
		}
	}
}

// TestDocumentsAreUnderstood plants what a document must not say.
func TestDocumentsAreUnderstood(t *testing.T) {
	for line, want := range map[string]int{
		"`backend/ipc/door.go`: `TestOurs`, `FuzzFrame`":                      0,
		"`backend/ipc`: `TestOurs`":                                           0,
		"`backend/cmd/countersign/doors_test.go` `TestAskerCannotOperate`":    0,
		"`go test ./backend/ipc -run 'TestOurs|FuzzFrame'` in `backend/ipc/`": 0,
		"`make test`, `make`, `frontend/src/lib/*.ts` and `git rm a/b`":       0,
		"`ipc.Dial`, `exec-approvals.json`, `~/.openclaw`, `/usr/bin`":        0,
		"    go test ./backend/ipc -run TestOurs   # in `backend/nothing`":    0,
		"    go test ./backend/nothing -run TestOurs":                         2,
		"`backend/ipc/{door,peer}.go`: `TestOurs`":                            0,
		"`backend/ipc/{door,nothing}.go`":                                     1,
		"`backend/ipc/nothing.go`":                                            1,
		"`backand/ipc/door.go`":                                               1,
		"`door.go`":                                                           1,
		"`go test ./backend/nothing`":                                         1,
		"`frontend/src/lib/*.go`":                                             1,
		"`backend/ipc/door.go`: `TestNothing`":                                1,
		"`backend/ipc/door.go`: `TestTrees`":                                  1,
		"`TestOurs`":                                                          1,
		"`make nothing`":                                                      1,
		"`backend/ipc/nothing.go`: `TestOurs`, `TestTrees`":                   3,
	} {
		if _, wrong := namedIn(line); len(wrong) != want {
			t.Errorf("%s: %q", line, wrong)
		}
	}
}

// TestFloorsAreDrawn compares the floors that contributors read with those that
// are held.
func TestFloorsAreDrawn(t *testing.T) {
	text, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	drawn := map[string]int{}
	for _, line := range ofFloor.FindAllStringSubmatch(string(text), -1) {
		rooms := strings.Fields(line[2])
		if line[3] != "" { // one room, and what it is
			rooms = rooms[:1]
		}
		for _, room := range rooms {
			drawn[room] = int(line[1][0] - '0')
		}
	}
	for room, floor := range floors {
		if at, ok := drawn[room]; !ok || at != floor {
			t.Errorf("%s is on floor %d: CONTRIBUTING.md draws %d (is there: %v)", room, floor, at, ok)
		}
	}
	for room := range drawn {
		if _, ok := floors[room]; !ok {
			t.Errorf("CONTRIBUTING.md draws %s, which has no floor", room)
		}
	}
}

var inFile sync.Map // of names, by file

var (
	ofFloor  = regexp.MustCompile(`(?m)^    ([0-9])  ((?:[a-z/]+ )*[a-z/]+)(?:  +(\S.*))?$`)
	ofQuotes = regexp.MustCompile("`([^`]+)`")
	ofTest   = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	ofPath   = regexp.MustCompile(`^(?:\./)?[\w.][\w.@*-]*(?:/[\w.@*-]+)*/?$`)
	ofSource = regexp.MustCompile(`\.(?:go|txt|md|sh|mjs|ts|svelte|txtar|css|html)$`)
	ofMake   = regexp.MustCompile(`^make ([a-z][a-z-]*)`)
	ofTarget = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
	ofFunc   = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// namedIn counts what a line names of the tree, and says what of it is not there.
func namedIn(line string) (named int, wrong []string) {
	var tests, folders []string
	texts := ofQuotes.FindAllStringSubmatch(line, -1)
	if command, ok := strings.CutPrefix(line, "    "); ok {
		texts = [][]string{{"", "sh " + command}}
	}
	for _, q := range texts {
		words := strings.Fields(q[1])
		tests = append(tests, ofTest.FindAllString(q[1], -1)...)
		if m := ofMake.FindStringSubmatch(q[1]); m != nil {
			named++
			if !slices.Contains(allNames("../Makefile", ofTarget), m[1]) {
				wrong = append(wrong, "no target "+q[1])
			}
		}
		for _, w := range each(words) {
			at, isPath := pathOf(w, len(words) > 1)
			if !isPath {
				continue
			}
			named++
			found, _ := filepath.Glob(filepath.Join("..", filepath.FromSlash(at)))
			if len(found) == 0 {
				wrong = append(wrong, "no file "+w)
				continue
			}
			if info, err := os.Stat(found[0]); err == nil && !info.IsDir() {
				at = path.Dir(at)
			}
			folders = append(folders, at)
		}
	}
	for _, name := range tests {
		named++
		if !slices.ContainsFunc(folders, func(folder string) bool { return hasTest(folder, name) }) {
			wrong = append(wrong, fmt.Sprintf("no %s in %q", name, folders))
		}
	}
	return named, wrong
}

// each returns the words, those with a list in braces once for each of its names.
func each(words []string) (all []string) {
	for _, w := range words {
		before, rest, open := strings.Cut(w, "{")
		list, after, closed := strings.Cut(rest, "}")
		if !open || !closed {
			all = append(all, w)
			continue
		}
		for name := range strings.SplitSeq(list, ",") {
			all = append(all, before+name+after)
		}
	}
	return all
}

// pathOf returns the path that a word names, from the root of the repository. In a
// command only what begins with ./ is one.
func pathOf(word string, command bool) (string, bool) {
	if !ofPath.MatchString(word) || command && !strings.HasPrefix(word, "./") {
		return "", false
	}
	at := strings.TrimSuffix(path.Clean(word), "/...")
	return at, command || strings.Contains(word, "/") || ofSource.MatchString(word)
}

// hasTest reports whether a folder has a test, on whichever platform.
func hasTest(folder, name string) bool {
	files, _ := filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), "*_test.go"))
	return slices.ContainsFunc(files, func(file string) bool { return slices.Contains(allNames(file, ofFunc), name) })
}

// allNames are the first groups of what matches in a file, which is read once.
func allNames(file string, what *regexp.Regexp) []string {
	if names, ok := inFile.Load(file); ok {
		return names.([]string)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var names []string
	for _, m := range what.FindAllStringSubmatch(string(text), -1) {
		names = append(names, m[1])
	}
	inFile.Store(file, names)
	return names
}
