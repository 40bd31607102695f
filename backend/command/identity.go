package command

import (
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// Kept reports whether only the system's package manager changes a file: it is
// root's, nobody else may write to it, and it lies where the system keeps its
// programs. Such a file gets new content by upgrades, which are no reason to
// ask.
func Kept(file approval.File) bool {
	return file.UID == 0 && file.Mode&0o022 == 0 && OfSystem(file)
}

// keptAll reports whether only the system's package manager changes a program
// and all that interprets it.
func keptAll(res *approval.Resolution) bool {
	for at := res; at != nil; at = at.Interpreter {
		if !Kept(at.File) || at != res && at.Bare {
			return false
		}
	}
	return true
}

// OfSystem reports whether a file lies where the system keeps its programs.
func OfSystem(file approval.File) bool {
	in := func(dir string) bool { return within(file.Path, dir) }
	return slices.ContainsFunc(systemPlaces, in) && !slices.ContainsFunc(othersPlaces, in)
}

var (
	systemPlaces = []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/System", "/Library"}
	// othersPlaces lie in them and hold what everybody installs: on macOS the
	// second holds every home, too.
	othersPlaces = []string{"/usr/local", "/System/Volumes/Data"}
)

// Identify says what a file is, to be recorded under an entry: what it holds,
// who surely signed it and, for people, its version.
func Identify(hashes *Hashes, signers *Signers, f approval.File) (approval.Identity, error) {
	sum, err := hashes.Of(f)
	if err != nil {
		return approval.Identity{}, err
	}
	return approval.Identity{
		Path: f.Path, Size: f.Size, MTime: f.Mod / 1_000_000, SHA256: sum,
		Signer: signers.Of(f), Version: Version(f.Path),
	}, nil
}
