// Command darwincheck checks the types of the packages that need cgo on macOS,
// on any machine: it reads every file that a build for macOS would, and takes
// what comes from C for whatever it is used as. Unknown methods, wrong
// arguments and unknown constants are found; whether C and Go agree is not.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	tags := flag.String("tags", "desktop,production", "build `tags`")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: darwincheck [-tags TAGS] PACKAGE...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	bad := false
	for _, arch := range []string{"arm64", "amd64"} {
		found, count, err := check(source{tags: *tags, arch: arch, packages: flag.Args()})
		if err != nil {
			fmt.Fprintln(os.Stderr, "darwincheck:", err)
			os.Exit(2)
		}
		for _, problem := range found {
			fmt.Fprintln(os.Stderr, problem)
		}
		bad = bad || len(found) > 0
		fmt.Printf("darwin/%s: %d packages, %d errors\n", arch, count, len(found))
	}
	if bad {
		os.Exit(1)
	}
}

// source says what is checked.
type source struct {
	tags, arch string
	packages   []string
	// overlay holds other texts for files, by their absolute path.
	overlay map[string]string
}

// listed is a package as go list tells it.
type listed struct {
	ImportPath, Dir   string
	GoFiles, CgoFiles []string
	ImportMap         map[string]string
	Standard          bool
	Module            *struct{ Main bool }
	Error             *struct{ Err string }
}

// ours tells whether a package is checked whole. Of the others, only what they
// offer is.
func (p listed) ours() bool { return p.Module != nil && p.Module.Main }

// check returns what is wrong, and how many packages were looked at.
func check(s source) (found []string, count int, err error) {
	packages, err := list(s)
	if err != nil {
		return nil, 0, err
	}
	known := map[string]*types.Package{"unsafe": types.Unsafe}
	files := token.NewFileSet()
	for _, p := range packages { // each after those that it imports
		if p.ImportPath == "unsafe" || p.ImportPath == "C" {
			continue
		}
		count++
		if p.Error != nil {
			found = append(found, p.ImportPath+": "+p.Error.Err)
		}
		trees, problems := parse(files, p, s.overlay)
		found = append(found, problems...)
		conf := types.Config{
			FakeImportC: true, IgnoreFuncBodies: !p.ours(), Sizes: types.SizesFor("gc", s.arch),
			Importer: lookup(func(path string) (*types.Package, error) {
				if to, other := p.ImportMap[path]; other {
					path = to
				}
				if have := known[path]; have != nil {
					return have, nil
				}
				return nil, fmt.Errorf("no package %s", path)
			}),
			Error: func(err error) {
				if p.ours() {
					found = append(found, err.Error())
				}
			},
		}
		known[p.ImportPath], _ = conf.Check(p.ImportPath, files, trees, nil) // its errors are told above
	}
	return found, count, nil
}

type lookup func(path string) (*types.Package, error)

func (l lookup) Import(path string) (*types.Package, error) { return l(path) }

// list asks go for the packages and what they import.
func list(s source) (packages []listed, err error) {
	args := []string{"list", "-e", "-deps", "-json=ImportPath,Dir,GoFiles,CgoFiles,ImportMap,Standard,Module,Error", "-tags", s.tags}
	if len(s.overlay) > 0 {
		dir, err := os.MkdirTemp("", "darwincheck")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		flag, err := writeOverlay(dir, s.overlay)
		if err != nil {
			return nil, err
		}
		args = append(args, flag)
	}
	cmd := exec.Command("go", append(args, s.packages...)...)
	cmd.Env = append(os.Environ(), "GOOS=darwin", "GOARCH="+s.arch, "CGO_ENABLED=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// writeOverlay writes the texts where go finds them, and returns its flag.
func writeOverlay(dir string, overlay map[string]string) (string, error) {
	replace := map[string]string{}
	for path, text := range overlay {
		at := filepath.Join(dir, fmt.Sprint(len(replace), ".go"))
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[path] = at
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	at := filepath.Join(dir, "overlay.json")
	return "-overlay=" + at, os.WriteFile(at, text, 0o600)
}

func parse(files *token.FileSet, p listed, overlay map[string]string) (trees []*ast.File, problems []string) {
	for _, name := range append(p.GoFiles[:len(p.GoFiles):len(p.GoFiles)], p.CgoFiles...) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		var text any
		if other, ok := overlay[name]; ok {
			text = other
		}
		tree, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		trees = append(trees, tree)
	}
	return trees, problems
}
