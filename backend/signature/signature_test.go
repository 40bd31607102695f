package signature_test

import (
	"bytes"
	"crypto/sha256"
	"debug/macho"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/signature"
)

const (
	arm, intel, power = 0x0100000c, 0x01000007, 18
	team, tool        = "AB12CD34EF", "com.example.tool"
)

// program is a signed program for 64 bit, of two whole pages and a bit.
func program() approvaltest.MachO {
	return approvaltest.MachO{
		CPU: arm, Wide: true, Size: 2*4096 + 300, Identifier: tool, Team: team,
		Flags: uint32(signature.HardenedRuntime), Kinds: []byte{2},
	}
}

// with returns the program changed by edit.
func with(edit func(*approvaltest.MachO)) approvaltest.MachO {
	m := program()
	edit(&m)
	return m
}

func build(m approvaltest.MachO) []byte {
	b, _ := m.Build()
	return b
}

func read(b []byte) ([]signature.Signature, error) {
	return signature.Read(bytes.NewReader(b), int64(len(b)))
}

// Thin programs of both widths and byte orders, with each kind of hash: the
// strongest directory counts, wherever it stands.
func TestRead(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(*approvaltest.MachO)
		kind byte // of the directory that counts
	}{
		{"64 bit", func(m *approvaltest.MachO) {}, 2},
		{"32 bit, big-endian", func(m *approvaltest.MachO) { m.CPU, m.Wide, m.Big = power, false, true }, 2},
		{"64 bit, big-endian", func(m *approvaltest.MachO) { m.CPU, m.Big = power, true }, 2},
		{"32 bit", func(m *approvaltest.MachO) { m.CPU, m.Wide = 7, false }, 2},
		{"one page", func(m *approvaltest.MachO) { m.Size = 4096 }, 2},
		{"a hundred pages", func(m *approvaltest.MachO) { m.Size = 100 * 4096 }, 2},
		{"ad hoc", func(m *approvaltest.MachO) { m.Team, m.Flags = "", uint32(signature.AdHoc) }, 2},
		{"sha1", func(m *approvaltest.MachO) { m.Kinds = []byte{1} }, 1},
		{"sha256 cut", func(m *approvaltest.MachO) { m.Kinds = []byte{3} }, 3},
		{"sha384", func(m *approvaltest.MachO) { m.Kinds = []byte{4} }, 4},
		{"sha1 and sha256", func(m *approvaltest.MachO) { m.Kinds = []byte{1, 2} }, 2},
		{"sha256 and sha1", func(m *approvaltest.MachO) { m.Kinds = []byte{2, 1} }, 2},
		{"sha1, sha256 cut", func(m *approvaltest.MachO) { m.Kinds = []byte{1, 3} }, 3},
		{"all", func(m *approvaltest.MachO) { m.Kinds = []byte{1, 4, 3, 2} }, 4},
	} {
		m := with(test.edit)
		b, hashes := m.Build()
		want := signature.Signature{
			Identifier: m.Identifier, Team: m.Team, CDHash: hashes[test.kind], Flags: signature.Flags(m.Flags), Intact: true,
		}
		if got, err := read(b); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v, %v, want %+v", test.name, got, err, want)
		}
	}
}

func TestReadUniversal(t *testing.T) {
	first, second := program(), with(func(m *approvaltest.MachO) { m.CPU, m.Size = intel, 5000 })
	third := with(func(m *approvaltest.MachO) { m.CPU, m.Wide, m.Big, m.Kinds = power, false, true, nil })
	for _, wide := range []bool{false, true} {
		got, err := read(approvaltest.Universal(wide, build(first), build(second), build(third)))
		if err != nil || len(got) != 3 {
			t.Fatalf("%+v, %v", got, err)
		}
		_, one := first.Build()
		_, two := second.Build()
		if got[0].CDHash != one[2] || got[1].CDHash != two[2] || !got[0].Intact || !got[1].Intact || got[2].Signed() {
			t.Errorf("%+v, want the hashes %s and %s, and none", got, one[2], two[2])
		}
	}
}

func TestNotMachO(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing": nil, "short": {0xcf, 0xfa, 0xed, 0xfe, 0, 0, 0}, "script": []byte("#!/bin/sh\nexit 0\n"),
		"ELF": append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 100)...), "zeros": make([]byte, 100),
		"universal, swapped": {0xbe, 0xba, 0xfe, 0xca, 1, 0, 0, 0, 0},
	} {
		if got, err := read(b); !errors.Is(err, signature.ErrNotMachO) || got != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// What its directory does not describe is not intact, and still says what it
// says.
func TestNotIntact(t *testing.T) {
	change := func(off int, text string) func() []byte {
		return func() []byte {
			b := build(program())
			copy(b[off:], text)
			return b
		}
	}
	commands := func(off int, text string) func() []byte {
		return func() []byte {
			return build(with(func(m *approvaltest.MachO) { m.Commands = func(b []byte) { copy(b[off:], text) } }))
		}
	}
	directory := func(off int, text string) func() []byte {
		return func() []byte {
			return build(with(func(m *approvaltest.MachO) { m.Directory = func(b []byte) { copy(b[off:], text) } }))
		}
	}
	for name, file := range map[string]func() []byte{
		"the first page changed":  change(1000, "x"),
		"the second page changed": change(5000, "x"),
		"the last byte changed":   change(2*4096+299, "x"),
		"a load command changed":  change(approvaltest.TextSegment+56, "\x07"),
		"behind the signature":    func() []byte { return append(build(program()), 0) },
		"a smaller limit":         directory(approvaltest.DirectoryLimit, "\x00\x00\x20\x00"),
		"code that has no hash": func() []byte {
			return build(with(func(m *approvaltest.MachO) {
				m.Commands = func(b []byte) { copy(b[approvaltest.TextSegment+48:], "\x00\x20") }
				m.Directory = func(b []byte) { copy(b[approvaltest.DirectoryPages:], "\x00\x00\x00\x02\x00\x00\x20\x00") }
			}))
		},
		"a larger limit":    directory(approvaltest.DirectoryLimit, "\x00\x00\x21\x2d"),
		"a limit of 64 bit": directory(approvaltest.DirectoryLimit64, "\x00\x00\x00\x01\x00\x00\x21\x2c"),
		"fewer pages":       directory(approvaltest.DirectoryPages, "\x00\x00\x00\x02"),
		"no pages":          directory(approvaltest.DirectoryPages, "\x00\x00\x00\x00"),
		"larger pages":      directory(approvaltest.DirectoryPageSize, "\x0e"),
		"a wrong hash": func() []byte {
			return build(with(func(m *approvaltest.MachO) { m.Directory = func(b []byte) { b[len(b)-1]++ } }))
		},
		"a segment beyond":          commands(approvaltest.TextSegment+48, "\x2d\x21"),
		"a segment far beyond":      commands(approvaltest.TextSegment+40, strings.Repeat("\xff", 8)+"\x02"+strings.Repeat("\x00", 7)),
		"the last one executable":   commands(approvaltest.LinkEditSegment+60, "\x05"),
		"the last one by no name":   commands(approvaltest.LinkEditSegment+8, "__DATA\x00\x00\x00\x00"),
		"the last one by a like it": commands(approvaltest.LinkEditSegment+8, "__LINKEDIT\x00\x00\x00\x00\x00x"),
	} {
		got, err := read(file())
		if err != nil || len(got) != 1 || got[0].Intact || got[0].Identifier != tool || got[0].Team != team || !got[0].Signed() {
			t.Errorf("%s: %+v, %v", name, got, err)
		} else if got[0].Signer() != "" || signature.Requirement(got) != "" {
			t.Errorf("%s: it has the signer %q", name, got[0].Signer())
		}
	}
	// A segment of 64 bit that holds nothing may lie anywhere.
	empty := with(func(m *approvaltest.MachO) {
		m.Commands = func(b []byte) { copy(b[approvaltest.TextSegment+40:], "\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00") }
	})
	if got, err := read(build(empty)); err != nil || !got[0].Intact {
		t.Errorf("%+v, %v", got, err)
	}
}

// Any byte of code that is changed later is seen, and any of the directory
// gives it another hash.
func TestEveryByteCounts(t *testing.T) {
	m := with(func(m *approvaltest.MachO) { m.Size = 700 })
	b, hashes := m.Build()
	at := bytes.Index(b, []byte{0xfa, 0xde, 0x0c, 0x02})
	length := int(binary.BigEndian.Uint32(b[at+4:]))
	for i := range b {
		if i >= m.Size && i < at || i >= at+length {
			continue
		}
		b[i] ^= 1
		if got, err := read(b); err == nil && got[0].Intact && got[0].CDHash == hashes[2] {
			t.Errorf("byte %d of %d: %+v", i, len(b), got)
		}
		b[i] ^= 1
	}
}

// patch puts bytes behind the first place where a mark stands, and says what
// is wrong then.
type patch struct {
	name, mark string
	off        int
	text, says string
}

// malformed are changes to a program for two architectures, each with two
// code directories.
var malformed = []patch{
	{"no architectures", "\xca\xfe\xba\xbe", 4, "\x00\x00\x00\x00", "0 architectures"},
	{"too many architectures", "\xca\xfe\xba\xbe", 4, "\x00\x00\x00\x41", "65 architectures"},
	{"more architectures than there are", "\xca\xfe\xba\xbe", 4, "\x00\x00\x00\x03", "outside of the file"},
	{"an architecture in the table", "\xca\xfe\xba\xbe", 16, "\x00\x00\x00\x08", "outside of the file"},
	{"an architecture behind the file", "\xca\xfe\xba\xbe", 16, "\x7f\xff\xff\xff", "outside of the file"},
	{"an architecture longer than the file", "\xca\xfe\xba\xbe", 20, "\x7f\xff\xff\xff", "outside of the file"},
	{"an architecture of no size", "\xca\xfe\xba\xbe", 20, "\x00\x00\x00\x00", "cut short"},
	{"architectures that overlap", "\xca\xfe\xba\xbe", 36, "\x00\x00\x00\x40", "overlap"},
	{"the same architecture twice", "\xca\xfe\xba\xbe", 8, "\x01\x00\x00\x07", "the same"},
	{"the same architecture with a feature", "\xca\xfe\xba\xbe", 8, "\x01\x00\x00\x07\x80\x00\x00\x00", "the same"},
	{"another architecture in the table", "\xca\xfe\xba\xbe", 8, "\x00\x00\x00\x12", "not what the table says"},
	{"any architecture in the table", "\xca\xfe\xba\xbe", 8, "\xff\xff\xff\xff", "the same"},
	{"no program in it", "\xcf\xfa\xed\xfe", 0, "\x00", "not what the table says"},
	{"a universal file in it", "\xcf\xfa\xed\xfe", 0, "\xca\xfe\xba\xbe", "not what the table says"},

	{"more load commands than there are", "\xcf\xfa\xed\xfe", 16, "\x04", "fewer load commands"},
	{"very many load commands", "\xcf\xfa\xed\xfe", 16, "\xff\xff\xff\xff", "fewer load commands"},
	{"load commands beyond the file", "\xcf\xfa\xed\xfe", 20, "\x00\x00\x0f\x00", "cut short"},
	{"load commands beyond the limit", "\xcf\xfa\xed\xfe", 20, "\x01\x00\x10\x00", "1048577 bytes"},
	{"a load command of no size", "\xcf\xfa\xed\xfe", 36, "\x00", "a wrong size"},
	{"a load command longer than all", "\xcf\xfa\xed\xfe", 36, "\xff\xff\xff\xff", "a wrong size"},
	{"a segment that is cut short", "\x19\x00\x00\x00\x48\x00\x00\x00", 0, "\x01\x00\x00\x00\x08\x00\x00\x00", "a segment is cut short"},
	{"a signature command that is cut short", "\x1d\x00\x00\x00\x10\x00\x00\x00", 4, "\x0c", "name no signature"},
	{"a signature at no place", "\x1d\x00\x00\x00\x10\x00\x00\x00", 8, "\x00\x00\x00\x00", "name no signature"},
	{"a signature in the head", "\x1d\x00\x00\x00\x10\x00\x00\x00", 8, "\x10\x00\x00\x00", "a wrong head"},
	{"a signature beyond the file", "\x1d\x00\x00\x00\x10\x00\x00\x00", 12, "\xff\xff\xff\xff", "outside of the program"},
	{"a signature of no size", "\x1d\x00\x00\x00\x10\x00\x00\x00", 12, "\x00\x00\x00\x00", "cut short"},

	{"another mark of the signature", "\xfa\xde\x0c\xc0", 0, "\xfa\xde\x0c\xc1", "signature has a wrong head"},
	{"a signature longer than its place", "\xfa\xde\x0c\xc0", 4, "\x00\x00\xff\xff", "signature has a wrong head"},
	{"a signature shorter than its parts", "\xfa\xde\x0c\xc0", 4, "\x00\x00\x00\x40", "cut short"},
	{"no parts", "\xfa\xde\x0c\xc0", 8, "\x00\x00\x00\x00", "is missing"},
	{"more parts than there are", "\xfa\xde\x0c\xc0", 8, "\x00\x00\x00\x40", "twice or nowhere"},
	{"too many parts", "\xfa\xde\x0c\xc0", 8, "\x00\x00\x00\x41", "a wrong head"},
	{"very many parts", "\xfa\xde\x0c\xc0", 8, "\xff\xff\xff\xff", "a wrong head"},
	{"no first directory", "\xfa\xde\x0c\xc0", 12, "\x00\x00\x00\x02", "is missing"},
	{"the first directory twice", "\xfa\xde\x0c\xc0", 20, "\x00\x00\x00\x00", "twice or nowhere"},
	{"a gap in the directories", "\xfa\xde\x0c\xc0", 20, "\x00\x00\x10\x01", "is missing"},
	{"a directory at no place", "\xfa\xde\x0c\xc0", 16, "\x00\x00\x00\x00", "twice or nowhere"},
	{"a directory in the index", "\xfa\xde\x0c\xc0", 16, "\x00\x00\x00\x0c", "directory has a wrong head"},
	{"a directory beyond the signature", "\xfa\xde\x0c\xc0", 16, "\x00\x01\x00\x00", "cut short"},

	{"another mark of a directory", "\xfa\xde\x0c\x02", 3, "\x03", "directory has a wrong head"},
	{"a directory longer than the signature", "\xfa\xde\x0c\x02", 4, "\x00\x00\x10\x00", "cut short"},
	{"a directory beyond the limit", "\xfa\xde\x0c\x02", 4, "\xff\xff\xff\xff", "too long"},
	{"a directory shorter than its head", "\xfa\xde\x0c\x02", 4, "\x00\x00\x00\x2b", "directory has a wrong head"},
	{"a directory shorter than its version's head", "\xfa\xde\x0c\x02", 4, "\x00\x00\x00\x3f", "unknown kind"},
	{"a directory of no length", "\xfa\xde\x0c\x02", 4, "\x00\x00\x00\x00", "directory has a wrong head"},
	{"an old version", "\xfa\xde\x0c\x02", approvaltest.DirectoryVersion, "\x00\x02\x00\x00", "version 0x20000"},
	{"a version of the future", "\xfa\xde\x0c\x02", approvaltest.DirectoryVersion, "\x00\x02\xf0\x00", "version 0x2f000"},
	{"flags of one directory", "\xfa\xde\x0c\x02", approvaltest.DirectoryFlags, "\x00\x01\x00\x02", "contradict"},
	{"hashes in the head", "\xfa\xde\x0c\x02", approvaltest.DirectoryHashes, "\x00\x00\x00\x10", "no room"},
	{"hashes behind the directory", "\xfa\xde\x0c\x02", approvaltest.DirectoryHashes, "\x7f\xff\xff\xff", "no room"},
	{"more pages than there are", "\xfa\xde\x0c\x02", approvaltest.DirectoryPages, "\x00\x00\x00\x04", "no room"},
	{"very many pages", "\xfa\xde\x0c\x02", approvaltest.DirectoryPages, "\xff\xff\xff\xff", "no room"},
	{"very many special hashes", "\xfa\xde\x0c\x02", approvaltest.DirectorySpecial, "\xff\xff\xff\xff", "no room"},
	{"an unknown hash", "\xfa\xde\x0c\x02", approvaltest.DirectoryKind, "\x05", "unknown kind"},
	{"the hash of the other directory", "\xfa\xde\x0c\x02", approvaltest.DirectoryHashSize, "\x20\x02", "no room"},
	{"a hash of another size", "\xfa\xde\x0c\x02", approvaltest.DirectoryHashSize, "\x1f", "unknown kind"},
	{"pages of no size", "\xfa\xde\x0c\x02", approvaltest.DirectoryPageSize, "\x00", "unknown kind"},
	{"pages of any size", "\xfa\xde\x0c\x02", approvaltest.DirectoryPageSize, "\xff", "unknown kind"},
	{"scattered", "\xfa\xde\x0c\x02", approvaltest.DirectoryScatter, "\x00\x00\x00\x58", "scattered"},
	{"a name in the head", "\xfa\xde\x0c\x02", approvaltest.DirectoryIdentifier, "\x00\x00\x00\x08", "outside of the code directory"},
	{"no name", "\xfa\xde\x0c\x02", approvaltest.DirectoryIdentifier, "\x00\x00\x00\x00", "outside of the code directory"},
	{"a name behind the directory", "\xfa\xde\x0c\x02", approvaltest.DirectoryIdentifier, "\x00\x00\xff\xff", "outside of the code directory"},
	{"a team in the head", "\xfa\xde\x0c\x02", approvaltest.DirectoryTeam, "\x00\x00\x00\x0c", "outside of the code directory"},
	{"a team behind the directory", "\xfa\xde\x0c\x02", approvaltest.DirectoryTeam, "\x7f\xff\xff\xff", "outside of the code directory"},
	{"the team of one directory", "\xfa\xde\x0c\x02", approvaltest.DirectoryTeam, "\x00\x00\x00\x00", "contradict"},
	{"an empty name", tool, 0, "\x00", "empty"},
	{"the name of one directory", tool, 0, "C", "contradict"},
	{"a name that cannot be read", tool, 3, "\n", "unprintable"},
	{"a name that is not ASCII", tool, 3, "\xc3\xa9", "unprintable"},
	{"a team that cannot be read", team, 3, "\x7f", "unprintable"},
}

func twoSlices() []byte {
	edit := func(cpu uint32) approvaltest.MachO {
		return with(func(m *approvaltest.MachO) { m.CPU, m.Kinds = cpu, []byte{1, 2} })
	}
	return approvaltest.Universal(false, build(edit(arm)), build(edit(intel)))
}

func (p patch) apply(b []byte) []byte {
	b = slices.Clone(b)
	copy(b[bytes.Index(b, []byte(p.mark))+p.off:], p.text)
	return b
}

func TestMalformed(t *testing.T) {
	whole := twoSlices()
	if got, err := read(whole); err != nil || len(got) != 2 || !got[0].Intact || !got[1].Intact {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, p := range malformed {
		b := p.apply(whole)
		if bytes.Equal(b, whole) {
			t.Errorf("%s: nothing was changed", p.name)
		}
		if got, err := read(b); !errors.Is(err, signature.ErrMalformed) || !strings.Contains(err.Error(), p.says) || got != nil {
			t.Errorf("%s: %+v, %v, want %q", p.name, got, err, p.says)
		}
	}
	for name, m := range map[string]approvaltest.MachO{
		"a name that is too long": with(func(m *approvaltest.MachO) { m.Identifier = strings.Repeat("a", 256) }),
		"a team that is too long": with(func(m *approvaltest.MachO) { m.Team = strings.Repeat("a", 65) }),
		"two of a kind":           with(func(m *approvaltest.MachO) { m.Kinds = []byte{2, 1, 2} }),
		"two signatures": with(func(m *approvaltest.MachO) {
			m.Commands = func(b []byte) { // in the place of a segment: one, and something unknown
				b[16] = 4
				copy(b[approvaltest.LinkEditSegment:], b[approvaltest.SignatureCommand:])
				copy(b[approvaltest.LinkEditSegment+16:], "\x99\x00\x00\x00\x38\x00\x00\x00")
			}
		}),
		"a signature command that is too long": with(func(m *approvaltest.MachO) {
			m.Commands = func(b []byte) { b[approvaltest.LinkEditSegment] = 0x1d }
		}),
	} {
		if got, err := read(build(m)); !errors.Is(err, signature.ErrMalformed) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	long := with(func(m *approvaltest.MachO) { m.Identifier, m.Team = strings.Repeat("a", 255), strings.Repeat("b", 64) })
	if got, err := read(build(long)); err != nil || got[0].Identifier != long.Identifier || got[0].Team != long.Team {
		t.Errorf("%+v, %v", got, err)
	}
}

// certificates is how long that part of a signature is which is not read.
const certificates = 12

// A file that is cut off anywhere has no signature.
func TestTruncated(t *testing.T) {
	for _, b := range [][]byte{
		build(program()),
		build(with(func(m *approvaltest.MachO) { m.CPU, m.Big, m.Wide, m.Kinds = power, true, false, []byte{1, 2} })),
		twoSlices(),
		approvaltest.Universal(true, build(program()), build(with(func(m *approvaltest.MachO) { m.CPU = intel }))),
	} {
		for n := range b {
			if got, err := read(b[:n]); err == nil || got != nil {
				t.Fatalf("%d of %d bytes: %+v", n, len(b), got)
			}
			if n < len(b)-certificates {
				if got, err := signature.Read(bytes.NewReader(b[:n]), int64(len(b))); !errors.Is(err, io.ErrUnexpectedEOF) || got != nil {
					t.Fatalf("%d of %d bytes, cut off after it was looked at: %+v, %v", n, len(b), got, err)
				}
			}
		}
	}
}

// huge is a program at the beginning of a file that is otherwise empty.
type huge []byte

func (h huge) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off < int64(len(h)) {
		copy(p, h[off:])
	}
	return len(p), nil
}

// What a file says of sizes costs nothing.
func TestHuge(t *testing.T) {
	b := build(program())
	if got, err := signature.Read(huge(b), 1<<32); err != nil || len(got) != 1 || got[0].Intact {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := signature.Read(huge(b), 1<<32+1); !errors.Is(err, signature.ErrMalformed) || got != nil {
		t.Errorf("%+v, %v", got, err)
	}
	at := bytes.Index(b, []byte("\xfa\xde\x0c\xc0"))
	copy(b[approvaltest.SignatureCommand+12:], "\x00\x00\x00\xf0")             // of the signature
	copy(b[at+4:], "\xf0\x00\x00\x00")                                         // of all its parts
	copy(b[bytes.Index(b, []byte("\xfa\xde\x0c\x02"))+4:], "\x04\x00\x00\x01") // of its directory
	for _, size := range []int64{1 << 32, 1 << 62} {
		before := allocated()
		got, err := signature.Read(huge(b), size)
		if used := allocated() - before; used > 1<<20 || !errors.Is(err, signature.ErrMalformed) || got != nil {
			t.Errorf("%d bytes: %+v, %v, %d bytes were allocated", size, got, err, used)
		}
	}
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func TestAgreed(t *testing.T) {
	one := signature.Signature{Identifier: tool, Team: team, CDHash: "01", Flags: signature.HardenedRuntime | signature.LibraryValidation, Intact: true}
	as := func(edit func(*signature.Signature)) signature.Signature {
		s := one
		edit(&s)
		return s
	}
	same := as(func(s *signature.Signature) { s.CDHash = "02" })
	for _, test := range []struct {
		name string
		list []signature.Signature
		want signature.Signature
		err  error
	}{
		{"none", nil, signature.Signature{}, signature.ErrUnsigned},
		{"one", []signature.Signature{one}, one, nil},
		{"two", []signature.Signature{one, same}, as(func(s *signature.Signature) { s.CDHash = "" }), nil},
		{"one unsigned", []signature.Signature{one, {}}, signature.Signature{}, signature.ErrUnsigned},
		{"the first unsigned", []signature.Signature{{}, one}, signature.Signature{}, signature.ErrUnsigned},
		{"all unsigned", []signature.Signature{{}, {}}, signature.Signature{}, signature.ErrUnsigned},
		{"other names", []signature.Signature{one, as(func(s *signature.Signature) { s.Identifier += "x" })}, signature.Signature{}, signature.ErrMalformed},
		{"other teams", []signature.Signature{one, as(func(s *signature.Signature) { s.Team = "" })}, signature.Signature{}, signature.ErrMalformed},
		{"one not intact", []signature.Signature{one, as(func(s *signature.Signature) { s.Intact = false })},
			as(func(s *signature.Signature) { s.CDHash, s.Intact = "", false }), nil},
		{"one ad hoc", []signature.Signature{one, same, as(func(s *signature.Signature) { s.Flags = signature.AdHoc | signature.HardenedRuntime })},
			as(func(s *signature.Signature) { s.CDHash, s.Flags = "", signature.AdHoc|signature.HardenedRuntime }), nil},
		{"the first by the linker", []signature.Signature{as(func(s *signature.Signature) { s.Flags = signature.LinkerSigned }), one},
			as(func(s *signature.Signature) { s.CDHash, s.Flags = "", signature.LinkerSigned }), nil},
	} {
		if got, err := signature.Agreed(test.list); got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: %+v, %v, want %+v, %v", test.name, got, err, test.want, test.err)
		}
	}
}

func TestSigner(t *testing.T) {
	for _, test := range []struct {
		team, identifier string
		flags            signature.Flags
		changed          bool
		want             string
	}{
		{team, tool, 0, false, team + "/" + tool},
		{team, "a_B-9.c", signature.HardenedRuntime | signature.LibraryValidation, false, team + "/a_B-9.c"},
		{team, tool, 0, true, ""},
		{team, tool, signature.AdHoc, false, ""},
		{team, tool, signature.AdHoc | signature.LinkerSigned, false, ""},
		{"", tool, 0, false, ""},
		{team, "", 0, false, ""},
		{team, "a b", 0, false, ""},
		{team, `a" or anchor apple or identifier "b`, 0, false, ""},
		{team, `a\`, 0, false, ""},
		{team, "a/b", 0, false, ""},
		{team, "é", 0, false, ""},
		{team, "a\n", 0, false, ""},
		{`x" or "`, tool, 0, false, ""},
		{"a/b", tool, 0, false, ""},
	} {
		s := signature.Signature{Identifier: test.identifier, Team: test.team, CDHash: "00", Flags: test.flags, Intact: !test.changed}
		if got := s.Signer(); got != test.want {
			t.Errorf("%+v is signed by %q, want %q", s, got, test.want)
		}
		if got := signature.Requirement([]signature.Signature{s}); (got != "") != (test.want != "") {
			t.Errorf("%+v must satisfy %q", s, got)
		}
	}
}

func TestRequirement(t *testing.T) {
	const developerID = `anchor apple generic and certificate 1[field.1.2.840.113635.100.6.2.6] exists and ` +
		`certificate leaf[field.1.2.840.113635.100.6.1.13] exists and certificate leaf[subject.OU] = "AB12CD34EF" and identifier "com.example.tool" and `
	one := signature.Signature{Identifier: tool, Team: team, CDHash: strings.Repeat("01", 20), Intact: true}
	two := one
	two.CDHash = strings.Repeat("ef", 20)
	if got, want := signature.Requirement([]signature.Signature{one}), developerID+`(cdhash H"`+one.CDHash+`")`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := signature.Requirement([]signature.Signature{one, two}), developerID+`(cdhash H"`+one.CDHash+`" or cdhash H"`+two.CDHash+`")`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	two.Flags = signature.AdHoc
	if got := signature.Requirement([]signature.Signature{one, two}); got != "" {
		t.Errorf("one architecture is ad hoc, and all must satisfy %s", got)
	}
}

// A program that Go's linker signed is what it says.
func TestGoProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short builds nothing for another platform")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/tool\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	goBuild := func(arch string) []byte {
		cmd := exec.Command("go", "build", "-o", arch, ".")
		cmd.Dir = dir
		env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "GOFLAGS=") })
		cmd.Env = append(env, "GOOS=darwin", "GOARCH="+arch, "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		b, err := os.ReadFile(filepath.Join(dir, arch))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := goBuild("arm64")
	want := signature.Signature{Identifier: "a.out", CDHash: hashOf(t, b), Flags: signature.AdHoc | signature.LinkerSigned, Intact: true}
	if got, err := read(b); err != nil || len(got) != 1 || got[0] != want || got[0].Signer() != "" {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	b[len(b)/2] ^= 1
	if got, err := read(b); err != nil || got[0].Intact || got[0].CDHash != want.CDHash {
		t.Errorf("changed: %+v, %v", got, err)
	}
	unsigned := goBuild("amd64")
	both, err := read(approvaltest.Universal(false, b, unsigned))
	if err != nil || len(both) != 2 || !both[0].Signed() || both[1].Signed() {
		t.Errorf("%+v, %v", both, err)
	}
	if got, err := signature.Agreed(both); !errors.Is(err, signature.ErrUnsigned) {
		t.Errorf("%+v, %v", got, err)
	}
}

// hashOf finds the one code directory with Go's own reader of load commands.
func hashOf(t *testing.T, b []byte) string {
	t.Helper()
	f, err := macho.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for _, load := range f.Loads {
		raw := load.Raw()
		if f.ByteOrder.Uint32(raw) != 0x1d {
			continue
		}
		blob := b[f.ByteOrder.Uint32(raw[8:]):]
		directory := blob[binary.BigEndian.Uint32(blob[16:]):]
		sum := sha256.Sum256(directory[:binary.BigEndian.Uint32(directory[4:])])
		return hex.EncodeToString(sum[:20])
	}
	t.Fatal("there is no signature")
	return ""
}
