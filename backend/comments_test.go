package backend_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	document = regexp.MustCompile(`[\w./-]*\w\.md\b`)
	// place is a numbered part of a document.
	place = regexp.MustCompile(`(?i)\bsteps? [0-9]|§`)
	// remark is a comment of the page or of its tests.
	remark = regexp.MustCompile(`(?ms)(?:^|\s)/\*.*?\*/|<!--.*?-->|(?:^|\s)//[^\n]*$`)
	// noted is one of a script.
	noted = regexp.MustCompile(`(?m)(?:^|\s)#.*$`)
)

// unclear returns what a reader of a comment in a folder cannot look up: a
// document that is not there, beside the file or from the root of the
// repository, and a numbered place of none.
func unclear(root, folder, comment string) (found []string) {
	names := document.FindAllString(comment, -1)
	for _, name := range names {
		there := func(dir string) bool {
			_, err := os.Stat(filepath.Join(dir, name))
			return err == nil
		}
		if !there(folder) && !there(root) {
			found = append(found, name)
		}
	}
	if len(names) == 0 {
		found = append(found, place.FindAllString(comment, -1)...)
	}
	return found
}

// TestCommentsCiteWhatIsThere reads the comments of the whole repository, and
// the texts in our programs, which cite no document at all by its steps.
func TestCommentsCiteWhatIsThere(t *testing.T) {
	const root = ".."
	generated := []string{"node_modules", "dist", "dist-gallery", "wailsjs", "testdata", ".git", "bin"}
	files := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(generated, d.Name()) {
			return filepath.SkipDir
		}
		var comments []string
		switch ext := filepath.Ext(name); {
		case d.IsDir():
			return nil
		case ext == ".go":
			comments, err = commentsOf(name)
		case slices.Contains([]string{".ts", ".svelte", ".css", ".mjs", ".h", ".m"}, ext):
			comments, err = matches(name, remark)
		case ext == ".sh", ext == ".yml", d.Name() == "Makefile":
			comments, err = matches(name, noted)
		}
		if err != nil {
			return err
		}
		files += min(1, len(comments))
		for _, comment := range comments {
			for _, what := range unclear(root, filepath.Dir(name), comment) {
				t.Errorf("%s cites %q, which is not there: say the rule itself, or name a document that is", name, what)
			}
		}
		return nil
	})
	if err != nil || files < 500 {
		t.Errorf("%d files with comments, %v", files, err)
	}
}

// commentsOf returns the comments of a file of Go, and with them the texts in it
// that begin like a place of a document, if it is no test.
func commentsOf(name string) (list []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, group := range file.Comments {
		list = append(list, group.Text())
	}
	if strings.HasSuffix(name, "_test.go") {
		return list, nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
			if text, err := strconv.Unquote(text.Value); err == nil && place.FindStringIndex(text) != nil && place.FindStringIndex(text)[0] == 0 {
				list = append(list, text)
			}
		}
		return true
	})
	return list, nil
}

func matches(name string, what *regexp.Regexp) ([]string, error) {
	text, err := os.ReadFile(name)
	return what.FindAllString(string(text), -1), err
}

// TestUnclear shows what is found in a comment and what is not.
func TestUnclear(t *testing.T) {
	for comment, want := range map[string]string{
		"":                                 "",
		"as README.md says":                "",
		"as backend/ipc/README.md says":    "",
		"(testdata/environment.md)":        "testdata/environment.md",
		"the rules of judgement.md":        "judgement.md",
		"(judgement.md, step 7)":           "judgement.md",
		"see nothing/README.md":            "nothing/README.md",
		"step 6: it stays":                 "step 6",
		"as steps 5 and 7 say":             "steps 5",
		"(the protocol, §4)":               "§",
		"a step at a time, in three steps": "",
		"text.mdx and md and .md":          "",
	} {
		if got := strings.Join(unclear("..", "ipc", comment), " "); got != want {
			t.Errorf("%q: %q, want %q", comment, got, want)
		}
	}
}
