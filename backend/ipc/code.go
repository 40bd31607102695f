package ipc

import (
	"os"
	"slices"

	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/signature"
)

// code is how one of our programs is signed.
type code struct {
	hashes   []string // of the architectures that are
	unsigned bool     // one of them is not, or it is no program of macOS
	hardened bool     // all of them
}

// codeIn reads how a program is signed. What cannot be read is not signed.
func codeIn(f *os.File) code {
	info, err := f.Stat()
	if err != nil {
		return code{unsigned: true}
	}
	list, err := signature.Read(f, info.Size())
	if err != nil {
		return code{unsigned: true}
	}
	c := code{hardened: true}
	for _, s := range list {
		c.hardened = c.hardened && s.Flags.Has(signature.HardenedRuntime)
		if s.Signed() {
			c.hashes = append(c.hashes, s.CDHash)
		} else {
			c.unsigned = true
		}
	}
	return c
}

// is reports whether the kernel holds what runs for this program: the path of a
// process can lead to another file than the one that it started from. Who is
// hardened must be so when it runs, and not looked into. Only a program without
// a signature is known by its file alone.
func (c code) is(runs proc.Code) bool {
	if runs.Hash == "" {
		return c.unsigned
	}
	if !runs.Valid || !slices.Contains(c.hashes, runs.Hash) {
		return false
	}
	return !c.hardened || runs.Hardened && !runs.Debugged
}
