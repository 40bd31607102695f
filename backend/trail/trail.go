// Package trail says who can change where a path leads. Access lists beyond
// the permission bits are not looked at, except as far as the bits of the group
// tell of them, as they do on Linux.
package trail

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// Trail is the way that a path takes: the folders and links on it, and the file
// at its end, as they were when it was walked.
type Trail struct {
	steps   []step
	writers []writer
}

// step is a folder, a link or a file.
type step struct {
	dev, ino     uint64
	mode         uint32
	uid, gid     uint32
	changed      int64 // of a link, in nanoseconds; a folder changes with what is put into it
	folder, link bool
}

// writer is somebody other than root who can change where the path leads.
type writer struct {
	kind byte // one of those below
	id   uint32
}

const (
	user     = 'u'
	group    = 'g'
	everyone = 'e'
)

// Bits of a mode, as every Unix has them.
const (
	sticky     = 0o1000
	groupWrite = 0o020
	otherWrite = 0o002
)

// maxLinks is how many links Linux follows in one path.
const maxLinks = 40

var errWay = errors.New("it does not lead to a file")

// Walk follows an absolute path as the kernel does.
func Walk(name string) (Trail, error) {
	var t Trail
	if !path.IsAbs(name) {
		return t, errWay
	}
	root, err := look("/")
	if err != nil {
		return t, err
	}
	t.steps = append(t.steps, root)
	at, here, links := "/", root, 0
	for todo := strings.Split(name, "/"); len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		if !here.folder {
			return t, errWay
		}
		if part == "" || part == "." {
			continue
		}
		if part == ".." {
			at = path.Dir(at) // no part of it is a link
			if here, err = look(at); err != nil {
				return t, err
			}
			continue
		}
		next, err := look(path.Join(at, part))
		if err != nil {
			return t, err
		}
		t.steps = append(t.steps, next)
		t.lookedUp(here, next)
		if !next.link {
			at, here = path.Join(at, part), next
			continue
		}
		to, err := target(path.Join(at, part))
		if links++; err != nil || links > maxLinks {
			return t, errWay
		}
		if path.IsAbs(to) {
			at, here = "/", root
		}
		todo = append(strings.Split(to, "/"), todo...)
	}
	t.owned(here) // who owns the file can write to it
	return t, nil
}

// lookedUp notes who can put something else in the place of what was found in
// a folder.
func (t *Trail) lookedUp(dir, found step) {
	if dir.mode&sticky != 0 && dir.mode&(groupWrite|otherWrite) != 0 { // only the owners of the two can
		t.add(writer{user, dir.uid})
		t.add(writer{user, found.uid})
		return
	}
	t.owned(dir)
}

func (t *Trail) owned(s step) {
	t.add(writer{user, s.uid})
	if s.mode&groupWrite != 0 {
		t.add(writer{group, s.gid})
	}
	if s.mode&otherWrite != 0 {
		t.add(writer{everyone, 0})
	}
}

func (t *Trail) add(w writer) {
	if w != (writer{user, 0}) && !slices.Contains(t.writers, w) {
		t.writers = append(t.writers, w)
	}
}

// Kept reports whether nobody but root can change where the path leads, or
// what is there.
func (t Trail) Kept() bool { return len(t.writers) == 0 }

// NoEasier reports whether everybody who can change where this path leads can
// do the same with the other one.
func (t Trail) NoEasier(than Trail) bool {
	return !slices.ContainsFunc(t.writers, func(w writer) bool {
		return !slices.Contains(than.writers, w) && !slices.Contains(than.writers, writer{everyone, 0})
	})
}

// Same reports whether two walks found the same folders, links and file, with
// the same rights.
func (t Trail) Same(o Trail) bool { return slices.Equal(t.steps, o.steps) }
