package trail

import (
	"encoding/binary"
	"testing"
)

// TestFullPath reads answers of getattrlist; those that lie are no path.
func TestFullPath(t *testing.T) {
	answer := func(whole, offset, size uint32, text string) []byte {
		b := make([]byte, 0, 12+len(text))
		for _, w := range []uint32{whole, offset, size} {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		return append(b, text...)
	}
	for _, row := range []struct {
		name   string
		answer []byte
		want   string
	}{
		{"a path", answer(22, 8, 10, "/Users/da\x00"), "/Users/da"},
		{"room behind it", answer(22, 8, 10, "/Users/da\x00\x00\x00\x00"), "/Users/da"},
		{"the root", answer(14, 8, 2, "/\x00"), "/"},
		{"decomposed letters", answer(17, 8, 5, "/e\xcc\x81\x00"), "/e\xcc\x81"},
		{"cut", answer(22, 8, 10, "/Users"), ""},
		{"longer than it says", answer(15, 8, 10, "/Users/da\x00"), ""},
		{"before its begin", answer(22, 0, 10, "/Users/da\x00"), ""},
		{"far before its begin", answer(22, 0xffff_fff0, 10, "/Users/da\x00"), ""},
		{"huge", answer(22, 8, 0xffff_ffff, "/Users/da\x00"), ""},
		{"no zero", answer(21, 8, 9, "/Users/da"), ""},
		{"a zero inside", answer(22, 8, 10, "/Us\x00rs/da\x00"), ""},
		{"relative", answer(17, 8, 5, "User\x00"), ""},
		{"empty", answer(13, 8, 1, "\x00"), ""},
		{"nothing", nil, ""},
	} {
		got, err := fullPath(row.answer)
		if got != row.want || (err == nil) != (row.want != "") {
			t.Errorf("%s: %q, %v, want %q", row.name, got, err, row.want)
		}
	}
}

// Apple's tools for developers are one file with many names.
func TestOneOfSeveral(t *testing.T) {
	for _, row := range []struct{ told, folder, base, want string }{
		{"/usr/bin/git", "/usr/bin", "git", "/usr/bin/git"},
		{"/usr/bin/git", "/usr/bin", "GIT", "/usr/bin/git"},
		{"/usr/bin/clang", "/usr/bin", "git", "/usr/bin/git"},
		{"/usr/bin/clang", "/usr/bin", "GIT", "/usr/bin/GIT"},
		{"/opt/bin/git", "/usr/bin", "GIT", "/usr/bin/GIT"},
		{"/bar/x", "/", "x", "/x"},
	} {
		if got := oneOfSeveral(row.told, row.folder, row.base); got != row.want {
			t.Errorf("%s, which is %s in %s: %s", row.told, row.base, row.folder, got)
		}
	}
}
