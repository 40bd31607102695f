package setup

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/ownfile"
)

// Found is what of an agent is on this machine. No program is started to learn
// it.
type Found struct {
	// Program is the path of the agent's program in PATH, "" if there is none.
	Program string `json:"program,omitempty"`
	// Folder is a folder in the home where the agent keeps things.
	Folder string `json:"folder,omitempty"`
	// Version is what a file beside the program says, "" if none does.
	Version string `json:"version,omitempty"`
}

// Here reports whether the agent seems to be used here.
func (f Found) Here() bool { return f.Program != "" || f.Folder != "" }

const (
	// maxPackage bounds a package.json that is read for its version, in bytes.
	maxPackage = 1 << 20
	// upwards is how many folders above a program a package.json is looked for.
	upwards = 4
)

// find looks for an agent.
func (e Env) find(t target) (f Found) {
	for _, name := range t.programs {
		if f.Program == "" {
			f.Program = e.program(name)
		}
	}
	for _, trace := range t.traces {
		dir := filepath.Join(e.Home, trace)
		if info, err := os.Stat(dir); err == nil && info.IsDir() && f.Folder == "" {
			f.Folder = dir
		}
	}
	if moved := e.moved(t); moved != "" && f.Folder == "" {
		if info, err := os.Stat(moved); err == nil && info.IsDir() {
			f.Folder = moved
		}
	}
	if f.Program != "" {
		f.Version = versionOf(f.Program, t.packages)
	}
	return f
}

// program looks a name up in PATH.
func (e Env) program(name string) string {
	for _, dir := range filepath.SplitList(e.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// versionOf reads the version of a program from the path that it leads to, or
// from a package.json above it.
func versionOf(program string, packages []string) string {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return ""
	}
	if v := versionInPath(real); v != "" {
		return v
	}
	dir := filepath.Dir(real)
	for range upwards {
		for _, file := range []string{"package.json", "resources/app/package.json"} {
			if v := versionInPackage(filepath.Join(dir, file), packages); v != "" {
				return v
			}
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// versionInPath knows Homebrew's folders, and those that keep each version
// under its number.
func versionInPath(path string) string {
	parts := strings.Split(path, string(filepath.Separator))
	for i, part := range parts {
		at := i + 1
		if part == "Cellar" || part == "Caskroom" {
			at++
		} else if part != "versions" {
			continue
		}
		if at < len(parts) {
			return version(parts[at])
		}
	}
	return ""
}

func versionInPackage(path string, packages []string) string {
	f, err := ownfile.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPackage))
	var p struct{ Name, Version string }
	if err != nil || json.Unmarshal(text, &p) != nil || !slices.Contains(packages, p.Name) {
		return ""
	}
	return version(p.Version)
}

// version returns a text if it looks like a version.
func version(s string) string {
	odd := strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune(".-+_", r)
	})
	if odd || len(s) > 40 || !strings.ContainsAny(s, "0123456789") {
		return ""
	}
	return s
}
