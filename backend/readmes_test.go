package backend_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// made are folders that only a build makes.
var made = []string{"build/bin", "build/dist", "build/smoke"}

// quoted is a path of the tree in a README, beside a file in its own folder, and
// tried a command that tests a room.
var (
	quoted = regexp.MustCompile("`((?:app|backend|build|frontend)/[\\w./@-]+)`")
	beside = regexp.MustCompile("`([\\w*-]+\\.(?:go|txt|sh))`")
	tried  = regexp.MustCompile(`(?m)^    go test ([^#\n]+)`)
)

// readmes returns the texts of all READMEs in the tree, by their paths from its root.
func readmes(t *testing.T) map[string]string {
	t.Helper()
	list := map[string]string{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.Name() != "README.md":
			return nil
		}
		text, err := os.ReadFile(name)
		list[filepath.ToSlash(strings.TrimPrefix(name, ".."+string(filepath.Separator)))] = string(text)
		return err
	})
	if err != nil || len(list) < 10 {
		t.Fatalf("%d READMEs, %v", len(list), err)
	}
	return list
}

// TestReadmePaths: what a README names of the tree is there, and so are the files
// that it names without a folder, beside it.
func TestReadmePaths(t *testing.T) {
	for name, text := range readmes(t) {
		for _, found := range beside.FindAllStringSubmatch(text, -1) {
			if files, err := filepath.Glob(filepath.Join("..", filepath.Dir(name), found[1])); err != nil || len(files) == 0 {
				t.Errorf("%s names %s, which is not beside it (%v)", name, found[1], err)
			}
		}
		for _, found := range quoted.FindAllStringSubmatch(text, -1) {
			at := found[1]
			if slices.ContainsFunc(made, func(dir string) bool { return at == dir || strings.HasPrefix(at, dir+"/") }) {
				continue
			}
			if _, err := os.Stat(filepath.Join("..", at)); err != nil {
				t.Errorf("%s names %s: %v", name, at, err)
			}
		}
	}
}

// TestReadmeCommands: the commands with which a README tests a room test
// something. Each part of what stands behind -run begins the name of a test.
func TestReadmeCommands(t *testing.T) {
	for name, text := range readmes(t) {
		for _, found := range tried.FindAllStringSubmatch(text, -1) {
			line := strings.TrimSpace(found[1])
			rooms, run, _ := strings.Cut(line, "-run ")
			run, _, _ = strings.Cut(strings.Trim(strings.TrimSuffix(strings.TrimSpace(run), " -v"), "'"), "/")
			names := ""
			for room := range strings.FieldsSeq(rooms) {
				files, _ := filepath.Glob(filepath.Join("..", room, "*_test.go"))
				if len(files) == 0 {
					t.Errorf("%s: %s has no tests", name, room)
				}
				for _, file := range files {
					test, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					names += string(test)
				}
			}
			for part := range strings.SplitSeq(run, "|") {
				if part != "" && !regexp.MustCompile(`(?m)^func Test\w*`+strings.TrimPrefix(strings.Trim(part, "^$"), "Test")).MatchString(names) {
					t.Errorf("%s: no test is called like %q (%s)", name, part, line)
				}
			}
		}
	}
}
