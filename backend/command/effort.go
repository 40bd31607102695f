package command

import (
	"errors"

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
const listing = 4

// effort is what one analysis has looked at so far.
type effort struct {
	seen                map[string]seen
	lists               map[string][]string
	work, listed, named int
}

// seen is the result of one look at the disk. One analysis looks at each
// path once, so that it judges one state of it.
type seen struct {
	file approval.File
	err  error
}

func newEffort() *effort { return &effort{seen: map[string]seen{}, lists: map[string][]string{}} }

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

// list returns the names in a folder, and counts them.
func (j *job) list(folder string) []string {
	names, ok := j.lists[folder]
	if !ok && j.spend(listing) {
		names, _ = j.World.List(folder) // what cannot be read has no names
		j.lists[folder] = names
	}
	if j.listed += len(names); j.spent() {
		return nil
	}
	return names
}
