package host

import (
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/glob"
)

// recordIdentity notes what a pattern without a wildcard means now: where a
// link leads, so that the entry covers this target and not any later one, and
// the hash of a file that a program of this user could change (judgement.md,
// steps 5 and 7).
func recordIdentity(e *approval.Entry, home string) {
	pattern, err := glob.Parse(e.Pattern, home)
	if err != nil {
		return // the store says what is wrong with it
	}
	at, literal := pattern.Literal()
	if !literal || len(e.Identity) > 0 {
		return
	}
	file, err := command.Disk{}.Look(at)
	if err != nil {
		return
	}
	id := approval.Identity{Path: file.Path, Size: file.Size, MTime: file.Mod / 1_000_000}
	if !command.Kept(file) {
		var hashes command.Hashes
		id.SHA256, _ = hashes.Of(file)
	}
	if id.SHA256 != "" || file.Path != at {
		e.Identity = []approval.Identity{id}
	}
}
