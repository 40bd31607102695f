package command

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of the look into an archive or a patch, before any library sees it.
const (
	maxArchive  = 32 << 20 // bytes of the file
	maxUnpacked = 64 << 20 // bytes that come out of it
	maxSlow     = 8 << 20  // the same where that is slow
	maxPatch    = 4 << 20
)

var (
	errUnseen  = errors.New("cannot be looked at")
	errLeads   = errors.New("holds or meets links, or names that programs read in several ways")
	errNames   = errors.New("holds more names than are looked at")
	errRenames = errors.New("is there already, and takes other names for it from its input: with -o or -n it does not")
)

// archived returns the names that an archive holds, as every program reads it that
// unpacks such archives, and how many bytes came out of it.
func archived(data []byte) (names []string, out int64, err error) {
	var r io.Reader = bytes.NewReader(data)
	limit, plain := int64(maxUnpacked), len(data) >= tarBlock && tarSum(data[:tarBlock])
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")) && !plain:
		names, err = zipped(data)
		return names, 0, err
	case bytes.HasPrefix(data, []byte("\x1f\x8b")) && !plain:
		if r, err = gzip.NewReader(r); err != nil {
			return nil, 0, errUnseen
		}
	case bytes.HasPrefix(data, []byte("BZh")) && !plain:
		r, limit = bzip2.NewReader(r), maxSlow
	}
	whole := &io.LimitedReader{R: r, N: limit}
	if names, err = tarred(whole); err == nil && whole.N <= 0 {
		err = errUnseen
	}
	return names, limit - whole.N, err
}

// ordinary reports whether a name means the same to every program: no way out, no
// letters that some leave out, no part that some count and others do not.
func ordinary(name string) bool {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) || strings.Contains(name, `\`) || len(name) > maxPath || strings.Count(name, "/") > maxNesting || strings.HasPrefix(name, "begin ") {
		return false
	}
	if name == "./" {
		return true
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/"), "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// leads reports whether a name may lead out of the folder that it is for.
func leads(name string) bool {
	return strings.HasPrefix(name, "/") || name == ".." || strings.HasPrefix(name, "../") || strings.Contains(name, "/../") || strings.HasSuffix(name, "/..") || strings.Contains(name, "\x00")
}

// stripped returns what may be left of a name without its first parts, of which a
// dot is one or not. A name that has no more of them is left out.
func stripped(name string, parts int) (names []string) {
	for _, name := range []string{name, strings.TrimPrefix(name, "./")} {
		more := true
		for i := 0; i < parts && more; i++ {
			_, name, more = strings.Cut(name, "/")
		}
		if more && path.Clean(name) != "." {
			names = append(names, name)
		}
	}
	return names
}
