package machine

import "github.com/countersign-app/countersign/backend/approval"

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
