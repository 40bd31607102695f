package signature

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"slices"
)

// Limits on a signature.
const (
	maxBlobs       = 64
	maxDirectories = 64 << 20 // bytes of all code directories of an architecture
	maxIdentifier  = 255
	maxTeam        = 64
)

// Numbers of cs_blobs.h. All of a signature is big-endian.
const (
	magicSignature = 0xfade0cc0
	magicDirectory = 0xfade0c02

	// slotAlternate is the first of five places for further directories.
	slotAlternate = 0x1000
	alternates    = 5

	cdhashSize = 20

	// The versions in which a directory got more fields, and those between
	// which codesign reads it at all.
	versionFirst   = 0x20001
	versionScatter = 0x20100
	versionTeam    = 0x20200
	versionLimit64 = 0x20300
	versionBeyond  = 0x2f000
)

// hashKind is how a directory hashes. Of several directories the one with
// the highest rank counts, for the kernel as for codesign.
type hashKind struct {
	rank, size int
	new        func() hash.Hash
}

var hashKinds = map[byte]hashKind{
	1: {1, 20, sha1.New},
	2: {3, 32, sha256.New},
	3: {2, 20, sha256.New}, // cut to 20 bytes
	4: {4, 48, sha512.New384},
}

// directory is a code directory: the hash of each page of the code, and what
// the code is called.
type directory struct {
	Signature
	kind  hashKind
	limit uint64 // how many bytes of code it covers
	page  uint64 // bytes in a page
	slots []byte // the hashes of the pages
}

// signed reads the signature of a program for one architecture.
func signed(slice *io.SectionReader, l layout) (Signature, error) {
	if uint64(l.off)+uint64(l.size) > uint64(slice.Size()) {
		return Signature{}, malformed("the signature lies outside of the program")
	}
	list, err := directories(io.NewSectionReader(slice, int64(l.off), int64(l.size)))
	if err != nil {
		return Signature{}, err
	}
	best, ranks := list[0], map[int]bool{}
	for _, d := range list {
		switch {
		case d.Identifier != best.Identifier || d.Team != best.Team || d.Flags != best.Flags:
			return Signature{}, malformed("its code directories contradict each other")
		case ranks[d.kind.rank]:
			return Signature{}, malformed("two code directories use the same kind of hash")
		case d.kind.rank > best.kind.rank:
			best = d
		}
		ranks[d.kind.rank] = true
	}
	best.Intact, err = best.covers(slice, l)
	return best.Signature, err
}

// directories reads the code directories of a signature, the first one first.
func directories(blob *io.SectionReader) (list []directory, err error) {
	be := binary.BigEndian
	head, err := at(blob, 0, 12)
	if err != nil {
		return nil, err
	}
	length, count := int64(be.Uint32(head[4:])), int64(be.Uint32(head[8:]))
	if be.Uint32(head) != magicSignature || length > blob.Size() || count > maxBlobs {
		return nil, malformed("the signature has a wrong head")
	}
	blob = io.NewSectionReader(blob, 0, length)
	index, err := at(blob, 12, 8*count)
	if err != nil {
		return nil, err
	}
	places, err := placesIn(index)
	if err != nil {
		return nil, err
	}
	left := int64(maxDirectories)
	for _, off := range places {
		if head, err = at(blob, off, 8); err != nil {
			return nil, err
		}
		length := int64(be.Uint32(head[4:]))
		if left -= length; left < 0 {
			return nil, malformed("its code directories are too long")
		}
		b, err := at(blob, off, length)
		if err != nil {
			return nil, err
		}
		d, err := parse(b)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// placesIn returns where the code directories of a signature begin. codesign
// stops at a gap in their numbers and the kernel does not, so there may be
// none.
func placesIn(index []byte) ([]int64, error) {
	var places [1 + alternates]int64
	for e := range slices.Chunk(index, 8) {
		slot, off := binary.BigEndian.Uint32(e), int64(binary.BigEndian.Uint32(e[4:]))
		if slot >= slotAlternate {
			slot -= slotAlternate - 1
		} else if slot > 0 {
			continue
		}
		if slot > alternates {
			continue
		}
		if off == 0 || places[slot] != 0 {
			return nil, malformed("a code directory is there twice or nowhere")
		}
		places[slot] = off
	}
	used := slices.Index(append(places[:], 0), 0)
	if used == 0 || slices.ContainsFunc(places[used:], func(off int64) bool { return off != 0 }) {
		return nil, malformed("a code directory is missing")
	}
	return places[:used], nil
}

// parse reads one code directory, which is all of b.
func parse(b []byte) (d directory, err error) {
	be := binary.BigEndian
	if len(b) < 44 || be.Uint32(b) != magicDirectory {
		return d, malformed("a code directory has a wrong head")
	}
	version, size := be.Uint32(b[8:]), 44
	switch {
	case version < versionFirst || version >= versionBeyond:
		return d, malformed("a code directory has the version %#x", version)
	case version >= versionLimit64:
		size = 64
	case version >= versionTeam:
		size = 52
	case version >= versionScatter:
		size = 48
	}
	kind, ok := hashKinds[b[37]]
	if !ok || int(b[36]) != kind.size || len(b) < size || b[39] != 12 && b[39] != 14 {
		return d, malformed("a code directory is of an unknown kind")
	}
	d.kind, d.page, d.Flags = kind, 1<<b[39], Flags(be.Uint32(b[12:]))
	if d.limit = uint64(be.Uint32(b[32:])); version >= versionLimit64 && be.Uint64(b[56:]) != 0 {
		d.limit = be.Uint64(b[56:])
	}
	if version >= versionScatter && be.Uint32(b[44:]) != 0 {
		return d, malformed("a code directory is scattered")
	}
	hashes, pages := uint64(be.Uint32(b[16:])), uint64(be.Uint32(b[28:]))
	if special := uint64(be.Uint32(b[24:])); hashes < uint64(size)+special*uint64(kind.size) ||
		hashes > uint64(len(b)) || pages > (uint64(len(b))-hashes)/uint64(kind.size) {
		return d, malformed("a code directory has no room for its hashes")
	}
	d.slots = b[hashes : hashes+pages*uint64(kind.size)]
	if d.Identifier, err = text(b, size, be.Uint32(b[20:]), maxIdentifier); err != nil {
		return d, err
	}
	if version >= versionTeam && be.Uint32(b[48:]) != 0 {
		if d.Team, err = text(b, size, be.Uint32(b[48:]), maxTeam); err != nil {
			return d, err
		}
	}
	h := kind.new()
	h.Write(b)
	d.CDHash = hex.EncodeToString(h.Sum(nil)[:cdhashSize])
	return d, nil
}

// text reads a name behind the head of a directory, up to its NUL.
func text(b []byte, head int, off uint32, limit int) (string, error) {
	if off < uint32(head) || uint64(off) >= uint64(len(b)) {
		return "", malformed("a name lies outside of the code directory")
	}
	rest := b[off:min(uint64(len(b)), uint64(off)+uint64(limit)+1)]
	end := bytes.IndexByte(rest, 0)
	if end <= 0 {
		return "", malformed("a name is empty or too long")
	}
	for _, c := range rest[:end] {
		if c < ' ' || c > '~' {
			return "", malformed("a name holds unprintable characters")
		}
	}
	return string(rest[:end]), nil
}

// covers reports whether the directory covers all of the program in front of
// the signature, which must be the last thing in it, and each page has the
// hash that the directory holds for it.
func (d *directory) covers(slice *io.SectionReader, l layout) (bool, error) {
	pages := uint64(len(d.slots) / d.kind.size)
	if d.limit != uint64(l.off) || l.reach > d.limit || uint64(l.off)+uint64(l.size) != uint64(slice.Size()) ||
		pages != (d.limit+d.page-1)/d.page {
		return false, nil
	}
	code := bufio.NewReaderSize(io.NewSectionReader(slice, 0, int64(d.limit)), int(min(1<<18, d.limit)))
	page, sum, left := make([]byte, d.page), make([]byte, 0, sha512.Size384), d.limit
	h := d.kind.new()
	for want := range slices.Chunk(d.slots, d.kind.size) {
		page = page[:min(d.page, left)]
		if _, err := io.ReadFull(code, page); err != nil {
			return false, err
		}
		h.Reset()
		h.Write(page)
		if !bytes.Equal(h.Sum(sum)[:d.kind.size], want) {
			return false, nil
		}
		left -= uint64(len(page))
	}
	return true, nil
}
