package command

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Bounds of the look into an archive or a patch, before any library sees it.
const (
	maxArchive  = 32 << 20 // bytes of the file
	maxUnpacked = 64 << 20 // bytes that come out of it
	maxSlow     = 8 << 20  // the same where that is slow
	maxPatch    = 4 << 20
)

var (
	errUnseen = errors.New("cannot be looked at")
	errLeads  = errors.New("holds names that lead out of its folder, or links")
	errNames  = errors.New("holds more names than are looked at")
)

// archived returns the names that an archive holds.
func archived(data []byte) (names []string, err error) {
	if bytes.HasPrefix(data, []byte("PK")) {
		return zipped(data)
	}
	var r io.Reader = bytes.NewReader(data)
	limit := int64(maxUnpacked)
	switch {
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		if r, err = gzip.NewReader(r); err != nil {
			return nil, errUnseen
		}
	case bytes.HasPrefix(data, []byte("BZh")):
		r, limit = bzip2.NewReader(r), maxSlow
	case len(data) < 512 || !bytes.Contains(data[:512], []byte("ustar")):
		return nil, errUnseen
	}
	whole := &io.LimitedReader{R: r, N: limit}
	t := tar.NewReader(whole)
	for {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF) && whole.N > 0:
			return names, nil
		case err != nil:
			return nil, errUnseen
		case leads(h.Name) || h.Linkname != "":
			return nil, errLeads
		case len(names) == maxWalked:
			return nil, errNames
		}
		names = append(names, h.Name)
	}
}

// unicodePath marks another name of a file in a zip, which some programs take.
const unicodePath = "\x75\x70"

func zipped(data []byte) (names []string, err error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, errUnseen
	}
	if len(r.File) > maxWalked {
		return nil, errNames
	}
	for _, f := range r.File {
		if leads(f.Name) || strings.Contains(f.Name, `\`) || f.Mode()&fs.ModeSymlink != 0 || strings.Contains(string(f.Extra), unicodePath) || !bytes.Contains(data, []byte("PK\x03\x04")) {
			return nil, errLeads
		}
		names = append(names, f.Name)
	}
	return names, nil
}

// leads reports whether a name may lead out of the folder that it is for.
func leads(name string) bool {
	return strings.HasPrefix(name, "/") || name == ".." || strings.HasPrefix(name, "../") || strings.Contains(name, "/../") || strings.HasSuffix(name, "/..") || strings.Contains(name, "\x00")
}

// patched returns the names of the files that a patch writes, moves or removes,
// as they stand in it.
func patched(text []byte) (names []string, err error) {
	for line := range bytes.Lines(text) {
		said := strings.TrimRight(string(line), "\r\n")
		name, is := "", false
		for _, begin := range []string{"+++ ", "--- ", "rename to ", "rename from ", "copy to ", "Index: ", "*** "} {
			if name, is = strings.CutPrefix(said, begin); is {
				break
			}
		}
		if rest, git := strings.CutPrefix(said, "diff --git "); git {
			for _, name := range strings.Fields(rest) { // one with blanks stands in other lines, too
				names = append(names, strings.Trim(name, `"`))
			}
			continue
		}
		if !is {
			continue
		}
		if name, _, _ = strings.Cut(name, "\t"); strings.HasPrefix(name, `"`) {
			if name, err = strconv.Unquote(name); err != nil {
				return nil, errUnseen
			}
		}
		if names = append(names, name); len(names) > maxWalked {
			return nil, errNames
		}
	}
	return names, nil
}

// stripped returns what a name becomes without its first parts; "" for one that
// has no more.
func stripped(name string, parts int) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	for range parts {
		_, rest, ok := strings.Cut(name, "/")
		if !ok {
			return ""
		}
		name = rest
	}
	return name
}
