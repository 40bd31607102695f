package proc

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// TestKinfo reads processes as the kernel of macOS tells of them.
func TestKinfo(t *testing.T) {
	for _, row := range []struct {
		name                 string
		seconds, micros      uint64
		stat                 byte
		pid, parent, group   int32
		ended                bool
		user, device, front  int32
		terminal, foreground int
	}{
		{"launchd", 1_770_000_000, 0, 2, 1, 0, 1, false, 0, -1, 0, 0, 0},
		{"a shell that runs", 1_770_000_100, 999_999, 2, 501, 500, 501, false, 502, 0x10000004, 501, 0x10000004, 501},
		{"one that has ended", 1_770_000_200, 7, zombie, 99_998, 501, 99_000, true, 502, 0x10000004, -1, 0x10000004, 0},
	} {
		b := make([]byte, kinfoSize)
		binary.LittleEndian.PutUint64(b[kinfoSeconds:], row.seconds)
		binary.LittleEndian.PutUint64(b[kinfoMicros:], row.micros)
		b[kinfoStat] = row.stat
		for at, word := range map[int]int32{kinfoPID: row.pid, kinfoParent: row.parent, kinfoGroup: row.group, kinfoUser: row.user, kinfoDevice: row.device, kinfoFront: row.front} {
			binary.LittleEndian.PutUint32(b[at:], uint32(word))
		}
		want := Info{PID: int(row.pid), Parent: int(row.parent), Group: int(row.group), UID: int(row.user), Terminal: row.terminal, Foreground: row.foreground, Started: row.seconds*1_000_000 + row.micros, Zombie: row.ended}
		if got := ofKinfo(b); got != want {
			t.Errorf("%s: %+v, want %+v", row.name, got, want)
		}
	}
}

// TestArguments finds the environment behind the arguments, and none where the
// kernel keeps it back or the process wrote nonsense over it.
func TestArguments(t *testing.T) {
	count := func(n int32) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
	for _, row := range []struct {
		name, block, want string
		argv              []string
	}{
		{"both", count(2) + "/bin/zsh\x00\x00\x00\x00zsh\x00-l\x00HOME=/Users/dana\x00MARK=1\x00", "HOME=/Users/dana\x00MARK=1\x00", []string{"zsh", "-l"}},
		{"an empty argument", count(3) + "/bin/zsh\x00\x00zsh\x00\x00x\x00MARK=1\x00", "MARK=1\x00", []string{"zsh", "", "x"}},
		{"kept back", count(2) + "/bin/sleep\x00\x00sleep\x00600\x00", "", []string{"sleep", "600"}},
		{"no arguments", count(0) + "/bin/sleep\x00\x00MARK=1\x00", "MARK=1\x00", nil},
		{"fewer than it says", count(9) + "/bin/zsh\x00zsh\x00", "", []string{"zsh"}},
		{"more than there can be", count(-1) + "/bin/zsh\x00zsh\x00MARK=1\x00", "zsh\x00MARK=1\x00", nil},
		{"the path alone", count(1) + "/bin/zsh", "", []string{""}},
		{"the number alone", count(1), "", []string{""}},
	} {
		argv, got, err := ofArguments([]byte(row.block))
		if err != nil || string(got) != row.want || !slices.Equal(argv, row.argv) {
			t.Errorf("%s: %q, %q, %v, want %q, %q", row.name, argv, got, err, row.argv, row.want)
		}
	}
	for _, short := range []string{"", "\x01", "\x01\x00\x00"} {
		if _, _, err := ofArguments([]byte(short)); err == nil {
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

// TestVnode reads what descriptor 0 of a process leads to.
func TestVnode(t *testing.T) {
	for name, row := range map[string]struct {
		mode   uint16
		device uint32
		want   int
	}{
		"a terminal":      {0o020620, 0x1000_0004, 0x1000_0004},
		"a file":          {0o100644, 0, 0},
		"a disk":          {0o060640, 0x0100_0004, 0},
		"a folder, large": {0o040755, 0xffff_ffff, 0},
	} {
		b := make([]byte, vnodeSize)
		binary.LittleEndian.PutUint16(b[vnodeMode:], row.mode)
		binary.LittleEndian.PutUint32(b[vnodeDevice:], row.device)
		if got := ofVnode(b); got != row.want {
			t.Errorf("%s: %#x, want %#x", name, got, row.want)
		}
	}
}

// TestSockets reads which files of a process are sockets, and the addresses of one.
func TestSockets(t *testing.T) {
	var files []byte
	for _, f := range [][2]uint32{{0, 1}, {7, isSocket}, {9, isSocket}} {
		files = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(files, f[0]), f[1])
	}
	if got := socketsOf(append(files, 1, 2, 3)); !slices.Equal(got, []int{7, 9}) {
		t.Error(got)
	}
	b := make([]byte, socketSize)
	b[socketKind], b[socketVersion] = isTCP, isIPv4
	copy(b[socketTheirs:], []byte{0x1f, 0x90})
	copy(b[socketOurs:], []byte{0xc0, 0x01})
	copy(b[socketFrom+12:], []byte{127, 0, 0, 1})
	copy(b[socketTo+12:], []byte{127, 0, 0, 2})
	if ours, theirs := ofSocket(b); ours.String() != "127.0.0.1:49153" || theirs.String() != "127.0.0.2:8080" {
		t.Error(ours, theirs)
	}
	b[socketVersion] = 2
	copy(b[socketFrom:], []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1})
	copy(b[socketTo:], []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})
	if ours, theirs := ofSocket(b); ours.String() != "127.0.0.1:49153" || theirs.String() != "[::1]:8080" {
		t.Error(ours, theirs)
	}
	b[socketKind] = 1
	if ours, _ := ofSocket(b); ours.IsValid() {
		t.Error("a socket of another kind")
	}
}
