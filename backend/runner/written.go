//go:build linux || darwin

package runner

import (
	"errors"
	"path"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
)

// toFile opens the file that a redirection writes. Nothing is opened, made or cut
// short but what was judged. Commands that follow are judged anew.
func (sh *shell) toFile(r *approval.Redirect) (int, *startError) {
	wrote := sh.wrote.Swap(true)
	fd, err := -1, error(nil)
	if sh.job.Check != nil {
		err = sh.job.Check(Outer, nil)
	}
	if err == nil {
		if d := sh.inFolder(r.From, "> "+path.Base(r.File.Path)); d != nil {
			err = d
		}
	}
	sh.opening.Lock()
	defer sh.opening.Unlock()
	if err == nil {
		fd, err = sh.openOutput(sh.asLeft(*r))
	}
	if errors.Is(err, errOther) && wrote && sh.job.Output != nil {
		var again approval.Redirect
		if again, err = sh.job.Output(*r); err == nil {
			fd, err = sh.openOutput(again)
		}
	}
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

// asLeft is a redirection to a file as this run left that, if it wrote it before.
func (u *run) asLeft(r approval.Redirect) approval.Redirect {
	if left, ok := u.outputs[r.File.Path]; ok {
		r.File = &left
	}
	return r
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
	sh.outputs[at] = file
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
