package host

import (
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/glob"
	"github.com/countersign-app/countersign/backend/machine"
)

// RecordIdentity notes in an entry that is about to be added what its pattern
// means now, if it has no wildcard: where a link leads, so that the entry covers
// this target and not any later one, and the hash and the signer of a file that
// a program of this user could change, or of any if the entry demands them.
func RecordIdentity(e *approval.Entry, home string) {
	pattern, err := glob.Parse(e.Pattern, home)
	if err != nil {
		return // the store says what is wrong with it
	}
	at, literal := pattern.Literal()
	if !literal || len(e.Identity) > 0 {
		return
	}
	file, err := machine.Disk{}.Look(at)
	if err != nil {
		return
	}
	if e.RequireIdentity == "" && command.Kept(file) {
		if file.Path != at {
			e.Identity = []approval.Identity{{Path: file.Path, Size: file.Size, MTime: file.Mod / 1_000_000}}
		}
		return
	}
	id, err := machine.Identify(&machine.Hashes{}, &machine.Signers{}, file)
	if err == nil {
		e.Identity = []approval.Identity{id}
	}
}
