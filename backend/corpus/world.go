package corpus

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// UID is the user id of the person on every invented machine. Files below the
// home folder and in /tmp are the person's, others root's.
const UID = 501

const (
	maxLinks = 40
	maxPath  = 4096
)

// World is an invented disk, made once and then only read. It finds files as
// a kernel does: part by part, following links before "..". A folder exists if
// something is in it, and home and the working directory always do.
type World struct {
	Home, Cwd string
	// Path is the login PATH.
	Path []string
	root *node
	last uint64 // inode number that was given last
	// foldsCase tells that a stored name answers in any case of letters.
	foldsCase bool
}

// node is a file, a folder or a link.
type node struct {
	file approval.File
	up   *node
	kids map[string]*node // not nil for a folder
	link string           // not empty for a link
	text []byte
	// written tells that the corpus says what is in the file.
	written bool
}

// What can be wrong with a path beside that nothing is there.
var (
	errLinks  = errors.New("too many links, one leading to another")
	errFolder = errors.New("a part of it is no folder")
	errLong   = errors.New("the name is too long")
	errName   = errors.New("the path is not absolute, or holds a NUL byte")
	errText   = errors.New("the corpus does not say what is in it")
)

// Look follows links and returns the file or folder with its real path, in
// the case in which the disk stores it.
func (w *World) Look(name string) (approval.File, error) {
	n, err := w.walk(name, false)
	if err != nil {
		return approval.File{}, &fs.PathError{Op: "look at", Path: name, Err: err}
	}
	return n.file, nil
}

// Head returns the first bytes of a file, at most n. A program of which the
// corpus does not say what is in it begins as a binary does.
func (w *World) Head(file approval.File, n int) ([]byte, error) {
	text, err := w.read(file.Path)
	if err != nil {
		return nil, err
	}
	return text[:min(max(n, 0), len(text))], nil
}

// Link returns what a link says, "" for what is none.
func (w *World) Link(name string) string {
	n, err := w.walk(path.Dir(name), false)
	if err != nil || n.kids[w.key(path.Base(name))] == nil {
		return ""
	}
	return n.kids[w.key(path.Base(name))].link
}

// Kept reports whether a path is outside of all homes.
func (w *World) Kept(name string) bool {
	return !strings.HasPrefix(name, "/Users/") && !strings.HasPrefix(name, "/home/")
}

// List returns the names in a folder.
func (w *World) List(name string) ([]string, error) {
	n, err := w.walk(name, false)
	if err == nil && n.kids == nil {
		err = errFolder
	}
	if err != nil {
		return nil, &fs.PathError{Op: "list", Path: name, Err: err}
	}
	names := []string{}
	for _, kid := range n.kids {
		names = append(names, path.Base(kid.file.Path))
	}
	return names, nil
}

// Hash returns the SHA-256 of a file in hex, as far as the corpus says what is
// in it.
func (w *World) Hash(f approval.File) (string, error) {
	n, err := w.walk(f.Path, false)
	if err == nil && !n.written {
		err = errText
	}
	if err != nil {
		return "", &fs.PathError{Op: "identify", Path: f.Path, Err: err}
	}
	sum := sha256.Sum256(n.text)
	return hex.EncodeToString(sum[:]), nil
}

func (w *World) read(name string) ([]byte, error) {
	n, err := w.walk(name, false)
	switch {
	case err != nil:
	case n.kids != nil:
		err = errors.New("is a folder")
	case n.written:
		return n.text, nil
	case n.file.Mode&0o111 != 0:
		return []byte("\x7fELF"), nil
	default:
		err = errText
	}
	return nil, &fs.PathError{Op: "read", Path: name, Err: err}
}

// walk leads a path to its node. With grow it makes the folders that are
// missing.
func (w *World) walk(name string, grow bool) (*node, error) {
	if !strings.HasPrefix(name, "/") || strings.Contains(name, "\x00") {
		return nil, errName
	}
	if len(name) > maxPath {
		return nil, errLong
	}
	at, links, rest := w.root, 0, strings.Split(name[1:], "/")
	for len(rest) > 0 {
		part := rest[0]
		if rest = rest[1:]; at.kids == nil {
			return nil, errFolder
		}
		switch part {
		case "", ".":
			continue
		case "..":
			at = at.up
			continue
		}
		next := at.kids[w.key(part)]
		if next == nil {
			if len(part) > 255 {
				return nil, errLong
			}
			if !grow {
				return nil, fs.ErrNotExist
			}
			next = w.grow(at, part)
			next.kids = map[string]*node{}
			next.file.Mode = 0o040755
		}
		if next.link == "" {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return nil, errLinks
		}
		if strings.HasPrefix(next.link, "/") {
			at = w.root
		}
		rest = append(strings.Split(next.link, "/"), rest...)
	}
	return at, nil
}

// key is the name under which a folder knows a file.
func (w *World) key(name string) string {
	if !w.foldsCase {
		return name
	}
	return strings.ToLower(strings.ToUpper(name))
}

// grow puts a new node into a folder.
func (w *World) grow(in *node, name string) *node {
	w.last++
	n := &node{up: in, file: approval.File{Path: path.Join(in.file.Path, name), Dev: 1, Ino: w.last}}
	if within(n.file.Path, w.Home) || within(n.file.Path, "/tmp") || within(n.file.Path, "/private/tmp") {
		n.file.UID = UID
	}
	in.kids[w.key(name)] = n
	return n
}

func within(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// put makes room for a file or link: it returns the new node, or the one that
// is there under exactly this name.
func (w *World) put(name string) (*node, error) {
	if err := w.clean(name); err != nil || name == "/" {
		return nil, cmp.Or(err, errors.New("is a folder"))
	}
	dir, err := w.walk(path.Dir(name), true)
	if err != nil {
		return nil, err
	}
	if dir.kids == nil {
		return nil, errFolder
	}
	base := path.Base(name)
	have := dir.kids[w.key(base)]
	switch {
	case len(base) > 255:
		return nil, errLong
	case have == nil:
		return w.grow(dir, base), nil
	case have.kids != nil:
		return nil, errors.New("something else is in it, so it is a folder")
	case have.link != "":
		return nil, errors.New("is there already, as a link")
	case path.Base(have.file.Path) != base:
		return nil, fmt.Errorf("is the same name as %s on this disk", have.file.Path)
	}
	return have, nil
}

// clean checks a path that the corpus stores something at.
func (w *World) clean(name string) error {
	if !strings.HasPrefix(name, "/") || path.Clean(name) != name || strings.Contains(name, "\x00") {
		return errors.New("must be an absolute path, without NUL bytes, . and .., and a slash at its end")
	}
	return nil
}

// build makes the disk: links first, so that what lies behind one is put
// where it leads.
func (r *reader) build(text worldText) (*World, error) {
	w := &World{Home: text.home.name, Cwd: text.cwd.name, foldsCase: !text.caseMatters}
	w.root = &node{kids: map[string]*node{}, file: approval.File{Path: "/", Dev: 1, Mode: 0o040755}}
	w.root.up = w.root
	for _, dir := range []placed{text.home, text.cwd} {
		if dir.at.field == "" {
			return nil, errors.New(r.name + ": world needs home and cwd")
		}
		if err := w.clean(dir.name); err != nil {
			return nil, r.bad(dir.at, "%v", err)
		}
	}
	slices.SortStableFunc(text.links, func(a, b placed) int { return strings.Count(a.name, "/") - strings.Count(b.name, "/") })
	for _, link := range text.links {
		n, err := w.put(link.name)
		if err != nil {
			return nil, r.bad(link.at, "%v", err)
		}
		n.link = link.to
	}
	for _, f := range text.files {
		n, err := w.put(f.name)
		if err != nil {
			return nil, r.bad(f.at, "%v", err)
		}
		n.fill(f)
	}
	for _, dir := range []placed{text.home, text.cwd} {
		if n, err := w.walk(dir.name, true); err != nil || n.kids == nil {
			return nil, r.bad(dir.at, "is no folder: %v", cmp.Or(err, errFolder))
		}
	}
	for _, dir := range text.path {
		w.Path = append(w.Path, dir.name)
	}
	for _, dir := range []string{"/tmp", "/private/tmp"} {
		if n, err := w.walk(dir, false); err == nil && n.kids != nil {
			n.file.Mode, n.file.UID = 0o041777, 0
		}
	}
	return w, nil
}

// fill makes a node a file. One that is listed twice is a program if one of
// the lists says so.
func (n *node) fill(f placed) {
	if n.file.Mode == 0 {
		n.file.Mode = 0o100644
	}
	if f.program {
		n.file.Mode = 0o100755
	}
	if f.text != nil {
		n.text, n.written, n.file.Size = []byte(*f.text), true, int64(len(*f.text))
	}
}
