//go:build linux || darwin

package runner

import (
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
)

// asks runs [[ … ]].
func (sh *shell) asks(c *approval.Condition, stderr int) ending {
	holds, e, ok := sh.condition(c, stderr)
	if ok && !holds {
		return ending{code: 1}
	}
	return e
}

func (sh *shell) condition(c *approval.Condition, stderr int) (holds bool, e ending, ok bool) {
	if !sh.step(1) {
		return false, ending{}, false
	}
	switch c.Op {
	case approval.ConditionNot:
		holds, e, ok = sh.condition(&c.Kids[0], stderr)
		return !holds, e, ok
	case approval.ConditionAnd, approval.ConditionOr:
		if holds, e, ok = sh.condition(&c.Kids[0], stderr); !ok || holds == (c.Op == approval.ConditionOr) {
			return holds, e, ok
		}
		return sh.condition(&c.Kids[1], stderr)
	}
	text, e, ok := sh.one(c.Words[0], stderr)
	if !ok || sh.over() {
		return false, e, false
	}
	switch c.Op {
	case approval.ConditionFull:
		return text != "", ending{}, true
	case approval.ConditionEmpty:
		return text == "", ending{}, true
	case approval.ConditionLike, approval.ConditionUnlike:
		fits, e, ok := sh.fits(text, c.Words[1], stderr)
		return fits == (c.Op == approval.ConditionLike), e, ok
	}
	if len(c.Words) == 1 {
		return sh.looks(c.Op, text)
	}
	other, e, ok := sh.one(c.Words[1], stderr)
	if !ok || sh.over() {
		return false, e, false
	}
	a, okx := approval.Decimal(text)
	b, oky := approval.Decimal(other)
	if !okx || !oky {
		return false, ending{}, sh.noNumber()
	}
	return compared(c.Op, a, b), ending{}, true
}

func compared(op approval.ConditionOp, a, b int64) bool {
	switch op {
	case "-eq":
		return a == b
	case "-ne":
		return a != b
	case "-lt":
		return a < b
	case "-le":
		return a <= b
	case "-gt":
		return a > b
	}
	return a >= b
}

// looks asks something of a file. What the kernel makes up for each process is
// another thing to us than to a shell.
func (sh *shell) looks(op approval.ConditionOp, name string) (holds bool, e ending, ok bool) {
	if name == "" || strings.ContainsRune(name, 0) {
		return false, ending{}, true
	}
	at := name
	if !strings.HasPrefix(name, "/") {
		at = sh.dir.path + "/" + name
	}
	for _, own := range []string{"/dev/fd", "/dev/std", "/proc"} {
		if strings.HasPrefix(path.Clean(at), own) {
			sh.deny(Outer, denied(approval.ReasonRuntimeValue, "it asks about %q, which is not the same to each program", name))
			return false, ending{}, false
		}
	}
	modes := map[approval.ConditionOp]uint32{"-r": unix.R_OK, "-w": unix.W_OK, "-x": unix.X_OK}
	if mode, is := modes[op]; is {
		return unix.Faccessat(unix.AT_FDCWD, at, mode, unix.AT_EACCESS) == nil, ending{}, true
	}
	var st unix.Stat_t
	stat := unix.Stat
	if op == "-L" {
		stat = unix.Lstat
	}
	if stat(at, &st) != nil {
		return false, ending{}, true
	}
	switch kind := st.Mode & unix.S_IFMT; op {
	case "-f":
		return kind == unix.S_IFREG, ending{}, true
	case "-d":
		return kind == unix.S_IFDIR, ending{}, true
	case "-L":
		return kind == unix.S_IFLNK, ending{}, true
	case "-s":
		return st.Size > 0, ending{}, true
	}
	return true, ending{}, true
}
