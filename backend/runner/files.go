//go:build linux || darwin

package runner

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/trail"
)

// seen turns what the kernel says of a file into our word for it. Mode is
// the kernel's st_mode, the kind of file included.
func seen(st *unix.Stat_t) approval.File {
	return approval.File{
		Dev: uint64(st.Dev), Ino: st.Ino, Size: st.Size, Mode: uint32(st.Mode), UID: int(st.Uid),
		Links: uint64(st.Nlink), Changed: st.Ctim.Nano(), Mod: st.Mtim.Nano(),
	}
}

// unchanged fails unless the file at a path is still the one that was judged.
func unchanged(path string, want approval.File) error {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return drifted("%q cannot be looked at any more: %v", path, err)
	}
	return same(path, &st, want)
}

// unwritten fails unless the file at a path is still the one that was judged,
// and no program may be writing to it.
func unwritten(path string, want approval.File) error {
	if err := unchanged(path, want); err != nil {
		return err
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil // who interprets it cannot read it either
	}
	defer unix.Close(fd)
	if _, err := trail.Writers(fd); err != nil {
		return drifted("what %q holds may change at any time: %v", path, err)
	}
	return nil
}

func same(path string, st *unix.Stat_t, want approval.File) error {
	if !seen(st).Same(want) {
		return drifted("%q is not the file any more that was judged", path)
	}
	return nil
}

func drifted(format string, a ...any) *Denied {
	return denied(approval.ReasonDrifted, format, a...)
}

func denied(reason approval.Reason, format string, a ...any) *Denied {
	return &Denied{approval.Denial{
		Finding: approval.Finding{Reason: reason, Sentence: fmt.Sprintf(format, a...)},
		Code:    "UNAVAILABLE",
	}}
}

// startError says that a program could not be started, as a shell says it.
type startError struct {
	status int
	text   string
}

func (e *startError) Error() string { return e.text }

// cannotStart explains why the kernel refused a program.
func cannotStart(path string, err error) error {
	switch {
	case errors.Is(err, unix.ENOEXEC):
		return &startError{126, path + ": cannot execute: it is neither a program nor a script with a #! line"}
	case errors.Is(err, unix.ENOENT):
		return &startError{127, path + ": cannot execute: required file not found"}
	}
	return &startError{126, path + ": cannot execute: " + reason(err)}
}

// reason is the text of a system error as C programs say it.
func reason(err error) string {
	var errno unix.Errno
	if !errors.As(err, &errno) {
		return err.Error()
	}
	text := []byte(errno.Error())
	if len(text) > 0 && text[0] >= 'a' && text[0] <= 'z' {
		text[0] -= 'a' - 'A'
	}
	return string(text)
}
