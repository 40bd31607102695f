package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// program is one of ours, as the Makefile and build/bundle build it.
type program struct {
	folder, tags string
	systems      map[string]string // its value of CGO_ENABLED on each
}

var programs = []program{
	{"./app", "desktop,production", map[string]string{"darwin": "1", "windows": "1"}},
	{"./app", "desktop,production,webkit2_41", map[string]string{"linux": "1"}},
	{"./backend/cmd/countersign", "nethttpomithttp2", map[string]string{"darwin": "0", "linux": "0", "windows": "0"}},
	{"./backend/cmd/countersign", "nethttpomithttp2", map[string]string{"darwin": "1"}}, // compiled on a Mac, where it reaches the Keychain
}

// processors are those that we build for.
var processors = []string{"amd64", "arm64"}

// listed is a package as go list tells it.
type listed struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// inPrograms writes our own terms, and those of Go and of the modules.
func inPrograms(root string) (string, error) {
	parts, err := linked(root)
	if err != nil {
		return "", err
	}
	parts = append(parts, part{name: "Countersign", root: root})
	return section("Countersign, and what its programs are made of", parts, filepath.Join(root, "build/notices/kept"))
}

// linked returns Go and each module of which a package is in one of our programs.
func linked(root string) ([]part, error) {
	goroot, err := ask(root, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	// The version of Go is whatever compiles, and its terms do not change.
	found := map[string]part{"": {name: "Go", root: strings.TrimSpace(string(goroot))}}
	for _, p := range programs {
		for system, cgo := range p.systems {
			for _, processor := range processors {
				env := []string{"GOOS=" + system, "GOARCH=" + processor, "CGO_ENABLED=" + cgo, "GOFLAGS="}
				out, err := ask(root, env, "go", "list", "-deps", "-json=Dir,Standard,Module", "-tags", p.tags, p.folder)
				if err != nil {
					return nil, err
				}
				if err := add(found, string(out)); err != nil {
					return nil, err
				}
			}
		}
	}
	return slices.Collect(maps.Values(found)), nil
}

// add adds the modules of packages.
func add(found map[string]part, out string) error {
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		switch m := l.Module; {
		case l.Standard:
		case m == nil || !m.Main && m.Dir == "":
			return fmt.Errorf("%s is in no module that is on this disk", l.Dir)
		case m.Main:
		default:
			p, known := found[m.Path]
			if !known {
				p = part{m.Path, m.Version, m.Dir, map[string]bool{}}
				found[m.Path] = p
			}
			p.dirs[l.Dir] = true
		}
	}
}

// ask has another program answer.
func ask(dir string, env []string, words ...string) ([]byte, error) {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%s %s: %w\n%s", words[0], words[1], err, failed.Stderr)
	}
	return out, err
}
