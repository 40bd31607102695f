package judge

import (
	"errors"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/trail"
)

// Contents are what the files of a plan hold, by their paths: a sum, or why there is
// none.
type Contents map[string]Content

// Content is what one file holds.
type Content struct {
	Sum string
	Err error
}

// Contents reads the programs of the plan, what interprets them, and the files
// with program text, as far as others than the system's package manager change
// them: the times of a file do not tell of all that is written to it.
func (c *Case) Contents() Contents {
	all := Contents{}
	hold := func(file approval.File) {
		if _, there := all[file.Path]; there || command.Kept(file) {
			return
		}
		sum, err := c.judge.reads.Hashes.Of(file)
		all[file.Path] = Content{sum, err}
	}
	for _, s := range c.Plan.Segments {
		for at := s.Program; at != nil; at = at.Interpreter {
			hold(at.File)
		}
		for _, file := range s.Code {
			if real, err := (machine.Disk{}).Look(file.Path); err == nil && real.Same(file) {
				file = real // it is told by the name that the program opens
			}
			hold(file)
		}
	}
	return all
}

// sameAs reports whether files hold what they held. What could not be read for
// another reason than that a program was writing to it is compared by its times
// alone, and the kernel starts no program that is written to.
func (c Contents) sameAs(now Contents) bool {
	for path, was := range c {
		if errors.Is(was.Err, trail.ErrWritten) || was.Err == nil && now[path].Sum != was.Sum {
			return false
		}
	}
	return true
}
