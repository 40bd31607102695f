package command

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"

	"github.com/countersign-app/countersign/backend/approval"
)

// Limits on what one analysis looks at, the texts inside its text included.
const (
	// maxWork bounds its steps. A step is a word of a text, a value that a word
	// may have, a look at the disk, or some small ones.
	maxWork = 5_000
	// small is how many small steps make one: another look at what was seen, a
	// value of a program's argument, or perBytes of a text that is gone through.
	small    = 32
	perBytes = 512
	// perPath is how many bytes of a path make a look at the disk one step more.
	perPath = 1024
	// watched is after how many counts the context is looked at.
	watched = 64
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
	ctx                 context.Context
	seen                map[string]seen
	folders             map[string]*folder
	grounds             map[string]ground
	work, listed, named int
	ticks, counts       int
	left                bool            // ctx has ended
	begins              map[string]bool // of files that were opened: as a key does
	walked              int             // names in folders that programs read as a whole
}

// seen is the result of one look at the disk. One analysis looks at each
// path once, so that it judges one state of it.
type seen struct {
	file approval.File
	err  error
}

func newEffort(ctx context.Context) *effort {
	return &effort{ctx: ctx, seen: map[string]seen{}, folders: map[string]*folder{}, begins: map[string]bool{}, grounds: map[string]ground{}, left: ctx.Err() != nil}
}

// spend counts steps, and reports whether there may be more of them. Whoever
// hears no stops; that the request asks for it is for cap to say.
func (e *effort) spend(steps int) bool {
	e.work += steps
	if e.counts++; e.counts%watched == 0 && e.ctx.Err() != nil {
		e.left = true
	}
	return !e.spent()
}

// walk counts a name in a folder that is gone through as a whole, and reports
// whether there may be more: the folder is large, not the request, so that this
// comes on top of the steps.
func (e *effort) walk() bool {
	if e.walked++; e.walked%watched == 0 && e.ctx.Err() != nil {
		e.left = true
	}
	return !e.left && e.walked <= maxWalks
}

// tick counts small steps.
func (e *effort) tick(steps int) bool {
	steps += e.ticks
	e.ticks = steps % small
	return e.spend(steps / small)
}

// bytes counts how much text is gone through.
func (e *effort) bytes(n int) bool { return e.tick(1 + n/perBytes) }

// parse counts that a text is parsed, which costs more than to go through it.
func (e *effort) parse(text string) bool { return e.spend(5) && e.bytes(8*len(text)) }

// bytesOf is how much text words are.
func bytesOf(words []string) (n int) {
	for _, word := range words {
		n += 1 + len(word)
	}
	return n
}

func (e *effort) spent() bool {
	return e.left || e.work > maxWork+3*e.named || e.named > maxNames || e.listed > maxListed
}

// errSpent is no answer: there may be a file or not.
var errSpent = errors.New("it has more parts than can be looked at")

// look makes one look at the disk, and counts it.
func (j *job) look(path string) (approval.File, error) {
	if len(path) >= maxPath {
		j.tick(1)
		return approval.File{}, syscall.ENAMETOOLONG
	}
	if s, ok := j.seen[path]; ok && j.bytes(len(path)) {
		return s.file, s.err
	}
	if !j.spend(1 + len(path)/perPath) {
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
	// sorted are the names by what they are in lower case, and lower that, once
	// somebody asked.
	sorted, lower []string
}

// list returns the names in a folder, and counts them.
func (j *job) list(name string) ([]string, error) {
	f, ok := j.folders[name]
	if !ok {
		if !j.spend(listing + len(name)/perPath) {
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

// beginning returns the names in a folder that begin so, in any case.
func (j *job) beginning(prefix, folder string) ([]string, error) {
	f := j.folders[folder]
	if f == nil || f.sorted == nil {
		names, err := j.list(folder)
		if err != nil {
			return nil, err
		}
		f = j.folders[folder]
		f.sorted = slices.SortedFunc(slices.Values(names), func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
		for _, name := range f.sorted {
			f.lower = append(f.lower, strings.ToLower(name))
		}
	}
	from, _ := slices.BinarySearch(f.lower, strings.ToLower(prefix))
	to := from
	for to < len(f.lower) && strings.HasPrefix(f.lower[to], strings.ToLower(prefix)) {
		to++
	}
	if !j.tick(1 + to - from) {
		return nil, errSpent
	}
	return f.sorted[from:to], nil
}

func oneCase(name string) string { return strings.ToLower(strings.ToUpper(name)) }
