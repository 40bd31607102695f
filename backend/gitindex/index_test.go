package gitindex

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
)

// made writes an index as git would: the version, the size of its hashes, the
// names, and what follows them.
func made(version uint32, hash int, tail string, names ...string) []byte {
	b := append([]byte("DIRC"), binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, version), uint32(len(names)))...)
	before := ""
	for i, name := range names {
		start := len(b)
		fields := []uint32{0, 0, 1000 + uint32(i), 7, 0, 0, TypeFile | 0o644, 0, 0, uint32(len(name))}
		for _, f := range fields {
			b = binary.BigEndian.AppendUint32(b, f)
		}
		b = append(b, bytes.Repeat([]byte{0xab}, hash)...)
		b = binary.BigEndian.AppendUint16(b, uint16(min(len(name), 0xfff)))
		if version == 4 {
			same := 0
			for same < len(before) && same < len(name) && before[same] == name[same] {
				same++
			}
			b = append(append(append(b, offset(len(before)-same)...), name[same:]...), 0)
		} else {
			b = append(b, name...)
			b = append(b, make([]byte, 8-(len(b)-start)%8)...)
		}
		before = name
	}
	return append(append(b, tail...), bytes.Repeat([]byte{0xcd}, hash)...)
}

// offset writes a number as version 4 does.
func offset(n int) []byte {
	b := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		b = append([]byte{byte(n&0x7f) | 0x80}, b...)
	}
	return b
}

func names(data []byte) (list []string, err error) {
	err = Read(data, func(name []byte, e *Entry) bool {
		list = append(list, string(name))
		return true
	})
	return list, err
}

func TestIndex(t *testing.T) {
	long := string(bytes.Repeat([]byte("x"), 4000))
	tree := "TREE\x00\x00\x00\x02ab"
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":             {made(2, 20, ""), "[] <nil>"},
		"one":                 {made(2, 20, "", "a"), "[a] <nil>"},
		"version 3":           {made(3, 20, tree, "a", "b/c"), "[a b/c] <nil>"},
		"version 4":           {made(4, 20, tree, "a/b", "a/bc", "d", "dd"), "[a/b a/bc d dd] <nil>"},
		"longer hashes":       {made(2, 32, tree, "a", "b"), "[a b] <nil>"},
		"longer, version 4":   {made(4, 32, tree, "a", "b"), "[a b] <nil>"},
		"a long name":         {made(4, 20, "", long, "y"), "[" + long + " y] <nil>"},
		"no index":            {[]byte("hello"), "[] " + ErrIndex.Error()},
		"version 1":           {made(1, 20, ""), "[] " + ErrIndex.Error()},
		"version 5":           {made(5, 20, ""), "[] " + ErrIndex.Error()},
		"too long a name":     {made(2, 20, "", long+long), "[] " + ErrIndex.Error()},
		"no name":             {made(2, 20, "", ""), "[] " + ErrIndex.Error()},
		"not in order":        {made(2, 20, "", "b", "a"), "[] " + ErrIndex.Error()},
		"a part of another":   {made(2, 20, "link\x00\x00\x00\x00", "a"), "[] " + ErrIndex.Error()},
		"folders for files":   {made(2, 20, "sdir\x00\x00\x00\x00", "a"), "[] " + ErrIndex.Error()},
		"an extension's lie":  {made(2, 20, "TREE\xff\xff\xff\xff", "a"), "[] " + ErrIndex.Error()},
		"half of it":          {made(2, 20, "", "a", "b")[:100], "[] " + ErrIndex.Error()},
		"more than there are": {append([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\xff"), make([]byte, 200)...), "[] " + ErrIndex.Error()},
		"more than we read":   {append([]byte("DIRC\x00\x00\x00\x02\xff\xff\xff\xff"), make([]byte, 200)...), "[] " + ErrMany.Error()},
	} {
		got, err := names(test.data)
		if said := fmt.Sprint(got, " ", err); said != test.want {
			t.Errorf("%s: %.200s, want %.200s", name, said, test.want)
		}
	}
}

// FuzzIndex reads anything: it ends, stays inside, and tells only names that
// could be of files.
func FuzzIndex(f *testing.F) {
	for _, version := range []uint32{2, 3, 4} {
		for _, hash := range []int{20, 32} {
			f.Add(made(version, hash, "TREE\x00\x00\x00\x02ab", "a", "a/b", "a/bc", "d"))
			f.Add(made(version, hash, "link\x00\x00\x00\x00", "a"))
		}
	}
	f.Add([]byte("DIRC"))
	f.Fuzz(func(t *testing.T, data []byte) {
		seen := 0
		err := Read(data, func(name []byte, e *Entry) bool {
			seen++
			if len(name) == 0 || len(name) > maxName || bytes.IndexByte(name, 0) >= 0 || len(e.Hash) != 20 && len(e.Hash) != 32 {
				t.Fatalf("%q %+v", name, e)
			}
			return true
		})
		if seen > len(data) || err != nil && seen > 0 || err != nil && !errors.Is(err, ErrIndex) && !errors.Is(err, ErrMany) {
			t.Fatalf("%d entries of %d bytes: %v", seen, len(data), err)
		}
	})
}

// An index as large as is read at all.
func BenchmarkIndex(b *testing.B) {
	var list []string
	for i := range 150_000 {
		list = append(list, fmt.Sprintf("packages/p%03d/src/file-%06d.go", i/1000, i))
	}
	data := made(2, 20, "", list...)
	b.SetBytes(int64(len(data)))
	wanted := map[string]bool{list[7]: true}
	for b.Loop() {
		found := 0
		if err := Read(data, func(name []byte, _ *Entry) bool {
			if wanted[string(name)] {
				found++
			}
			return true
		}); err != nil || found != 1 {
			b.Fatal(found, err)
		}
	}
}
