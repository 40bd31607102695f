package preview

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// What an index may be at most: what is larger is not read in time.
const (
	maxIndex   = 16 << 20
	maxEntries = 200_000
)

// entry is what git noted of one file: its size, when it was changed, and what
// it holds.
type entry struct {
	size, mode    uint32
	sec, nsec     uint32
	hash          []byte
	stage         byte
	intentToAdded bool
}

var (
	errIndex = errors.New("the index cannot be read")
	errMany  = errors.New("the index has more entries than are read")
)

// The layout of an index (git's gitformat-index), and of what may stand in it.
const (
	headSize   = 12
	fixedSize  = 40 // of an entry, before its hash
	typeMask   = 0o170000
	typeFile   = 0o100000
	typeLink   = 0o120000
	typeModule = 0o160000

	flagExtended = 1 << 14
	flagIntent   = 1 << 13 // among the extended ones
)

// readIndex calls each with all entries of an index, until it returns false.
// Neither the names nor the hashes may be kept. Repositories have hashes of 20
// or of 32 bytes, which the index does not say: it is what fits.
func readIndex(data []byte, each func(name []byte, e *entry) bool) error {
	err := errIndex
	for _, hash := range []int{20, 32} {
		if err = checkIndex(data, hash); err == nil {
			return walkIndex(data, hash, each)
		}
		if errors.Is(err, errMany) {
			return err
		}
	}
	return err
}

// checkIndex reports whether an index holds what it should with hashes of
// this size, up to its end.
func checkIndex(data []byte, hash int) error {
	return walkIndex(data, hash, func([]byte, *entry) bool { return true })
}

func walkIndex(data []byte, hash int, each func([]byte, *entry) bool) error {
	if len(data) < headSize+hash || string(data[:4]) != "DIRC" {
		return errIndex
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return errIndex
	}
	if count > maxEntries {
		return errMany
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
		if e.stage == 0 && before != nil && version != 4 && bytes.Compare(before, name) >= 0 {
			return errIndex
		}
		if !each(name, &e) {
			return nil
		}
	}
	return readExtensions(rest)
}

// readEntry reads what stands before a name, and says how long that is.
func readEntry(data []byte, version uint32, hash int) (e entry, n int, err error) {
	n = fixedSize + hash + 2
	if len(data) < n {
		return e, 0, errIndex
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(data[i:]) }
	e = entry{sec: word(8), nsec: word(12), mode: word(24), size: word(36), hash: data[fixedSize : fixedSize+hash]}
	flags := binary.BigEndian.Uint16(data[fixedSize+hash:])
	e.stage = byte(flags >> 12 & 3)
	switch e.mode & typeMask {
	case typeFile, typeLink, typeModule:
	default:
		return e, 0, errIndex // of a kind that stands for more than a file, or none
	}
	if flags&flagExtended == 0 {
		return e, n, nil
	}
	if version < 3 || len(data) < n+2 {
		return e, 0, errIndex
	}
	e.intentToAdded = binary.BigEndian.Uint16(data[n:])&flagIntent != 0
	return e, n + 2, nil
}

// readName reads the name of an entry whose bytes before it are n, and returns
// what follows.
func readName(before, data []byte, version uint32, n int) (name, rest []byte, err error) {
	keep := 0
	if version == 4 {
		drop, used := readOffset(data)
		if used == 0 || drop > len(before) {
			return nil, nil, errIndex
		}
		keep, data = len(before)-drop, data[used:]
	}
	end := bytes.IndexByte(data[:min(len(data), maxName+1)], 0)
	if end < 0 || keep+end == 0 || keep+end > maxName {
		return nil, nil, errIndex
	}
	if version == 4 {
		return append(before[:keep], data[:end]...), data[end+1:], nil
	}
	pad := 8 - (n+end)%8
	if len(data) < end+pad || len(bytes.Trim(data[end:end+pad], "\x00")) > 0 {
		return nil, nil, errIndex
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
			return errIndex
		}
		size := binary.BigEndian.Uint32(data[4:])
		if uint64(size) > uint64(len(data)-8) {
			return errIndex
		}
		data = data[8+size:]
	}
	return nil
}
