package host

import (
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/glob"
)

// recordLink notes where a pattern that is a link leads now, so that the
// entry covers this target and not any later one (judgement.md, step 5).
func recordLink(e *approval.Entry, home string) {
	pattern, err := glob.Parse(e.Pattern, home)
	if err != nil {
		return // the store says what is wrong with it
	}
	at, literal := pattern.Literal()
	if !literal || len(e.Identity) > 0 {
		return
	}
	if file, err := (command.Disk{}).Look(at); err == nil && file.Path != at {
		e.Identity = []approval.Identity{{Path: file.Path, Size: file.Size, MTime: file.Mod / 1_000_000}}
	}
}
