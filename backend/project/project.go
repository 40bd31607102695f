// Package project works out once, from the disk, whether the folder that an
// agent works in is a project, and which folder then counts as the session's.
// It reads a few small files and starts nothing, git least of all. What is in
// that folder is "inside" for commands and for tools alike.
//
// The agent says where it works, so its word alone counts for nothing: a folder
// counts where it lies in a checkout of git that belongs to this person, or in a
// folder that a person named. Home, what is above it, the root of a disk, the
// folders at the root, those of the system and the hidden ones of home never
// count, whoever named them and whatever is in them: who could write there could
// start programs, and who could read there could read secrets.
//
// What counts is the root of the checkout, or the named folder, and not the
// folder that the agent says: it could say the root as well, so a rule by its
// word would guard nothing that a rule by the root does not. Where both are
// there, the outer one counts, so that naming a folder never makes less of one
// and taking a name away never makes more.
//
// An agent can write a .git wherever it may write. So it may not write outside:
// git init and mkdir in a folder that is no project ask, because nothing counts
// as inside there, and what they make inside a project only makes a smaller one.
// What an allowed program writes by itself (a recipe, a script of a package) is
// not seen by anybody here: an entry is trust in a program. A .git file counts
// only where the place that it names points back, as git makes them for
// worktrees and submodules; else it could name the repository of another person,
// whose hooks and settings would hold here.
package project

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/countersign-app/countersign/backend/approval"
)

// World is the disk.
type World interface {
	// Look follows links and returns the file with its real path.
	Look(path string) (approval.File, error)
	// Head returns the first bytes of a file that was looked at, at most n.
	Head(file approval.File, n int) ([]byte, error)
}

// Person is whose machine it is.
type Person struct {
	// Home is absolute.
	Home string
	UID  int
}

// maxLevels is how many folders above the one that the agent works in are
// looked at. What lies deeper is no project.
const maxLevels = 64

// Find returns the session's folder of an agent that works in cwd. said is what
// the person said of folders, to this agent or to every one.
func Find(cwd string, person Person, said []approval.Project, disk World) approval.Folder {
	here, err := disk.Look(cwd)
	switch {
	case !path.IsAbs(cwd):
		return approval.Folder{Never: "it is no absolute path"}
	case err != nil || !here.IsFolder():
		return approval.Folder{Never: "there is no folder that can be looked at"}
	}
	v := view{disk, person, homes(person.Home, disk)}
	if why := v.never(here.Path); why != "" {
		return approval.Folder{Never: why}
	}
	folder := v.checkout(here.Path)
	if folder.Path != "" && declined(said, folder.Path) {
		folder = approval.Folder{Offer: folder.Path}
	}
	for _, one := range said {
		if at := v.named(one); at.Holds(here.Path) && !declined(said, at.Path) && (folder.Path == "" || len(at.Path) < len(folder.Path)) {
			folder = at
		}
	}
	folder.Declined = folder.Path == "" && declined(said, folder.Offer)
	return folder
}

// Never says why a folder can never be a project, or "". It wants the real path.
func Never(at string, person Person, disk World) string {
	return view{disk, person, homes(person.Home, disk)}.never(at)
}

// Standing says why a folder that was named does not count any more, or "".
func Standing(one approval.Project, person Person, disk World) string {
	file, err := disk.Look(one.Path)
	switch {
	case err != nil:
		return "it is not there"
	case !file.IsFolder():
		return "it is no folder"
	case file.Path != one.Path:
		return "its name leads elsewhere, to " + file.Path
	case !person.trusts(file):
		return "it belongs to another user"
	}
	return Never(one.Path, person, disk)
}

// view is the disk of a person.
type view struct {
	World
	Person
	homes []string // the home folder, as it is called and where it really is
}

func homes(home string, disk World) []string {
	list := []string{path.Clean(home)}
	if real, err := disk.Look(home); err == nil && real.Path != list[0] {
		list = append(list, real.Path)
	}
	return list
}

// named is the folder that a person named, if it is still the one.
func (v view) named(one approval.Project) (none approval.Folder) {
	if one.No {
		return none
	}
	file, err := v.Look(one.Path)
	if err != nil || !file.IsFolder() || file.Path != one.Path || !v.trusts(file) || v.never(file.Path) != "" {
		return none // a link in its place may lead anywhere, and what is there may be another's
	}
	return approval.Folder{Path: file.Path, By: approval.FolderNamed, Dev: file.Dev, Ino: file.Ino}
}

func declined(said []approval.Project, at string) bool {
	for _, one := range said {
		if one.No && one.Path == at {
			return true
		}
	}
	return false
}

// checkout looks for the nearest .git at or above a real path. Where there is
// none, the path itself can be named, and where there is one that does not count,
// the folder that it lies in.
func (v view) checkout(at string) approval.Folder {
	none := approval.Folder{Offer: at}
	for range maxLevels {
		switch file, err := v.Look(path.Join(at, ".git")); {
		case err == nil && v.isCheckout(at, file):
			root, err := v.Look(at)
			if err != nil || root.Path != at {
				return none
			}
			return approval.Folder{Path: at, By: approval.FolderCheckout, Dev: root.Dev, Ino: root.Ino}
		case err == nil:
			return approval.Folder{Offer: at}
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return none // git may see one that we do not
		}
		if at = path.Dir(at); v.never(at) != "" {
			return none
		}
	}
	return none
}

// mine reports whether a file belongs to the person. Git asks the same of a
// repository before it starts anything of it.
func (v view) mine(f approval.File) bool { return f.UID == v.UID }

// trusts reports whether nobody but the person, and root, says what is in a folder
// that was named.
func (p Person) trusts(f approval.File) bool { return f.UID == p.UID || f.UID == 0 }

// within reports whether a path is a folder or lies in it.
func within(at, dir string) bool {
	return at == dir || strings.HasPrefix(at, strings.TrimSuffix(dir, "/")+"/")
}
