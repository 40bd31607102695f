//go:build linux || darwin

package runner

import (
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// redirect applies redirections in the order they were written. done closes what was
// opened for them. Where one is refused, all is what those before it made of io: there
// it says why, as a shell would.
func (sh *shell) redirect(io stdio, list []approval.Redirect) (all stdio, done func(), refused *startError) {
	all = io
	var mine []int
	done = func() { closeAll(mine...) }
	for i := range list {
		r, fd := &list[i], 0
		switch r.To {
		default:
			all[r.FD] = all[r.To]
			continue
		case approval.ToNull:
			all[r.FD] = sh.null
			continue
		case approval.FromFile:
			fd, refused = sh.fromFile(r, all[2])
		case approval.FromText:
			fd, refused = sh.feed(r.Text)
		case approval.ToFile:
			fd, refused = sh.toFile(*r, all[2])
		}
		if refused != nil {
			return all, done, refused
		}
		mine, all[r.FD] = append(mine, fd), fd
	}
	return all, done, nil
}

// fromFile opens what a redirection reads: of a name that only the run can tell, the
// file that was judged under it.
func (sh *shell) fromFile(r *approval.Redirect, stderr int) (int, *startError) {
	if r.Word == nil {
		return sh.input(r.File)
	}
	name, e, ok := sh.target(r.Word, stderr)
	if !ok {
		return 0, &startError{status: e.status()}
	}
	i, d := slices.Index(r.Maybe, name), sh.inFolder(r.From, "< "+name)
	if i < 0 {
		d = drifted("%q is none of the files that were judged", name)
	}
	if d != nil {
		sh.deny(Outer, d)
		return 0, &startError{126, name + ": it was not opened"}
	}
	return sh.input(&r.Files[i])
}

// maxInput bounds the files that are read through a redirection.
const maxInput = 256 << 20

// input opens a file that was judged.
func (sh *shell) input(want *approval.File) (int, *startError) {
	fd, err := openExactly(want.Path)
	if err != nil {
		return 0, &startError{1, want.Path + ": " + reason(err)}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || same(want.Path, &st, *want) != nil && !sh.left(want.Path, &st) || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size > maxInput {
		unix.Close(fd)
		sh.deny(Outer, drifted("%q is not the file any more that was judged, or larger than %d MB", want.Path, maxInput>>20))
		return 0, &startError{1, want.Path + ": it changed"}
	}
	return fd, nil
}

// left reports whether a file is one that a redirection of this run wrote.
func (u *run) left(path string, st *unix.Stat_t) bool {
	u.opening.Lock()
	defer u.opening.Unlock()
	r, ok := u.outputs[path]
	return ok && seen(st).SameFolder(*r.File)
}

// feed returns a descriptor from which a text can be read. What does not fit
// into its pipe is written until the run is over.
func (sh *shell) feed(text string) (int, *startError) {
	p, err := pipe()
	if err != nil {
		return 0, &startError{1, "cannot make a pipe: " + reason(err)}
	}
	to := waiting(p[1])
	raw, err := to.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			n, _ := unix.Write(int(fd), []byte(text))
			text = text[max(n, 0):]
		})
	}
	if err != nil || text == "" {
		to.Close()
		return p[0], nil
	}
	if !sh.keepWriting(to, text) {
		unix.Close(p[0])
		return 0, &startError{1, "too many texts wait to be read"}
	}
	return p[0], nil
}

// maxFeeds bounds the texts of a run that are still written. A reader that a
// program left behind may keep one longer than its command takes.
const maxFeeds = 64

// keepWriting writes the rest of a text, and ends with its last reader or with
// the run. It reports false, and closes the pipe, where there are too many.
func (u *run) keepWriting(to *os.File, text string) bool {
	u.mu.Lock()
	u.unread[to] = true
	most := len(u.unread)
	more := most > u.fed
	u.fed = max(u.fed, most)
	u.mu.Unlock()
	over := func() {
		to.Close()
		u.mu.Lock()
		delete(u.unread, to)
		u.mu.Unlock()
	}
	switch {
	case most > maxFeeds:
		u.deny(Outer, denied(approval.ReasonTooComplex, "more than %d texts wait to be read", maxFeeds))
	case more && !u.take(need{files: 1}):
		u.deny(Outer, crowded())
	default:
		u.feeds.Go(func() {
			defer over()
			defer rescue.Catch(u.log, "a text that a program reads", nil)
			_, _ = to.WriteString(text)
		})
		return true
	}
	over()
	return false
}

// stopWriting ends the writing of what nobody of the run reads any more.
func (u *run) stopWriting() {
	u.mu.Lock()
	for to := range u.unread {
		_ = to.SetWriteDeadline(time.Now())
	}
	u.mu.Unlock()
	u.feeds.Wait()
}

// ending says on stderr why something did not start, as a shell would.
func (e *startError) ending(stderr int) ending {
	if e.text == "" { // it was said
		return ending{code: e.status}
	}
	return say(stderr, e.status, "%s", e.text)
}
