package preview

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/gitindex"
)

// Files are compared by what they hold if git's notes do not tell; so much of
// them is read for that, of one and of all.
const (
	maxHashed    = 1 << 20
	maxAllHashed = 8 << 20
	maxPointer   = 4096 // bytes of a .git file
)

// ask tells by the index of a repository what git knows of the files of all
// targets in it. Of an index that cannot be read to its end nothing is told.
func (v *visit) ask(root string, items map[string][]item) {
	data, written, err := indexOf(root)
	differs, entries := map[string]bool{}, 0
	if err == nil && data != nil {
		err = gitindex.Read(data, func(name []byte, e *gitindex.Entry) bool {
			if list, ok := items[string(name)]; ok {
				differs[string(name)] = differs[string(name)] || v.differs(list[0], e, written)
			}
			entries++
			return entries%1024 != 0 || !v.late()
		})
	}
	switch {
	case errors.Is(err, gitindex.ErrMany) && !v.over():
		v.gaveUp = GaveUpMany
		return
	case err != nil:
		v.fail()
		return
	case v.late():
		return
	}
	for name, list := range items {
		changed, known := differs[name]
		for _, it := range list {
			it.target.InRepo = true
			switch {
			case !known:
				it.target.Unknown++
			case changed:
				it.target.Changed++
			}
		}
	}
}

// indexOf reads the index of the repository in a folder, and says when it was
// written. There is none before the first file is added.
func indexOf(root string) (data []byte, written time.Time, err error) {
	dir := filepath.Join(root, ".git")
	info, err := os.Lstat(dir)
	if err == nil && info.Mode().IsRegular() { // of a worktree or a submodule: it says where
		if dir, err = pointer(root, dir); err == nil {
			info, err = os.Lstat(dir)
		}
	}
	if err == nil && !info.IsDir() {
		err = gitindex.ErrIndex
	}
	if err != nil {
		return nil, written, err
	}
	data, written, err = read(filepath.Join(dir, "index"), gitindex.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, written, nil
	}
	return data, written, err
}

// pointer reads the file that says where a repository is.
func pointer(root, name string) (dir string, err error) {
	text, _, err := read(name, maxPointer)
	if err != nil {
		return "", err
	}
	dir, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if !ok || dir == "" || strings.ContainsAny(dir, "\x00\n") {
		return "", gitindex.ErrIndex
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	return dir, nil
}

// read returns what a regular file of at most so many bytes holds.
func read(name string, most int64) (data []byte, written time.Time, err error) {
	if info, err := os.Lstat(name); err != nil {
		return nil, written, err
	} else if !info.Mode().IsRegular() {
		return nil, written, gitindex.ErrIndex
	}
	f, err := openFile(name)
	if err != nil {
		return nil, written, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, written, err
	case !info.Mode().IsRegular():
		return nil, written, gitindex.ErrIndex
	case info.Size() > most:
		return nil, written, gitindex.ErrMany
	}
	data, err = io.ReadAll(io.LimitReader(f, most))
	return data, info.ModTime(), err
}

// differs reports whether a file may hold something else than git noted. written
// is when the index was: a file that was changed at that time or later may have
// been changed after it was noted (git's racy-git).
func (v *visit) differs(it item, e *gitindex.Entry, written time.Time) bool {
	regular, link := it.info.Mode().IsRegular(), it.info.Mode()&fs.ModeSymlink != 0
	if e.Stage != 0 || e.IntentToAdd || regular != (e.Mode&gitindex.TypeMask == gitindex.TypeFile) || link != (e.Mode&gitindex.TypeMask == gitindex.TypeLink) {
		return true
	}
	size := it.info.Size()
	if uint32(size) != e.Size && e.Size != 0 { // git writes 0 for what it was not sure of
		return true
	}
	changed := it.info.ModTime()
	noted := time.Unix(int64(e.Sec), int64(e.NSec))
	if e.NSec == 0 {
		changed, written = changed.Truncate(time.Second), written.Truncate(time.Second)
	}
	if uint32(size) == e.Size && changed.Equal(noted) && noted.Before(written) {
		return false
	}
	return !v.holds(it, e.Hash)
}

// holds reports whether a file surely holds what has this hash in git.
func (v *visit) holds(it item, want []byte) bool {
	size := it.info.Size()
	if v.hashed += size; size > maxHashed || v.hashed > maxAllHashed || v.late() {
		return false
	}
	var text []byte
	if it.info.Mode().IsRegular() {
		data, _, err := read(it.path, size)
		if err != nil || int64(len(data)) != size {
			return false
		}
		text = data
	} else {
		to, err := os.Readlink(it.path)
		if err != nil {
			return false
		}
		text = []byte(filepath.ToSlash(to))
	}
	var h hash.Hash = sha1.New()
	if len(want) == sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(text))
	h.Write(text)
	return bytes.Equal(h.Sum(nil), want)
}
