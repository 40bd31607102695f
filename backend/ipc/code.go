package ipc

import (
	"os"
	"slices"

	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/signature"
)

// code is how one of our programs is signed. The zero value is one that is not.
type code struct {
	hashes   []string // of each architecture
	hardened bool     // all of it
}

// codeIn reads how a program is signed. What cannot be read is not signed.
func codeIn(f *os.File) code {
	info, err := f.Stat()
	if err != nil {
		return code{}
	}
	list, err := signature.Read(f, info.Size())
	if err != nil {
		return code{}
	}
	c := code{hardened: true}
	for _, s := range list {
		if !s.Signed() {
			return code{}
		}
		c.hashes = append(c.hashes, s.CDHash)
		c.hardened = c.hardened && s.Flags.Has(signature.HardenedRuntime)
	}
	return c
}

// is reports whether the kernel holds what runs for this program: the path of a
// process can lead to another file than the one that it started from. Who is
// hardened must be so when it runs, and not looked into.
func (c code) is(runs proc.Code) bool {
	if len(c.hashes) == 0 {
		return true // only the file can tell
	}
	if !runs.Valid || !slices.Contains(c.hashes, runs.Hash) {
		return false
	}
	return !c.hardened || runs.Hardened && !runs.Debugged
}
