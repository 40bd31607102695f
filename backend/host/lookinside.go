package host

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/machine"
)

// Inside is what a person is told of what a folder holds. It is for reading, and
// decides no more than what is offered.
type Inside struct {
	// Holds is how many folders right in it are checkouts, and Git tells that it has
	// data of git that does not count.
	Holds int
	Git   bool
	// Files is how many files it holds at every depth, and More that these are not
	// all.
	Files int
	More  bool
	// Names are the first of the names right in it.
	Names []string
}

const (
	// maxLooked bounds the names that are looked at for the projects in a folder.
	maxLooked = 500
	// maxCounted bounds the names that are counted, and counting how long that takes.
	maxCounted = 10_000
	counting   = time.Second
	// maxNames bounds the names that a person is shown.
	maxNames = 12
)

// lookInside looks into a folder. It follows no link, and opens no file.
func lookInside(folder string) (in Inside) {
	there := func(at string) bool { _, err := os.Lstat(at); return err == nil }
	in.Git = there(filepath.Join(folder, ".git"))
	names, _ := machine.Disk{}.List(folder)
	slices.Sort(names)
	for _, name := range names[:min(len(names), maxLooked)] {
		if name != ".git" && there(filepath.Join(folder, name, ".git")) {
			in.Holds++
		}
	}
	in.Names = names[:min(len(names), maxNames)]
	in.count(folder)
	return in
}

// count counts the files of a folder and of those in it, but for those of git.
func (in *Inside) count(folder string) {
	end, left := time.Now().Add(counting), maxCounted
	for next := []string{folder}; len(next) > 0; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		dir, err := os.Open(at + "/.") // nothing else than a folder, and so nothing that waits
		if err != nil {
			in.More = true
			continue
		}
		list, _ := dir.ReadDir(left + 1) // as far as it can be read
		dir.Close()
		for _, e := range list {
			if left--; left < 0 || time.Now().After(end) {
				in.More = true
				return
			}
			switch {
			case !e.IsDir():
				in.Files++
			case e.Name() != ".git":
				next = append(next, filepath.Join(at, e.Name()))
			}
		}
	}
}
