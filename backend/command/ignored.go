package command

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/gitindex"
)

// mayIgnore reports whether .gitignore counts in a folder: in a checkout, where no
// file of the folders above takes back what it says.
func (j *job) mayIgnore(folder string) bool {
	for at := folder; ; at = path.Dir(at) {
		for _, name := range []string{".ignore", ".rgignore"} {
			if _, err := j.look(path.Join(at, name)); at != folder && err == nil {
				return false
			}
		}
		if _, err := j.look(path.Join(at, ".git")); err == nil {
			return true
		}
		if at == "/" || at == "." {
			return false
		}
	}
}

// takesBack reports whether a file of a folder that says what is ignored there takes
// something back, or may.
func (j *job) takesBack(folder string, names []string) bool {
	for _, name := range []string{".ignore", ".rgignore", ".gitignore"} {
		if !slices.Contains(names, name) {
			continue
		}
		file, err := j.look(path.Join(folder, name))
		if err != nil || file.Size > maxIgnore {
			return true
		}
		text, err := j.World.Head(file, maxIgnore)
		if err != nil || strings.HasPrefix(strings.TrimPrefix(string(text), "\ufeff"), "!") || strings.Contains(string(text), "\n!") {
			return true
		}
	}
	return false
}

// maxIgnore bounds how much of a .gitignore is read.
const maxIgnore = 64 << 10

// ignored reads the plain lines of the .gitignore of a folder: names, and
// patterns of names. One in which a line takes something back counts for nothing.
func (j *job) ignored(root string) func(at string, folder bool) bool {
	var names, places, folderNames, folderPlaces []string
	file, err := j.look(path.Join(root, ".gitignore"))
	if err == nil && file.Size <= maxIgnore {
		text, _ := j.World.Head(file, maxIgnore)
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, " \r\n")
			place, folder := strings.CutSuffix(line, "/")
			switch place, rooted := strings.CutPrefix(place, "/"); {
			case strings.HasPrefix(line, "!"):
				return func(string, bool) bool { return false }
			case strings.Contains(line, "**") || !plainPattern().MatchString(line):
			case folder && (rooted || strings.Contains(place, "/")):
				folderPlaces = append(folderPlaces, place)
			case folder:
				folderNames = append(folderNames, place)
			case rooted || strings.Contains(place, "/"):
				places = append(places, place)
			default:
				names = append(names, place)
			}
		}
	}
	return func(at string, folder bool) bool {
		name := path.Base(at)
		return matches(names, name) || matches(places, at) || folder && (matches(folderNames, name) || matches(folderPlaces, at))
	}
}

// checkoutOf returns the checkout in which a folder lies.
func (j *job) checkoutOf(folder string) (top string, ok bool) {
	for top = folder; top != ""; top = path.Dir(top) {
		if _, err := j.look(path.Join(top, ".git")); err == nil {
			return top, true
		}
		if top == "/" || top == "." {
			break
		}
	}
	return "", false
}

// tracked returns the names of the files that git knows in a folder. It reports
// false where git may know some that cannot be read.
func (j *job) tracked(folder string) (names []string, ok bool) {
	top, ok := j.checkoutOf(folder)
	if !ok {
		return nil, true
	}
	if git, err := j.look(path.Join(top, ".git")); err != nil || !git.IsFolder() {
		return nil, false
	}
	file, err := j.look(path.Join(top, ".git/index"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true
	}
	if err != nil || file.Size > gitindex.MaxSize || !j.spend(reading+int(file.Size/perReading)) {
		return nil, false
	}
	data, err := j.World.Head(file, gitindex.MaxSize)
	if err != nil {
		return nil, false
	}
	err = gitindex.Read(data, func(name []byte, _ *gitindex.Entry) bool {
		if at, below := strings.CutPrefix(path.Join(top, string(name)), strings.TrimSuffix(folder, "/")+"/"); below {
			names = append(names, at)
		}
		return len(names) <= maxWalked
	})
	return names, err == nil
}
