// Package preview tells what a command would do to which files. It only looks:
// nothing is written, no program starts, git's own files are read and never
// believed, and nothing is opened that could wait. It is for a person to see;
// no judgement hangs on it, and after its time is over it says that it gave up.
package preview

import (
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// Limit is how long a look may take before it gives up.
const Limit = 50 * time.Millisecond

// Preview is what a command would do, as far as its words tell.
type Preview struct {
	// Targets are the files and folders that it names to change, each once.
	Targets []Target
	// Untold tells that there are others that only the run can tell.
	Untold bool
	// Unknown are the programs of which nobody knows what they change, by their
	// first words; Programs all that it starts, by their real paths.
	Unknown  []string
	Programs []string
	// Reads tells that all of these only read, and that nothing else is changed.
	Reads bool
	// Network and Project are the programs that use the network, and that start
	// what the project names.
	Network, Project []string
	GaveUp           Reason
}

// Reason says why not everything was looked at.
type Reason string

const (
	GaveUpTime       Reason = "time"       // it took too long
	GaveUpMany       Reason = "many"       // there is more than is looked at
	GaveUpUnreadable Reason = "unreadable" // a folder, or a file of git, cannot be read
	GaveUpBusy       Reason = "busy"       // looks of before still wait for the disk
)

// Target is one file or folder, and what is there.
type Target struct {
	Op approval.TargetOp
	// Path is where it is, with links followed as the command follows them.
	Path string
	Kind Kind
	// Files is how many files it is or holds, links included, and Size their
	// bytes; what is below a folder is counted if it is deleted.
	Files int
	Size  int64
	// Partly tells that there is more below it than was counted.
	Partly bool
	// InRepo tells that it lies in the folder of a git repository that could be
	// read. Changed of its files hold what is not in git, of Unknown git knows
	// nothing.
	InRepo           bool
	Changed, Unknown int
	// Repos is how many git repositories are deleted with it.
	Repos int
}

// Kind says what is at the path of a target.
type Kind string

const (
	NotLooked Kind = ""
	Nothing   Kind = "nothing"
	File      Kind = "file"
	Folder    Kind = "folder"
	Link      Kind = "link" // which is itself deleted or moved
	Other     Kind = "other"
)

// maxLeft is how many looks may still wait for a disk after their time.
const maxLeft = 4

// Looker makes previews. It may be used by many at once.
type Looker struct {
	busy chan struct{}
	wait func() // for tests: called before anything is looked at
}

// New makes a looker.
func New() *Looker { return &Looker{busy: make(chan struct{}, maxLeft), wait: func() {}} }

// Look says what a plan would do. It returns after limit at the latest; what a
// disk says after that is dropped.
func (l *Looker) Look(plan *approval.Plan, limit time.Duration) Preview {
	p := told(plan)
	if len(p.Targets) == 0 {
		return p
	}
	select {
	case l.busy <- struct{}{}:
	default:
		p.GaveUp = GaveUpBusy
		return p
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	seen := make(chan Preview, 1)
	v := visit{end: time.Now().Add(limit * 4 / 5)} // so that what it saw by then is shown
	mine := p
	mine.Targets = append([]Target(nil), p.Targets...)
	go func() {
		defer func() { <-l.busy }()
		defer rescue.Catch(nil, "a look at what would be deleted", func() {
			mine.GaveUp = GaveUpUnreadable
			seen <- mine
		})
		l.wait()
		v.look(mine.Targets)
		mine.GaveUp = v.gaveUp
		seen <- mine
	}()
	select {
	case got := <-seen:
		return got
	case <-timer.C:
		p.GaveUp = GaveUpTime
		return p
	}
}
