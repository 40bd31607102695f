package command

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
)

// Hashes computes SHA-256 sums of programs and remembers them for as long as
// the file stays the same in device, inode, size, mode, owner and times. It
// may be used by many at once.
type Hashes struct {
	mu    sync.Mutex
	known map[approval.File]string
}

// Kept reports whether only the system's package manager changes a file: it is
// root's, nobody else may write to it, and it lies where the system keeps its
// programs. Such a file gets new content by upgrades, which are no reason to
// ask.
func Kept(file approval.File) bool {
	return file.UID == 0 && file.Mode&0o022 == 0 && OfSystem(file)
}

// OfSystem reports whether a file lies where the system keeps its programs.
func OfSystem(file approval.File) bool {
	return slices.ContainsFunc(systemPlaces, func(dir string) bool { return within(file.Path, dir) }) && !within(file.Path, "/usr/local")
}

var systemPlaces = []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/System", "/Library"}

// maxHashes bounds the memory; beyond it everything is forgotten and hashed
// again when it is asked for.
const maxHashes = 10_000

// Of returns the sum of a file in hex. It fails when the file on the disk is
// not the one that was seen.
func (h *Hashes) Of(file approval.File) (string, error) {
	h.mu.Lock()
	sum, ok := h.known[file]
	h.mu.Unlock()
	if ok {
		return sum, nil
	}
	f, err := os.Open(file.Path)
	if err != nil {
		return "", fmt.Errorf("cannot identify a program: %w", err)
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", fmt.Errorf("cannot identify %s: %w", file.Path, err)
	}
	now, err := (Disk{}).Look(file.Path)
	if err != nil || !now.Same(file) {
		return "", fmt.Errorf("cannot identify %s: it changed while it was read", file.Path)
	}
	sum = hex.EncodeToString(hash.Sum(nil))
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil || len(h.known) >= maxHashes {
		h.known = map[approval.File]string{}
	}
	h.known[file] = sum
	return sum, nil
}

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
