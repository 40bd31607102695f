package proc

import (
	"encoding/binary"
	"strings"
	"testing"
)

// TestKinfo reads processes as the kernel of macOS tells of them.
func TestKinfo(t *testing.T) {
	for _, row := range []struct {
		name               string
		seconds, micros    uint64
		stat               byte
		pid, parent, group int32
		ended              bool
	}{
		{"launchd", 1_770_000_000, 0, 2, 1, 0, 1, false},
		{"a shell that runs", 1_770_000_100, 999_999, 2, 501, 500, 501, false},
		{"one that has ended", 1_770_000_200, 7, zombie, 99_998, 501, 99_000, true},
	} {
		b := make([]byte, kinfoSize)
		binary.LittleEndian.PutUint64(b[kinfoSeconds:], row.seconds)
		binary.LittleEndian.PutUint64(b[kinfoMicros:], row.micros)
		b[kinfoStat] = row.stat
		for at, word := range map[int]int32{kinfoPID: row.pid, kinfoParent: row.parent, kinfoGroup: row.group} {
			binary.LittleEndian.PutUint32(b[at:], uint32(word))
		}
		want := Info{PID: int(row.pid), Parent: int(row.parent), Group: int(row.group), Started: row.seconds*1_000_000 + row.micros, Zombie: row.ended}
		if got := ofKinfo(b); got != want {
			t.Errorf("%s: %+v, want %+v", row.name, got, want)
		}
	}
}

// TestArguments finds the environment behind the arguments, and none where the
// kernel keeps it back or the process wrote nonsense over it.
func TestArguments(t *testing.T) {
	count := func(n int32) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
	for _, row := range []struct{ name, block, want string }{
		{"both", count(2) + "/bin/zsh\x00\x00\x00\x00zsh\x00-l\x00HOME=/Users/dana\x00MARK=1\x00", "HOME=/Users/dana\x00MARK=1\x00"},
		{"an empty argument", count(3) + "/bin/zsh\x00\x00zsh\x00\x00x\x00MARK=1\x00", "MARK=1\x00"},
		{"kept back", count(2) + "/bin/sleep\x00\x00sleep\x00600\x00", ""},
		{"no arguments", count(0) + "/bin/sleep\x00\x00MARK=1\x00", "MARK=1\x00"},
		{"fewer than it says", count(9) + "/bin/zsh\x00zsh\x00", ""},
		{"more than there can be", count(-1) + "/bin/zsh\x00zsh\x00MARK=1\x00", "zsh\x00MARK=1\x00"},
		{"the path alone", count(1) + "/bin/zsh", ""},
		{"the number alone", count(1), ""},
	} {
		got, err := ofArguments([]byte(row.block))
		if err != nil || string(got) != row.want {
			t.Errorf("%s: %q, %v, want %q", row.name, got, err, row.want)
		}
	}
	for _, short := range []string{"", "\x01", "\x01\x00\x00"} {
		if _, err := ofArguments([]byte(short)); err == nil {
			t.Errorf("%q is taken for arguments", short)
		}
	}
}

func TestCode(t *testing.T) {
	hash := [hashSize]byte{0: 0xab, hashSize - 1: 0xcd}
	for flags, want := range map[uint32]Code{
		0x2200_0001 | 0x0001_0000: {Valid: true, Hardened: true},
		0x2200_0001:               {Valid: true},
		0x0001_0000:               {Hardened: true},
		0x3200_0001 | 0x0001_0000: {Valid: true, Hardened: true, Debugged: true},
	} {
		want.Hash = "ab" + strings.Repeat("00", hashSize-2) + "cd"
		if got := ofCode(flags, hash); got != want {
			t.Errorf("%#x: %+v, want %+v", flags, got, want)
		}
	}
}
