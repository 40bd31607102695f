package trail

import (
	"encoding/binary"
	"errors"
	"path"
	"strings"
)

// fullPath reads the answer of macOS to a question for the full path of a file
// (ATTR_CMN_FULLPATH of getattrlist): how long the answer is, how far behind the
// next word the text begins, how long that is, and the text with a zero at its
// end.
func fullPath(answer []byte) (string, error) {
	const head = 12 // three words
	if len(answer) < head {
		return "", errNoPath
	}
	word := func(at int) int64 { return int64(binary.LittleEndian.Uint32(answer[at:])) }
	whole, from, size := word(0), 4+int64(int32(word(4))), word(8)
	if whole > int64(len(answer)) || from < head || size < 2 || from+size > whole {
		return "", errNoPath
	}
	text := string(answer[from : from+size])
	if name, zero := text[:size-1], text[size-1]; zero == 0 && name[0] == '/' && !strings.Contains(name, "\x00") {
		return name, nil
	}
	return "", errNoPath
}

var errNoPath = errors.New("macOS does not tell where the file really is")

// oneOfSeveral is the path of a file with several names that was reached by
// base in a folder, where the kernel told another path for it.
func oneOfSeveral(told, folder, base string) string {
	if path.Dir(told) == folder && strings.EqualFold(path.Base(told), base) {
		return told
	}
	return path.Join(folder, base)
}
