//go:build linux || darwin

package runner

import (
	"errors"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pathname"
)

// toFile opens the file that a redirection writes. Nothing is opened, made or cut
// short but what was judged. Commands that follow are judged anew.
func (sh *shell) toFile(r approval.Redirect, stderr int) (int, *startError) {
	if r.Word != nil {
		name, e, ok := sh.target(r.Word, stderr)
		if !ok {
			return 0, &startError{status: e.status()}
		}
		r.File = &approval.File{Path: name}
	}
	wrote := sh.wrote.Swap(true)
	sh.opening.Lock()
	defer sh.opening.Unlock()
	fd, err := sh.open(r, wrote)
	refused := (*startError)(nil)
	switch {
	case err == nil:
		return fd, nil
	case errors.As(err, &refused):
		return 0, refused
	case errors.Is(err, errOther):
		err = drifted("%q is not as it was judged any more, or its folder is not", r.File.Path)
	}
	d := (*Denied)(nil)
	if !errors.As(refusal(err), &d) {
		d = drifted("%v", err)
	}
	sh.deny(Outer, d)
	return 0, &startError{126, r.File.Path + ": it was not opened"}
}

// target is the name of a file that only the run can tell. What stands without quotes
// is taken for one word by some shells and not by others.
func (sh *shell) target(word approval.Word, stderr int) (name string, e ending, ok bool) {
	whole, quoted := slices.Clone(word), true
	for i := range whole {
		if whole[i].Kind == approval.PartVar {
			quoted = quoted && whole[i].Quoted
			whole[i].Quoted = true
		}
	}
	if name, e, ok = sh.one(whole, stderr); !ok {
		return "", e, false
	}
	if !quoted && (strings.ContainsAny(name, " \t\n") || pathname.Special(name)) || name == "" {
		sh.deny(Outer, denied(approval.ReasonRuntimeValue, "which file %q is, shells do not agree on", name))
		return "", ending{code: 1}, false
	}
	return name, ending{}, true
}

// open judges and opens the file of a redirection, which may be another one by now if
// the run wrote something before.
func (sh *shell) open(r approval.Redirect, wrote bool) (int, error) {
	if sh.job.Check != nil {
		if err := sh.job.Check(Outer, nil); err != nil {
			return -1, err
		}
	}
	named := r.File.Path
	if r.Word != nil && !path.IsAbs(named) {
		if r.From == "" {
			return -1, errOther
		}
		named = r.From + "/" + named
	}
	if r.Word == nil || !path.IsAbs(r.File.Path) {
		if d := sh.inFolder(r.From, "> "+path.Base(named)); d != nil {
			return -1, d
		}
	}
	err := error(errOther)
	fd := -1
	switch left, ok := sh.outputs[named]; {
	case ok:
		r.Folder, r.File = left.Folder, left.File
		fd, err = sh.openOutput(r)
	case r.Word == nil:
		fd, err = sh.openOutput(r)
	}
	if errors.Is(err, errOther) && (wrote || r.Word != nil) && sh.job.Output != nil {
		if r.Word == nil {
			r.File = &approval.File{Path: named}
		}
		again, why := sh.job.Output(r)
		if why != nil {
			return -1, why
		}
		r = again
		fd, err = sh.openOutput(r)
	}
	if err == nil {
		sh.outputs[named] = sh.outputs[r.File.Path]
	}
	return fd, err
}

// errOther says that a file or its folder is not the one that was judged.
var errOther = errors.New("it is not the file that was judged")

// openOutput opens a file for writing, and cuts it short unless it is added to. A file
// that was not there is made, and one that was must be the same, with no other name.
func (sh *shell) openOutput(r approval.Redirect) (int, error) {
	at := r.File.Path
	dir, err := openParent(r.Folder.Path)
	if err != nil {
		return -1, errOther
	}
	defer unix.Close(dir)
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil || r.Folder.Ino == 0 || !seen(&st).SameFolder(*r.Folder) {
		return -1, errOther
	}
	flags, made := unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOCTTY, r.File.Ino == 0
	if r.Append {
		flags |= unix.O_APPEND
	}
	fd := -1
	if made {
		fd, err = unix.Openat(dir, path.Base(at), flags|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o666)
	} else {
		fd, err = openRegular(dir, path.Base(at), flags, *r.File)
	}
	switch {
	case errors.Is(err, unix.EEXIST), errors.Is(err, unix.ENOENT), errors.Is(err, unix.ELOOP), errors.Is(err, errOther):
		return -1, errOther
	case err != nil:
		return -1, &startError{1, at + ": " + reason(err)}
	}
	if err = unix.Fstat(fd, &st); err == nil && !made && !isOutput(&st, *r.File) {
		err = errOther
	}
	if err == nil && !made && !r.Append {
		err = unix.Ftruncate(fd, 0)
	}
	if err != nil {
		unix.Close(fd)
		if errors.Is(err, errOther) {
			return -1, err
		}
		return -1, &startError{1, at + ": " + reason(err)}
	}
	file := seen(&st)
	file.Path = at
	sh.outputs[at] = approval.Redirect{File: &file, Folder: r.Folder}
	if made && sh.job.Made != nil {
		sh.tell(func() { sh.job.Made(file) })
	}
	return fd, nil
}

// isOutput reports whether what was opened is the file that was judged, under its one
// name.
func isOutput(st *unix.Stat_t, want approval.File) bool {
	return st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink == 1 && seen(st).SameFolder(want)
}
