// Package approvaltest holds fakes for tests of other packages: an invented
// disk and a person who answers as told. Only tests import it.
package approvaltest

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// World is an invented disk. Folders exist if something is in them.
type World struct {
	Files map[string]File
	Links map[string]string
}

// File is one invented file.
type File struct {
	Mode uint32 // permission bits
	UID  int
	Text string
}

// NewWorld makes a disk with programs (0755, root's) at these paths, and with
// links written as "from -> to".
func NewWorld(programs string) *World {
	w := &World{Files: map[string]File{}, Links: map[string]string{}}
	for _, line := range strings.Split(programs, "\n") {
		if from, to, ok := strings.Cut(line, " -> "); ok {
			w.Links[strings.TrimSpace(from)] = strings.TrimSpace(to)
			continue
		}
		for _, name := range strings.Fields(line) {
			w.Files[name] = File{Mode: 0o755, Text: "\x7fELF"}
		}
	}
	return w
}

// real follows links, one part after another.
func (w *World) real(name string, depth int) (string, error) {
	if depth > 40 || !path.IsAbs(name) {
		return "", fmt.Errorf("look at %s: %w", name, fs.ErrNotExist)
	}
	at := "/"
	for part := range strings.SplitSeq(strings.Trim(path.Clean(name), "/"), "/") {
		at = strings.TrimSuffix(at, "/") + "/" + part
		if to, ok := w.Links[at]; ok {
			if !path.IsAbs(to) {
				to = path.Join(path.Dir(at), to)
			}
			next, err := w.real(to, depth+1)
			if err != nil {
				return "", err
			}
			at = next
		}
	}
	return at, nil
}

// Look follows links and returns the invented file or folder.
func (w *World) Look(name string) (approval.File, error) {
	at, err := w.real(name, 0)
	if err != nil {
		return approval.File{}, err
	}
	sum := fnv.New64a()
	sum.Write([]byte(at))
	if f, ok := w.Files[at]; ok {
		return approval.File{Path: at, Dev: 1, Ino: sum.Sum64(), Size: int64(len(f.Text)), Mode: 0o100000 | f.Mode, UID: f.UID}, nil
	}
	if w.holds(at) {
		return approval.File{Path: at, Dev: 1, Ino: sum.Sum64(), Mode: 0o040755}, nil
	}
	return approval.File{}, fmt.Errorf("look at %s: %w", name, fs.ErrNotExist)
}

// holds reports whether something is in this folder.
func (w *World) holds(dir string) bool {
	below := dir + "/"
	for name := range w.Files {
		if dir == "/" || strings.HasPrefix(name, below) {
			return true
		}
	}
	for name := range w.Links {
		if strings.HasPrefix(name, below) {
			return true
		}
	}
	return false
}

// Head returns the beginning of an invented file.
func (w *World) Head(file approval.File, n int) ([]byte, error) {
	at, err := w.real(file.Path, 0)
	if err != nil {
		return nil, err
	}
	text := w.Files[at].Text
	return []byte(text[:min(n, len(text))]), nil
}

// Link returns what an invented link says.
func (w *World) Link(name string) string { return w.Links[path.Clean(name)] }

// Kept reports whether a path lies where invented systems keep their programs.
func (w *World) Kept(name string) bool {
	return strings.HasPrefix(name, "/usr/bin/") || strings.HasPrefix(name, "/bin/") || strings.HasPrefix(name, "/etc/")
}

// List returns the names in an invented folder.
func (w *World) List(name string) ([]string, error) {
	at, err := w.real(name, 0)
	if err != nil {
		return nil, err
	}
	if !w.holds(at) {
		return nil, fmt.Errorf("list %s: %w", name, fs.ErrNotExist)
	}
	found := map[string]bool{}
	below := strings.TrimSuffix(at, "/") + "/"
	add := func(file string) {
		if rest, ok := strings.CutPrefix(file, below); ok {
			first, _, _ := strings.Cut(rest, "/")
			found[first] = true
		}
	}
	for file := range w.Files {
		add(file)
	}
	for link := range w.Links {
		add(link)
	}
	return slices.Collect(maps.Keys(found)), nil
}

// Named is the session's folder where a person named the working directory.
func Named(cwd string) approval.Folder {
	if real, err := filepath.EvalSymlinks(cwd); err == nil {
		cwd = real // of a folder that is really there
	}
	return approval.Folder{Path: cwd, By: approval.FolderNamed}
}
