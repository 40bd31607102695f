// Package gitindex reads the index of a git repository: the names of the files
// that git knows, and what it noted of each. It opens nothing: who has the file
// hands in what is in it. What it cannot read to its end tells nothing.
package gitindex

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// What an index may be at most: what is larger is not read in time.
const (
	MaxSize    = 16 << 20
	maxEntries = 200_000
	maxName    = 4096
)

// Entry is what git noted of one file: its size, when it was changed, and what
// it holds.
type Entry struct {
	Size, Mode  uint32
	Sec, NSec   uint32
	Hash        []byte
	Stage       byte
	IntentToAdd bool
}

// What is wrong with an index that is not read.
var (
	ErrIndex = errors.New("the index cannot be read")
	ErrMany  = errors.New("the index has more entries than are read")
)

// The layout of an index (git's gitformat-index), and of what may stand in it.
const (
	headSize   = 12
	fixedSize  = 40 // of an entry, before its hash
	TypeMask   = 0o170000
	TypeFile   = 0o100000
	TypeLink   = 0o120000
	typeModule = 0o160000

	flagExtended = 1 << 14
	flagIntent   = 1 << 13 // among the extended ones
)

// Read calls each with all entries of an index, until it returns false.
// Neither the names nor the hashes may be kept. Repositories have hashes of 20
// or of 32 bytes, which the index does not say: it is what fits.
func Read(data []byte, each func(name []byte, e *Entry) bool) error {
	err := ErrIndex
	for _, hash := range []int{20, 32} {
		if err = checkIndex(data, hash); err == nil {
			return walkIndex(data, hash, each)
		}
		if errors.Is(err, ErrMany) {
			return err
		}
	}
	return err
}

// checkIndex reports whether an index holds what it should with hashes of
// this size, up to its end.
func checkIndex(data []byte, hash int) error {
	return walkIndex(data, hash, func([]byte, *Entry) bool { return true })
}

func walkIndex(data []byte, hash int, each func([]byte, *Entry) bool) error {
	if len(data) < headSize+hash || string(data[:4]) != "DIRC" {
		return ErrIndex
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return ErrIndex
	}
	if count > maxEntries {
		return ErrMany
	}
	rest := data[headSize : len(data)-hash]
	var name []byte
	for range count {
		e, n, err := readEntry(rest, version, hash)
		if err != nil {
			return err
		}
		rest = rest[n:]
		before := name // in version 4 the same bytes
		if name, rest, err = readName(name, rest, version, n); err != nil {
			return err
		}
		// They are sorted, which nothing else is that may stand in these bytes.
		if e.Stage == 0 && before != nil && version != 4 && bytes.Compare(before, name) >= 0 {
			return ErrIndex
		}
		if !each(name, &e) {
			return nil
		}
	}
	return readExtensions(rest)
}

// readEntry reads what stands before a name, and says how long that is.
func readEntry(data []byte, version uint32, hash int) (e Entry, n int, err error) {
	n = fixedSize + hash + 2
	if len(data) < n {
		return e, 0, ErrIndex
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(data[i:]) }
	e = Entry{Sec: word(8), NSec: word(12), Mode: word(24), Size: word(36), Hash: data[fixedSize : fixedSize+hash]}
	flags := binary.BigEndian.Uint16(data[fixedSize+hash:])
	e.Stage = byte(flags >> 12 & 3)
	switch e.Mode & TypeMask {
	case TypeFile, TypeLink, typeModule:
	default:
		return e, 0, ErrIndex // of a kind that stands for more than a file, or none
	}
	if flags&flagExtended == 0 {
		return e, n, nil
	}
	if version < 3 || len(data) < n+2 {
		return e, 0, ErrIndex
	}
	e.IntentToAdd = binary.BigEndian.Uint16(data[n:])&flagIntent != 0
	return e, n + 2, nil
}

// readName reads the name of an entry whose bytes before it are n, and returns
// what follows.
func readName(before, data []byte, version uint32, n int) (name, rest []byte, err error) {
	keep := 0
	if version == 4 {
		drop, used := readOffset(data)
		if used == 0 || drop > len(before) {
			return nil, nil, ErrIndex
		}
		keep, data = len(before)-drop, data[used:]
	}
	end := bytes.IndexByte(data[:min(len(data), maxName+1)], 0)
	if end < 0 || keep+end == 0 || keep+end > maxName {
		return nil, nil, ErrIndex
	}
	if version == 4 {
		return append(before[:keep], data[:end]...), data[end+1:], nil
	}
	pad := 8 - (n+end)%8
	if len(data) < end+pad || len(bytes.Trim(data[end:end+pad], "\x00")) > 0 {
		return nil, nil, ErrIndex
	}
	return data[:end], data[end+pad:], nil
}

// readOffset reads a number as version 4 writes it; used is 0 for none.
func readOffset(data []byte) (value, used int) {
	for used < len(data) && used < 4 {
		b := data[used]
		if used++; used > 1 {
			value++
		}
		value = value<<7 | int(b&0x7f)
		if b&0x80 == 0 {
			return value, used
		}
	}
	return 0, 0
}

// readExtensions goes through what follows the entries. A name in small
// letters says that who does not know it cannot read the entries.
func readExtensions(data []byte) error {
	for len(data) > 0 {
		if len(data) < 8 || data[0] < 'A' || data[0] > 'Z' {
			return ErrIndex
		}
		size := binary.BigEndian.Uint32(data[4:])
		if uint64(size) > uint64(len(data)-8) {
			return ErrIndex
		}
		data = data[8+size:]
	}
	return nil
}
