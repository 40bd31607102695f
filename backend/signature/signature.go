// Package signature reads what the signature in a macOS program (Mach-O)
// says: under which name it was signed, by which team, and whether the file
// still is what was signed. It reads an open file within fixed limits, starts
// nothing and asks nobody.
//
// So it cannot say who signed. The hashes in a signature hold the file
// together, and anybody can compute them; who computed them only the
// certificates in the signature's CMS message tell, which this package does
// not read. Identifier and Team are claims until codesign or the kernel
// checked that message, and an ad-hoc signature has none and names nobody.
//
// A caller may use what is read here to show it, to see that a file changed,
// to see without asking that nobody can vouch for a file, and to ask codesign
// the right question (Requirement). It may never allow a program for it.
package signature

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNotMachO says that a file is no program of macOS.
var ErrNotMachO = errors.New("cannot read a signature: this is no Mach-O file")

// ErrUnsigned says that a program, or a part of it, has no signature.
var ErrUnsigned = errors.New("cannot read a signature: there is none")

// ErrMalformed is in every error about a file that contradicts itself or
// goes over a limit.
var ErrMalformed = errors.New("cannot read a signature")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// Signature is what a program says of itself for one architecture. The zero
// value is a program without a signature.
type Signature struct {
	// Identifier is the name that it was signed under, often a bundle
	// identifier. It is printable ASCII.
	Identifier string
	// Team is the identifier that Apple gave to the signing developer, empty
	// for Apple's own programs and for those that nobody vouches for.
	Team string
	// CDHash is the hash of the code directory, cut to 20 bytes, in hex: what
	// codesign -dvvv prints as CDHash.
	CDHash string
	Flags  Flags
	// Intact tells that every byte in front of the signature has the hash
	// that the code directory holds for it, and that nothing else is loaded.
	// It says that the file is what its signature describes, and not whose
	// signature that is. What lies in the signature itself, entitlements for
	// one, and the files beside the program are not looked at.
	Intact bool
}

// Flags are the options that a program was signed with, by their numbers in
// Apple's cs_blobs.h.
type Flags uint32

const (
	AdHoc             Flags = 0x0000_0002 // nobody signed it; it has hashes only
	LibraryValidation Flags = 0x0000_2000 // loads only libraries of Apple and its own team
	HardenedRuntime   Flags = 0x0001_0000
	LinkerSigned      Flags = 0x0002_0000 // the linker made the signature by itself
)

// Has reports whether all of these flags are set.
func (f Flags) Has(all Flags) bool { return f&all == all }

// Signed reports whether there is a signature at all.
func (s Signature) Signed() bool { return s.CDHash != "" }

// Signer returns "TEAM/identifier" if the signature is intact and claims to
// be a team's, and else "". Two versions of one program have the same signer,
// the older one included. Beside letters and digits a name may have only
// dots, dashes and underlines in it, so that it stays one word wherever it is
// put; other names are nobody's.
func (s Signature) Signer() string {
	if !s.Intact || s.Flags.Has(AdHoc) || !word(s.Team) || !word(s.Identifier) {
		return ""
	}
	return s.Team + "/" + s.Identifier
}

func word(name string) bool {
	strange := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(".-_", r))
	}
	return name != "" && !strings.ContainsFunc(name, strange)
}

// Agreed joins the signatures of all architectures of a program into one. It
// fails with ErrUnsigned if one has none, and with ErrMalformed if they
// differ in identifier or team. Of the flags, those that weaken a signature
// count if one has them, the others if all do. A program for more than one
// architecture has no CDHash as a whole.
func Agreed(list []Signature) (Signature, error) {
	if len(list) == 0 {
		return Signature{}, ErrUnsigned
	}
	const weak = AdHoc | LinkerSigned
	all := list[0]
	for _, s := range list {
		switch {
		case !s.Signed():
			return Signature{}, ErrUnsigned
		case s.Identifier != all.Identifier || s.Team != all.Team:
			return Signature{}, malformed("its architectures are signed under different names")
		}
		all.Flags = all.Flags&s.Flags | (all.Flags|s.Flags)&weak
		all.Intact = all.Intact && s.Intact
	}
	if len(list) > 1 {
		all.CDHash = ""
	}
	return all, nil
}

// Requirement returns what must hold of a program so that its Signer is the
// one that it claims, in the requirement language of codesign and csreq, or
// "" where it names no signer. It holds for each architecture by itself, so
// codesign must look at all of them.
//
// Only certificates for Developer ID count, by the extensions that Apple
// marks them with (TN3127 and TN3161). The keys of development certificates
// lie on developers' machines, where the agent is. The hashes bind the
// answer to what was read: a file that is put in the place for as long as
// codesign looks does not satisfy it.
func Requirement(list []Signature) string {
	s, err := Agreed(list)
	if err != nil || s.Signer() == "" {
		return ""
	}
	var hashes []string
	for _, s := range list {
		hashes = append(hashes, `cdhash H"`+s.CDHash+`"`)
	}
	return strings.Join([]string{
		`anchor apple generic`,
		`certificate 1[field.1.2.840.113635.100.6.2.6] exists`,
		`certificate leaf[field.1.2.840.113635.100.6.1.13] exists`,
		`certificate leaf[subject.OU] = "` + s.Team + `"`,
		`identifier "` + s.Identifier + `"`,
		`(` + strings.Join(hashes, " or ") + `)`,
	}, " and ")
}
