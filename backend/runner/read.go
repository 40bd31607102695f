//go:build linux || darwin

package runner

import (
	"bytes"
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
)

// read does what read does: it reads a line into variables, and fails at the end of what
// there is. It takes no byte behind the line, which belongs to who reads next. Behind IFS=
// the line is taken as it stands. Without -r, a backslash in it ends the run.
func (sh *shell) read(s *approval.Segment, fd int) ending {
	names, whole := approval.ReadNames(s.Argv), len(s.Assigns) > 0
	line, ended, ok := sh.line(fd)
	if !ok {
		return ending{}
	}
	if s.Argv[1] != "-r" && strings.Contains(line, `\`) {
		sh.deny(Outer, denied(approval.ReasonRuntimeValue, "a read without -r would take a backslash in its line for more than that"))
		return ending{}
	}
	const blanks = " \t"
	rest := line
	if !whole {
		rest = strings.Trim(rest, blanks)
	}
	for i, name := range names {
		value := rest
		if end := strings.IndexAny(rest, blanks); i < len(names)-1 && !whole && end >= 0 {
			value, rest = rest[:end], strings.TrimLeft(rest[end:], blanks)
		} else {
			rest = ""
		}
		sh.set(name, value)
	}
	if !ended {
		return ending{code: 1}
	}
	return ending{}
}

// line reads up to the end of a line, without the zero bytes, which no value holds.
// ended tells that the line had an end.
func (sh *shell) line(fd int) (line string, ended, ok bool) {
	var st unix.Stat_t
	file := unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG
	buffer := make([]byte, 1)
	if file {
		buffer = make([]byte, 4<<10)
	}
	var text []byte
	for all := 0; ; {
		n, err := sh.readSome(fd, buffer)
		if err != nil || n <= 0 {
			return string(text), false, sh.ctx.Err() == nil
		}
		got := buffer[:n]
		end := bytes.IndexByte(got, '\n')
		if end >= 0 {
			if got = got[:end]; file { // the rest is read again
				_, _ = unix.Seek(fd, int64(end+1-n), 1)
			}
		}
		for _, c := range got {
			if c != 0 {
				text = append(text, c)
			}
		}
		if all += n; all >= perCount || end >= 0 {
			if !sh.grow(all) {
				return "", false, false
			}
			all = 0
		}
		if end >= 0 {
			return string(text), true, true
		}
	}
}

// perCount is how much is read before it is counted.
const perCount = 4 << 10

// maxRead is how long a read waits before it looks whether the run is over, in
// milliseconds: who writes may be no program of the run.
const maxRead = 200

// readSome reads what there is, and waits for it.
func (sh *shell) readSome(fd int, buffer []byte) (int, error) {
	for {
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, maxRead)
		if sh.ctx.Err() != nil {
			return 0, sh.ctx.Err()
		}
		if ready == 0 || errors.Is(err, unix.EINTR) {
			continue
		}
		n, err := unix.Read(fd, buffer)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
			continue
		}
		return n, err
	}
}
