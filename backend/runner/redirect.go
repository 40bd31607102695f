//go:build linux || darwin

package runner

import (
	"strings"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
)

// redirect applies redirections in the order they were written. done closes
// what was opened for them.
func (sh *shell) redirect(io stdio, list []approval.Redirect) (all stdio, done func(), refused *startError) {
	all = io
	var mine []int
	done = func() { closeAll(mine...) }
	for _, r := range list {
		fd := 0
		switch r.To {
		case approval.ToNull:
			all[r.FD] = sh.null
			continue
		default:
			all[r.FD] = all[r.To]
			continue
		case approval.FromFile:
			fd, refused = sh.input(r.File)
		case approval.FromText:
			fd, refused = sh.feed(r.Text)
		}
		if refused != nil {
			done()
			return io, func() {}, refused
		}
		mine, all[r.FD] = append(mine, fd), fd
	}
	return all, done, nil
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
	if err := unix.Fstat(fd, &st); err != nil || same(want.Path, &st, *want) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size > maxInput {
		unix.Close(fd)
		sh.deny(Outer, drifted("%q is not the file any more that was judged, or larger than %d MB", want.Path, maxInput>>20))
		return 0, &startError{1, want.Path + ": it changed"}
	}
	return fd, nil
}

// feed returns a descriptor from which a text can be read. Whoever writes it
// ends with the last reader.
func (sh *shell) feed(text string) (int, *startError) {
	p, err := pipe()
	if err != nil {
		return 0, &startError{1, "cannot make a pipe: " + reason(err)}
	}
	sh.feeds.Go(func() {
		write(p[1], strings.Clone(text))
		unix.Close(p[1])
	})
	return p[0], nil
}

// ending says on stderr why something did not start, as a shell would.
func (e *startError) ending(stderr int) ending { return say(stderr, e.status, "%s", e.text) }
