package command

import (
	"bytes"
	"io"
	"strconv"
	"strings"
)

// GNU tar, bsdtar and others read the same bytes as different names: which of two
// extended headers counts, where an archive ends, what a field holds that is not
// used. So nothing is read here but what all of them read alike: plain files and
// folders with at most one extended header each, and zeros behind the last one.

const (
	tarBlock  = 512
	maxTarExt = 64 << 10 // bytes of an extended header
)

// tarred returns the names in a tar. Those of folders end with a slash.
func tarred(r io.Reader) (names []string, err error) {
	head, long := make([]byte, tarBlock), ""
	for {
		n, err := io.ReadFull(r, head)
		switch {
		case n == 0 && err == io.EOF && long == "":
			return names, nil
		case err != nil:
			return nil, errUnseen
		case zeros(head):
			if long != "" || !onlyZeros(r) {
				return nil, errUnseen
			}
			return names, nil
		}
		h, ok := readTarHead(head)
		if !ok {
			return nil, errUnseen
		}
		if h.kind == 'L' || h.kind == 'x' || h.kind == 'g' {
			if long, ok = h.extension(r, long); !ok {
				return nil, errUnseen
			}
			continue
		}
		if long != "" {
			h.name, long = long, ""
		}
		if folder := strings.HasSuffix(h.name, "/"); h.kind == '5' || folder {
			h.name = strings.TrimSuffix(h.name, "/") + "/"
			if h.size != 0 {
				return nil, errUnseen
			}
		}
		switch {
		case h.links || strings.IndexByte("05\x00", h.kind) < 0 || !ordinary(h.name):
			return nil, errLeads
		case len(names) == maxWalked:
			return nil, errNames
		}
		names = append(names, h.name)
		if !h.skip(r) {
			return nil, errUnseen
		}
	}
}

// tarHead is what one header of a tar says.
type tarHead struct {
	name  string
	kind  byte
	size  int64
	links bool // it names the target of a link
}

func readTarHead(b []byte) (h tarHead, ok bool) {
	if !tarSum(b) {
		return h, false
	}
	h.name, h.kind, h.links = upToNUL(b[:100]), b[156], !zeros(b[157:257])
	h.size, ok = octal(b[124:136])
	switch string(b[257:265]) {
	case "ustar\x0000":
		if prefix := upToNUL(b[345:500]); prefix != "" {
			h.name = prefix + "/" + h.name
		}
		return h, ok && zeros(b[500:])
	case "ustar  \x00": // GNU's: what stands in the place of the prefix is something else
		return h, ok && zeros(b[345:])
	}
	return h, false
}

// tarSum reports whether some tar takes a block for a header, by its sum.
func tarSum(b []byte) bool {
	var want, plain, signed int
	for i, c := range b {
		if i >= 148 && i < 156 {
			c = ' '
		}
		plain, signed = plain+int(c), signed+int(int8(c))
	}
	switch field := b[148:156]; field[0] {
	case 0x80:
		for _, c := range field[1:] {
			want = want<<8 | int(c)
		}
	case '+', '-':
		for _, c := range field[1:] {
			want = want<<6 | max(0, strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", c))
		}
	default:
		for _, c := range bytes.TrimLeft(field, " \x00") {
			if c < '0' || c > '7' {
				break
			}
			want = want<<3 | int(c-'0')
		}
	}
	return want == plain || want == signed
}

// skip passes over what a file holds.
func (h tarHead) skip(r io.Reader) bool {
	size := (h.size + tarBlock - 1) / tarBlock * tarBlock
	_, err := io.CopyN(io.Discard, r, size)
	return err == nil
}

// extension reads an extended header: the name that it gives what follows, "" for
// none. Two before one file ask.
func (h tarHead) extension(r io.Reader, before string) (name string, ok bool) {
	if h.size == 0 || h.size > maxTarExt || before != "" {
		return "", false
	}
	text := make([]byte, (h.size+tarBlock-1)/tarBlock*tarBlock)
	if _, err := io.ReadFull(r, text); err != nil {
		return "", false
	}
	text = text[:h.size]
	if h.kind == 'L' {
		name = string(bytes.TrimRight(text, "\x00"))
		return name, name != ""
	}
	seen := map[string]bool{}
	for len(text) > 0 {
		digits, _, found := bytes.Cut(text, []byte(" "))
		n, err := strconv.Atoi(string(digits))
		if !found || err != nil || n > len(text) || n < len(digits)+4 || text[n-1] != '\n' || digits[0] < '1' || digits[0] > '9' {
			return "", false
		}
		key, value, found := strings.Cut(string(text[len(digits)+1:n-1]), "=")
		if !found || seen[key] || !plainPax(key) || h.kind == 'g' && key != "comment" {
			return "", false
		}
		if seen[key] = true; key == "path" {
			if name = value; name == "" {
				return "", false
			}
		}
		text = text[n:]
	}
	return name, true
}

// plainPax reports whether a key of an extended header changes nothing but times,
// owners, what a file is called, and what systems know of it besides.
func plainPax(key string) bool {
	switch key {
	case "path", "comment", "mtime", "atime", "ctime", "uid", "gid", "uname", "gname", "LIBARCHIVE.creationtime",
		"SCHILY.dev", "SCHILY.ino", "SCHILY.nlink", "SCHILY.fflags", "RHT.security.selinux":
		return true
	}
	for _, begin := range []string{"SCHILY.xattr.", "LIBARCHIVE.xattr.", "NODETAR."} {
		if strings.HasPrefix(key, begin) {
			return true
		}
	}
	return false
}

// octal reads a number as every tar writes it, if it is not too large for that.
func octal(field []byte) (n int64, ok bool) {
	digits := strings.TrimRight(strings.TrimLeft(string(field), " "), " \x00")
	n, err := strconv.ParseInt(digits, 8, 64)
	return n, err == nil && n >= 0 && digits[0] != '+'
}

func upToNUL(field []byte) string {
	before, _, _ := bytes.Cut(field, []byte{0})
	return string(before)
}

func zeros(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// onlyZeros reads to the end.
func onlyZeros(r io.Reader) bool {
	b := make([]byte, 16<<10)
	for {
		n, err := r.Read(b)
		if !zeros(b[:n]) {
			return false
		}
		if err != nil {
			return err == io.EOF
		}
	}
}
