package command

import (
	"errors"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// Limits on what one analysis looks at, the texts inside its text included.
const (
	// maxWork bounds its steps. A step is a word, a value that a word may
	// have, or a look at the disk.
	maxWork = 5_000
	// maxListed bounds the entries of folders that patterns go through.
	maxListed = 50_000
	// maxNames bounds the names that patterns stand for. What is done with
	// these comes on top of maxWork: the person's folder is large, not the
	// request.
	maxNames = 5_000
)

// listing is how many steps it costs to read a folder.
const listing = 8

// effort is what one analysis has looked at so far.
type effort struct {
	seen                map[string]seen
	folders             map[string]*folder
	work, listed, named int
}

// seen is the result of one look at the disk. One analysis looks at each
// path once, so that it judges one state of it.
type seen struct {
	file approval.File
	err  error
}

func newEffort() *effort { return &effort{seen: map[string]seen{}, folders: map[string]*folder{}} }

// spend counts steps, and reports whether there may be more of them. Whoever
// hears no stops; that the request asks for it is for cap to say.
func (e *effort) spend(steps int) bool {
	e.work += steps
	return !e.spent()
}

func (e *effort) spent() bool {
	return e.work > maxWork+3*e.named || e.named > maxNames || e.listed > maxListed
}

// errSpent is no answer: there may be a file or not.
var errSpent = errors.New("it has more parts than can be looked at")

// look makes one look at the disk, and counts it.
func (j *job) look(path string) (approval.File, error) {
	if s, ok := j.seen[path]; ok {
		return s.file, s.err
	}
	if !j.spend(1) {
		return approval.File{}, errSpent
	}
	file, err := j.World.Look(path)
	j.seen[path] = seen{file, err}
	return file, err
}

// folder is what one analysis saw in a folder.
type folder struct {
	names []string
	err   error
	set   map[string]bool // the names in one case, once somebody asked
}

// list returns the names in a folder, and counts them.
func (j *job) list(name string) ([]string, error) {
	f, ok := j.folders[name]
	if !ok {
		if !j.spend(listing) {
			return nil, errSpent
		}
		f = &folder{}
		f.names, f.err = j.World.List(name)
		j.folders[name] = f
	}
	if j.listed += len(f.names); j.spent() {
		return nil, errSpent
	}
	return f.names, f.err
}

// holds reports whether a name is in a folder, in any case.
func (j *job) holds(name, folder string) (bool, error) {
	f := j.folders[folder]
	if f == nil || f.set == nil {
		names, err := j.list(folder)
		if err != nil {
			return false, err
		}
		f = j.folders[folder]
		f.set = make(map[string]bool, len(names))
		for _, name := range names {
			f.set[oneCase(name)] = true
		}
	}
	return f.set[oneCase(name)], nil
}

func oneCase(name string) string { return strings.ToLower(strings.ToUpper(name)) }
