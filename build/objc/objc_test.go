// Package objc checks the Objective-C files of the app without a Mac: that a
// compiler finds nothing wrong with them, that all they use is linked and as old
// as the oldest macOS of the app, and that app/mac/declared, which stands in for
// Apple's headers here, says what those say.
package objc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
)

// kinds are the kinds of Mac, as Go and as clang call them.
var kinds = map[string]string{"arm64": "arm64", "amd64": "x86_64"}

// room is a package with Objective-C files, as go list tells it.
type room struct {
	ImportPath, Dir                         string
	MFiles, CgoFiles, CgoCFLAGS, CgoLDFLAGS []string
}

// rooms returns all that a build for one kind of Mac compiles of ours, by the
// last part of their paths.
func rooms(t *testing.T, arch string) map[string]room {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,MFiles,CgoFiles,CgoCFLAGS,CgoLDFLAGS", "-tags", "desktop,production", "./...")
	cmd.Dir, cmd.Stderr = "../..", os.Stderr
	cmd.Env = append(os.Environ(), "GOOS=darwin", "GOARCH="+arch, "CGO_ENABLED=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal("go list: ", err)
	}
	found := map[string]room{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var r room
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := path.Base(r.ImportPath)
		if len(r.MFiles) == 0 {
			continue
		}
		if _, twice := found[name]; twice {
			t.Fatal("two packages of that name: ", name)
		}
		found[name] = r
	}
	if len(found["mac"].MFiles) == 0 || len(found["vault"].MFiles) == 0 {
		t.Fatalf("packages with Objective-C files: %v", found)
	}
	return found
}

// newest is the newest clang that is installed, "" without one.
var newest = sync.OnceValue(func() (path string) {
	last := 0
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		numbered, _ := filepath.Glob(filepath.Join(dir, "clang-[0-9]*")) // the pattern is right
		for _, name := range append(numbered, filepath.Join(dir, "clang")) {
			said, err := exec.Command(name, "-dumpversion").Output()
			var version int
			if _, bad := fmt.Sscanf(string(said), "%d", &version); err == nil && bad == nil && version > last {
				path, last = name, version
			}
		}
	}
	return path
})

// clang returns the compiler. Without one the test is skipped, but not on the
// machines that decide.
func clang(t *testing.T) string {
	t.Helper()
	switch path := newest(); {
	case path != "":
		return path
	case os.Getenv("CI") == "true":
		t.Fatal("there is no clang")
	default:
		t.Skip("skipped: there is no clang")
	}
	return ""
}

// oldest is the macOS that the app needs.
var oldest = regexp.MustCompile(`<key>LSMinimumSystemVersion</key>\s*<string>([0-9.]+)</string>`)

// compiler runs clang for one kind of Mac.
type compiler struct {
	clang, target string
	headers       []string // the flags that say where headers are
}

// withDeclared returns a compiler that takes headers from app/mac/declared.
func withDeclared(t *testing.T, arch string) compiler {
	t.Helper()
	text, err := os.ReadFile("../darwin/Info.plist")
	if err != nil {
		t.Fatal(err)
	}
	version := oldest.FindSubmatch(text)
	if version == nil {
		t.Fatal("Info.plist does not say which macOS the app needs")
	}
	return compiler{clang(t), kinds[arch] + "-apple-macos" + string(version[1]), []string{"-ffreestanding", "-I", "../../app/mac/declared"}}
}

// warnings are those that our files must be free of.
var warnings = []string{"-Werror", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wunguarded-availability"}

// run compiles a file of a package as cgo would, and returns what clang says.
func (c compiler) run(r room, file string, flags ...string) (string, error) {
	args := slices.Concat([]string{"-target", c.target, "-fblocks"}, c.headers, []string{"-I", r.Dir}, r.CgoCFLAGS, warnings, flags, []string{file})
	out, err := exec.Command(c.clang, args...).CombinedOutput()
	return string(out), err
}
