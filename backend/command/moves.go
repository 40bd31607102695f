package command

import (
	"path"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// moves judges what arrives where files and folders are moved or copied.
func (j *job) moves(read *arguments) (found string, err error) {
	list := operandsOf(read, nil)
	if read.sub == "install" && len(read.given("-d", "--directory")) > 0 {
		return "", nil // it makes folders
	}
	if read.sub == "mv" {
		for _, s := range read.said {
			if s.may([]string{"-t", "--target-directory"}) {
				list = append(list, s.value.text) // of two the last one counts, or mv says no
			}
		}
	}
	if len(list) < 2 {
		return "", nil
	}
	out := strings.HasSuffix(read.sub, "mv") // what is copied is judged by who reads it
	exact := read.sub == "mv" && read.gave("-T", "--no-target-directory")
	return j.moved(read.dir, list[:len(list)-1], list[len(list)-1], exact, out)
}

// moved judges what arrives at a place, which is a folder or the new name. exact
// tells that it may be the new name although it is a folder; and what a folder
// holds may arrive alone where a slash stands behind its name. out tells that it is
// not there any more where its place says that it holds secrets.
func (j *job) moved(dir string, from []string, to string, exact, out bool) (found string, err error) {
	if dir == "" {
		return "", nil // the request asks
	}
	to = path.Clean(join(dir, to))
	place, err := j.look(to)
	exact = exact || err != nil || !place.IsFolder()
	l := j.landing()
	l.out = out
	for _, name := range from {
		source, err := j.look(join(dir, name))
		if err != nil {
			continue // there is nothing, or it asks by its name
		}
		ats := []string{path.Join(to, path.Base(path.Clean(name)))}
		switch held := path.Base(name) == "." || path.Base(name) == ".."; {
		case held:
			ats = []string{to}
		case exact, strings.HasSuffix(name, "/"):
			ats = append(ats, to)
		}
		for _, at := range ats {
			if found, err = l.tree(source, at); found != "" || err != nil {
				return found, err
			}
		}
	}
	return "", nil
}

// tree returns what asks of a file, or of what a folder holds, when that is at
// another place, or "".
func (l *landing) tree(source approval.File, as string) (found string, err error) {
	if !source.IsFolder() {
		if l.file(as) || l.loses(source.Path, as) {
			return as, nil
		}
		return "", nil
	}
	folders := []string{""}
	for _, at := range l.spot(as).at {
		if l.above(at) {
			return as, nil
		}
	}
	for len(folders) > 0 {
		rel := folders[len(folders)-1]
		folders = folders[:len(folders)-1]
		names, err := l.World.List(path.Join(source.Path, rel))
		if err != nil {
			continue
		}
		for _, name := range names {
			if !l.walk() {
				return "", errNames
			}
			at := path.Join(rel, name)
			switch {
			case l.isFolder(path.Join(source.Path, at)):
				folders = append(folders, at)
			case l.file(path.Join(as, at)), l.loses(path.Join(source.Path, at), path.Join(as, at)):
				return at, nil
			}
		}
	}
	return "", nil
}
