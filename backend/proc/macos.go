package proc

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
)

// What the kernel of macOS answers, read apart from the asking, so that bytes
// can test it on every platform. Offsets are those of 64-bit programs.
const (
	// struct kinfo_proc (sys/sysctl.h).
	kinfoSize    = 648
	kinfoSeconds = 0
	kinfoMicros  = 8
	kinfoStat    = 36
	kinfoPID     = 40
	kinfoParent  = 560
	kinfoGroup   = 564
	zombie       = 5 // SZOMB (sys/proc.h)

	// Flags of csops (codesign.h), and the size of a hash of code.
	isValid    = 0x0000_0001 // CS_VALID
	isHardened = 0x0001_0000 // CS_RUNTIME
	isDebugged = 0x1000_0000 // CS_DEBUGGED
	hashSize   = 20
)

// ofKinfo reads a struct kinfo_proc, which does not tell the session.
func ofKinfo(b []byte) Info {
	word := func(at int) int { return int(int32(binary.LittleEndian.Uint32(b[at:]))) }
	return Info{
		PID: word(kinfoPID), Parent: word(kinfoParent), Group: word(kinfoGroup),
		Started: binary.LittleEndian.Uint64(b[kinfoSeconds:])*1_000_000 + uint64(word(kinfoMicros)),
		Zombie:  b[kinfoStat] == zombie,
	}
}

// ofCode reads the flags and the hash of a program that is signed.
func ofCode(flags uint32, hash [hashSize]byte) Code {
	return Code{hex.EncodeToString(hash[:]), flags&isValid != 0, flags&isHardened != 0, flags&isDebugged != 0}
}

// ofArguments returns the environment in what kern.procargs2 says of a process:
// the number of arguments, the path of the program, padding, the arguments, the
// environment.
func ofArguments(b []byte) ([]byte, error) {
	if len(b) < 4 {
		return nil, errors.New("internal error: kern.procargs2 is too short")
	}
	count, b := int32(binary.LittleEndian.Uint32(b)), b[4:]
	_, b, _ = bytes.Cut(b, []byte{0})
	b = bytes.TrimLeft(b, "\x00")
	for range count {
		if _, b, _ = bytes.Cut(b, []byte{0}); len(b) == 0 {
			break
		}
	}
	return b, nil
}
