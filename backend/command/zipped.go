package command

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// Programs find the list of a zip in different ways, take a name from the list or
// from before the file itself, and know links by what system the archive says it
// is from. So a zip is read here only where all of that tells the same.

const (
	zipEnd   = 22 // bytes of the record at the end
	zipEntry = 46 // bytes of an entry of the list, without its texts
	zipLocal = 30 // the same before a file
)

// zipped returns the names in a zip. Those of folders end with a slash.
func zipped(data []byte) (names []string, err error) {
	list, count, ok := zipList(data)
	if !ok {
		return nil, errUnseen
	}
	first := false
	for len(list) > 0 {
		if len(list) < zipEntry || string(list[:4]) != "PK\x01\x02" {
			return nil, errUnseen
		}
		n, m, k := le16(list[28:]), le16(list[30:]), le16(list[32:])
		end := zipEntry + n + m + k
		if end > len(list) {
			return nil, errUnseen
		}
		e, name, extra := list[:zipEntry], string(list[zipEntry:zipEntry+n]), list[zipEntry+n:zipEntry+n+m]
		at := le32(e[42:])
		local, ok := zipBefore(data, at)
		switch {
		case !ok || local.name != name || local.flags != le16(e[8:]) || local.method != le16(e[10:]):
			return nil, errUnseen
		case !plainZip(e, name) || !plainExtra(extra) || !plainExtra(local.extra):
			return nil, errLeads
		case len(names) == maxWalked:
			return nil, errNames
		}
		first = first || at == 0
		names, list = append(names, name), list[end:]
	}
	if len(names) != count || !first {
		return nil, errUnseen
	}
	return names, nil
}

// zipList returns the list of a zip, and how many entries that says it has. It must
// end where the one record at the end of the file begins.
func zipList(data []byte) (list []byte, count int, ok bool) {
	at := bytes.LastIndex(data, []byte("PK\x05\x06"))
	if at < 0 || at+zipEnd > len(data) {
		return nil, 0, false
	}
	end, comment := data[at:at+zipEnd], data[at+zipEnd:]
	if le16(end[20:]) != len(comment) || !zipComment().Match(comment) || le32(end[4:]) != 0 || le16(end[8:]) != le16(end[10:]) {
		return nil, 0, false
	}
	size, from := le32(end[12:]), le32(end[16:])
	if from > at || size != at-from {
		return nil, 0, false
	}
	return data[from:at], le16(end[10:]), true
}

// zipComment are comments that hide nothing: the commit that a host of code names.
var zipComment = expression(`^[0-9a-f]{0,64}$`)

// localHead is what stands before a file in a zip.
type localHead struct {
	name          string
	flags, method int
	extra         []byte
}

func zipBefore(data []byte, at int) (h localHead, ok bool) {
	if at < 0 || at > len(data)-zipLocal || string(data[at:at+4]) != "PK\x03\x04" {
		return h, false
	}
	b := data[at:]
	n, m := le16(b[26:]), le16(b[28:])
	if zipLocal+n+m > len(b) {
		return h, false
	}
	return localHead{string(b[zipLocal : zipLocal+n]), le16(b[6:]), le16(b[8:]), b[zipLocal+n : zipLocal+n+m]}, true
}

// Signs of an entry.
const (
	zipMasked = 1 << 13 // its name is hidden
	zipUTF8   = 1 << 11
)

// plainZip reports whether an entry is a file or a folder with an ordinary name,
// on every system.
func plainZip(e []byte, name string) bool {
	flags, system, mode := le16(e[8:]), e[5], le16(e[40:])
	switch system {
	case 3, 19: // Unix, macOS
	case 0, 10, 11, 14: // those of DOS and Windows, whose letters are others
		if !ascii(name) && flags&zipUTF8 == 0 {
			return false
		}
	default:
		return false
	}
	if file := (approval.File{Mode: uint32(mode)}); mode&^0o7777 != 0 && !file.IsRegular() && !file.IsFolder() {
		return false
	}
	return flags&zipMasked == 0 && ordinary(name) && !versioned().MatchString(strings.TrimSuffix(name, "/"))
}

// versioned are names that end with a version, which is left out.
var versioned = expression(`;[0-9]*$`)

// plainExtra reports whether what is said of a file besides is known to change
// neither its name nor what it is: times, owners, sizes, letters of the comment,
// places in memory.
func plainExtra(b []byte) bool {
	for len(b) >= 4 {
		switch le16(b) {
		case 0x0001, 0x000a, 0x5455, 0x5855, 0x7855, 0x7875, 0x6375, 0x9901, 0xcafe, 0xa11e, 0xd935:
		default:
			return false
		}
		n := 4 + le16(b[2:])
		if n > len(b) {
			return false
		}
		b = b[n:]
	}
	return len(b) == 0
}

func le16(b []byte) int { return int(binary.LittleEndian.Uint16(b)) }
func le32(b []byte) int { return int(binary.LittleEndian.Uint32(b)) }
