package signature

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// Limits on what a file may make us read. They are far above what programs
// have.
const (
	// maxFile is 4 GiB: the place of a signature is a 32-bit number.
	maxFile     = 1 << 32
	maxSlices   = 64
	maxCommands = 1 << 20 // bytes of load commands
)

// Numbers of mach-o/loader.h and mach-o/fat.h.
const (
	magic32    = 0xfeedface
	magic64    = 0xfeedfacf
	magicFat   = 0xcafebabe // Java's class files begin with it too
	magicFat64 = 0xcafebabf

	header32, header64   = 28, 32
	segment32, segment64 = 0x01, 0x19
	codeSignature        = 0x1d
	executable           = 4 // among the protections of a segment
)

// Read returns the signature of each architecture of a program, in the order
// of the file; of one that is not signed, the zero Signature. Its errors wrap
// ErrNotMachO, ErrMalformed or what reading returned. It reads the whole file
// once, for Intact.
func Read(r io.ReaderAt, size int64) ([]Signature, error) {
	if size < 8 {
		return nil, ErrNotMachO
	}
	file := io.NewSectionReader(r, 0, size)
	head, err := at(file, 0, 8)
	if err != nil {
		return nil, err
	}
	parts, magic := []part{{cpu: anyCPU, size: uint64(size)}}, binary.BigEndian.Uint32(head)
	switch fat := magic == magicFat || magic == magicFat64; {
	case !fat && order(head) == nil:
		return nil, ErrNotMachO
	case size > maxFile:
		return nil, malformed("the file is larger than 4 GiB")
	case fat:
		if parts, err = universal(file, binary.BigEndian.Uint32(head[4:]), magic == magicFat64); err != nil {
			return nil, err
		}
	}
	var list []Signature
	for _, p := range parts {
		s, err := read(io.NewSectionReader(file, int64(p.off), int64(p.size)), p.cpu)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// part is where the program for one architecture lies in the file.
type part struct {
	cpu, kind uint32
	off, size uint64
}

const (
	anyCPU = ^uint32(0)
	// kindBits are those of a kind of processor that are not features.
	kindBits = 0x00ff_ffff
)

// universal returns the parts of a universal file. Two of them for the same
// processor are refused, because then it would be open which of them is
// started and which of them codesign looks at.
func universal(file *io.SectionReader, count uint32, wide bool) ([]part, error) {
	if count == 0 || count > maxSlices {
		return nil, malformed("it has %d architectures", count)
	}
	entry := int64(20)
	if wide {
		entry = 32
	}
	table, err := at(file, 8, int64(count)*entry)
	if err != nil {
		return nil, err
	}
	var parts []part
	for e := range slices.Chunk(table, int(entry)) {
		be := binary.BigEndian
		p := part{cpu: be.Uint32(e), kind: be.Uint32(e[4:]) & kindBits}
		if p.off, p.size = uint64(be.Uint32(e[8:])), uint64(be.Uint32(e[12:])); wide {
			p.off, p.size = be.Uint64(e[8:]), be.Uint64(e[16:])
		}
		total := uint64(file.Size())
		if p.off < uint64(8+len(table)) || p.off > total || p.size > total-p.off {
			return nil, malformed("an architecture lies outside of the file")
		}
		if p.cpu == anyCPU || slices.ContainsFunc(parts, p.collides) {
			return nil, malformed("two architectures are the same or overlap")
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func (p part) collides(q part) bool {
	return p.off < q.off+q.size && q.off < p.off+p.size || p.cpu == q.cpu && p.kind == q.kind
}

// order returns the byte order of a program for one architecture, or nil.
func order(head []byte) binary.ByteOrder {
	for _, o := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if magic := o.Uint32(head); magic == magic32 || magic == magic64 {
			return o
		}
	}
	return nil
}

// layout is what the load commands say of a program.
type layout struct {
	// off and size are where the signature lies, zero if there is none.
	off, size uint32
	// reach is where the last segment ends, but for the one that is there to
	// hold the signature.
	reach uint64
}

// read reads the program for one architecture.
func read(slice *io.SectionReader, cpu uint32) (Signature, error) {
	head, err := at(slice, 0, header32)
	if err != nil {
		return Signature{}, err
	}
	o := order(head)
	if o == nil || cpu != anyCPU && o.Uint32(head[4:]) != cpu {
		return Signature{}, malformed("an architecture is not what the table says")
	}
	start := int64(header32)
	if o.Uint32(head) == magic64 {
		start = header64
	}
	size := o.Uint32(head[20:])
	if size > maxCommands {
		return Signature{}, malformed("it has %d bytes of load commands", size)
	}
	commands, err := at(slice, start, int64(size))
	if err != nil {
		return Signature{}, err
	}
	l, err := commandsOf(commands, o, o.Uint32(head[16:]))
	if err != nil || l.off == 0 {
		return Signature{}, err
	}
	return signed(slice, l)
}

// commandsOf walks through the load commands.
func commandsOf(b []byte, o binary.ByteOrder, count uint32) (l layout, err error) {
	for range count {
		if len(b) < 8 {
			return l, malformed("it has fewer load commands than it says")
		}
		size := o.Uint32(b[4:])
		if size < 8 || uint64(size) > uint64(len(b)) {
			return l, malformed("a load command has a wrong size")
		}
		if err := l.add(b[:size], o); err != nil {
			return l, err
		}
		b = b[size:]
	}
	return l, nil
}

func (l *layout) add(b []byte, o binary.ByteOrder) error {
	kind := o.Uint32(b)
	switch {
	case kind == codeSignature && len(b) == 16 && l.off == 0 && o.Uint32(b[8:]) > 0:
		l.off, l.size = o.Uint32(b[8:]), o.Uint32(b[12:])
	case kind == codeSignature:
		return malformed("its load commands name no signature, or more than one")
	case kind == segment32 && len(b) >= 56:
		l.segment(b, uint64(o.Uint32(b[32:])), uint64(o.Uint32(b[36:])), o.Uint32(b[44:]))
	case kind == segment64 && len(b) >= 72:
		l.segment(b, o.Uint64(b[40:]), o.Uint64(b[48:]), o.Uint32(b[60:]))
	case kind == segment32 || kind == segment64:
		return malformed("a segment is cut short")
	}
	return nil
}

func (l *layout) segment(b []byte, off, size uint64, protection uint32) {
	const linkEdit = "__LINKEDIT\x00\x00\x00\x00\x00\x00"
	if size == 0 || string(b[8:24]) == linkEdit && protection&executable == 0 {
		return
	}
	end := off + size
	if end < off {
		end = ^uint64(0)
	}
	l.reach = max(l.reach, end)
}

// at reads n bytes that must lie within a part of the file. Callers have
// bounded n.
func at(r *io.SectionReader, off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > r.Size() || n > r.Size()-off {
		return nil, malformed("it is cut short")
	}
	b := make([]byte, n)
	if got, err := r.ReadAt(b, off); got < len(b) {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return b, nil
}
