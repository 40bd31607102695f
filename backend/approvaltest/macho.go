package approvaltest

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
)

// MachO describes a program of macOS that holds code which does nothing. It
// is written as codesign or a linker would, and then spoiled by whoever tests
// that.
type MachO struct {
	CPU       uint32
	Big, Wide bool // big-endian, 64 bit
	// Size is how many bytes lie in front of the signature.
	Size             int
	Identifier, Team string
	Flags            uint32
	// Kinds are the kinds of hash of its code directories, by the numbers of
	// cs_blobs.h; none is a program without a signature.
	Kinds []byte
	// Commands and Directory may change the head with the load commands, and
	// each code directory, before they are hashed.
	Commands, Directory func([]byte)
}

// Places in what MachO writes for 64 bit: the load commands, and fields of a
// code directory.
const (
	TextSegment, LinkEditSegment, SignatureCommand = 32, 104, 176

	DirectoryVersion, DirectoryFlags, DirectoryHashes, DirectoryIdentifier, DirectorySpecial = 8, 12, 16, 20, 24
	DirectoryPages, DirectoryLimit, DirectoryHashSize, DirectoryKind, DirectoryPageSize      = 28, 32, 36, 37, 39
	DirectoryScatter, DirectoryTeam, DirectoryLimit64                                        = 44, 48, 56

	directoryHead = 88
	specialSlots  = 2
)

// Build returns the file, and of each kind of code directory the hash that
// codesign would print.
func (m MachO) Build() (file []byte, cdhash map[byte]string) {
	size := 0
	if len(m.Kinds) > 0 {
		size = len(m.superBlob(make([]byte, m.Size), nil))
	}
	code := m.head(uint32(size))
	for i := len(code); i < m.Size; i++ {
		code = append(code, byte(i*7>>3))
	}
	if len(m.Kinds) == 0 {
		return code, nil
	}
	cdhash = map[byte]string{}
	return append(code, m.superBlob(code, cdhash)...), cdhash
}

// head returns the header and the load commands.
func (m MachO) head(signature uint32) []byte {
	var o binary.AppendByteOrder = binary.LittleEndian
	if m.Big {
		o = binary.BigEndian
	}
	u32 := func(b []byte, list ...uint32) []byte {
		for _, v := range list {
			b = o.AppendUint32(b, v)
		}
		return b
	}
	segment := func(b []byte, name string, off, size, protection uint32) []byte {
		if !m.Wide {
			b = append(u32(b, 0x01, 56), name...)
			return u32(b, off, size, off, size, protection, protection, 0, 0)
		}
		b = append(u32(b, 0x19, 72), name...)
		for _, v := range []uint32{off, size, off, size} {
			b = o.AppendUint64(b, uint64(v))
		}
		return u32(b, protection, protection, 0, 0)
	}
	var commands []byte
	commands = segment(commands, "__TEXT\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 0, uint32(m.Size), 5)
	commands = segment(commands, "__LINKEDIT\x00\x00\x00\x00\x00\x00", uint32(m.Size), signature, 1)
	count := uint32(2)
	if signature > 0 {
		commands, count = u32(commands, 0x1d, 16, uint32(m.Size), signature), 3
	}
	magic := uint32(0xfeedface)
	if m.Wide {
		magic = 0xfeedfacf
	}
	b := u32(nil, magic, m.CPU, 0, 2, count, uint32(len(commands)), 0)
	if m.Wide {
		b = u32(b, 0)
	}
	b = append(b, commands...)
	if m.Commands != nil {
		m.Commands(b)
	}
	return b
}

// superBlob returns the signature of this code.
func (m MachO) superBlob(code []byte, cdhash map[byte]string) []byte {
	var slots []uint32
	var blobs [][]byte
	for i, kind := range m.Kinds {
		slot := uint32(0)
		if i > 0 {
			slot = 0x1000 + uint32(i) - 1
		}
		d := m.directory(kind, code)
		if cdhash != nil {
			cdhash[kind] = hex.EncodeToString(digest(kind, d)[:20])
		}
		slots, blobs = append(slots, slot), append(blobs, d)
	}
	if m.Team != "" { // what would hold the certificates
		slots, blobs = append(slots, 0x10000), append(blobs, be32(nil, 0xfade0b01, 12, 0))
	}
	head := be32(nil, 0xfade0cc0, 0, uint32(len(blobs)))
	var body []byte
	for i, blob := range blobs {
		head = be32(head, slots[i], uint32(12+8*len(blobs)+len(body)))
		body = append(body, blob...)
	}
	all := append(head, body...)
	binary.BigEndian.PutUint32(all[4:], uint32(len(all)))
	return all
}

func (m MachO) directory(kind byte, code []byte) []byte {
	size := len(digest(kind, nil))
	names := m.Identifier + "\x00"
	team := 0
	if m.Team != "" {
		team = directoryHead + len(names)
		names += m.Team + "\x00"
	}
	hashes := directoryHead + len(names) + specialSlots*size
	pages := (len(code) + 4095) / 4096
	b := be32(nil, 0xfade0c02, uint32(hashes+pages*size), 0x20400, m.Flags, uint32(hashes), directoryHead,
		specialSlots, uint32(pages), uint32(len(code)))
	b = append(b, byte(size), kind, 0, 12)
	b = be32(b, 0, 0, uint32(team), 0)
	b = append(b, make([]byte, directoryHead-len(b))...)
	b = append(b, names...)
	b = append(b, make([]byte, specialSlots*size)...)
	for ; len(code) > 0; code = code[min(4096, len(code)):] {
		b = append(b, digest(kind, code[:min(4096, len(code))])...)
	}
	if m.Directory != nil {
		m.Directory(b)
	}
	return b
}

func digest(kind byte, b []byte) []byte {
	switch kind {
	case 1:
		sum := sha1.Sum(b)
		return sum[:]
	case 4:
		sum := sha512.Sum384(b)
		return sum[:]
	}
	sum := sha256.Sum256(b)
	if kind == 3 {
		return sum[:20]
	}
	return sum[:]
}

func be32(b []byte, list ...uint32) []byte {
	for _, v := range list {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

// Universal joins programs for several architectures, with 64-bit places if
// wide. Each keeps the processor that its own header names.
func Universal(wide bool, programs ...[]byte) []byte {
	magic, entry := uint32(0xcafebabe), 20
	if wide {
		magic, entry = 0xcafebabf, 32
	}
	head := be32(nil, magic, uint32(len(programs)))
	off := 8 + entry*len(programs)
	var body []byte
	for _, p := range programs {
		cpu := binary.LittleEndian.Uint32(p[4:])
		if p[0] == 0xfe { // big-endian
			cpu = binary.BigEndian.Uint32(p[4:])
		}
		at, size := uint32(off+len(body)), uint32(len(p))
		if head = be32(head, cpu, 0); wide {
			head = be32(head, 0, at, 0, size, 0, 0)
		} else {
			head = be32(head, at, size, 0)
		}
		body = append(body, p...)
	}
	return append(head, body...)
}
