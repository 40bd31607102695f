package command

import (
	"bytes"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/trail"
)

// headSize is how much of a file Linux reads to see what it is.
const headSize = 256

// firstLine is what the kernel reads in the #! line of a script.
type firstLine struct {
	name, arg string // the interpreter as it is written, and its one argument
	// odd says what else than a name and a plain argument the line holds. It is
	// followed as Linux does, and asks: macOS ends the line at #, splits the
	// argument at blanks, reads up to 512 bytes and follows one script only, and
	// what cannot be seen deceives.
	odd string
}

var errFirstLine = errors.New("names no interpreter that can be started")

const blanks = " \t"

// readFirstLine reads what follows #! in the first bytes of a file, headSize at
// most, as load_script of Linux does (fs/binfmt_script.c, since 5.1). The
// kernel sees a short file with NULs behind it. It fails where the kernel does.
func readFirstLine(head []byte) (firstLine, error) {
	text, rest, whole := bytes.Cut(head[2:], []byte("\n"))
	if nul := bytes.IndexByte(text, 0); nul >= 0 { // the line ends there, and blanks before it stay
		text, rest, whole = text[:nul], text[nul:], false
	}
	line := string(text)
	cut := !whole && len(rest) == 0 && len(head) == headSize
	if cut {
		if name := strings.TrimLeft(line, blanks); !strings.ContainsAny(name, blanks) {
			return firstLine{}, errFirstLine // it may be longer than what was read
		}
		line = line[:len(line)-1]
	}
	if whole || cut {
		line = strings.TrimRight(line, blanks)
	}
	name := strings.TrimLeft(line, blanks)
	l := firstLine{name: name}
	if i := strings.IndexAny(name, blanks); i >= 0 {
		l.name, l.arg = name[:i], strings.TrimLeft(name[i:], blanks)
		if l.arg == "" {
			return firstLine{}, errors.New("ends with a blank and without a newline, which is an argument")
		}
	}
	switch {
	case l.name == "":
		return firstLine{}, errFirstLine
	case cut:
		l.odd = "is too long"
	case len(rest) > 0 && !whole:
		l.odd = "holds a NUL"
	case hasControl(l.name + l.arg):
		l.odd = "holds control characters"
	case strings.ContainsAny(l.arg, blanks):
		l.odd = "has more than one argument"
	case strings.Contains(line, "#"):
		l.odd = "holds a #"
	case !filepath.IsAbs(l.name):
		l.odd = "names a file of the folder that it is started in"
	}
	return l, nil
}

// maxInterpreters is how many scripts Linux follows, each the interpreter of
// the one before.
const maxInterpreters = 5

// script resolves the interpreter of a script that starts in dir, through its
// #! line. The kernel will read that line again only where a wrapper or a shell
// that is not ours starts the script; the runner starts what is resolved here.
// What cannot be followed, or means more than one program, is a reason to ask.
func (j *job) script(res *approval.Resolution, dir string, depth int) approval.Finding {
	head, err := j.head(res.File)
	if errors.Is(err, trail.ErrWritten) {
		return finding(approval.ReasonUnreadable, "what %s holds may change at any time: %v", res.File.Path, err)
	}
	if errors.Is(err, trail.ErrPrivate) {
		return finding(approval.ReasonUnreadable, "%s cannot be read: %v", res.File.Path, trail.ErrPrivate)
	}
	if err != nil || !bytes.HasPrefix(head, []byte("#!")) {
		return approval.Finding{} // unreadable or a binary: the kernel decides
	}
	line, err := readFirstLine(head)
	if err == nil && depth == maxInterpreters {
		err = errors.New("is that of an interpreter's interpreter, and so on")
	}
	if err != nil {
		return finding(approval.ReasonUnreadable, "the first line of %s %v", res.File.Path, err)
	}
	if !filepath.IsAbs(line.name) && dir == "" {
		return finding(approval.ReasonRuntimeValue, "the first line of %s %s", res.File.Path, line.odd)
	}
	inner, why := j.find(join(dir, line.name), dir)
	if inner == nil {
		return why
	}
	if line.odd != "" {
		why = finding(approval.ReasonUnreadable, "the first line of %s %s", res.File.Path, line.odd)
	}
	if asEnv(line) {
		if inner, why = j.find(line.arg, dir); inner == nil {
			return why
		}
		line.arg = ""
	}
	if startsOthers(inner) {
		why = finding(approval.ReasonWrapperUnclear, "the first line of %s starts %s, which starts another program", res.File.Path, inner.Path)
	}
	res.Interpreter, res.InterpreterArg = inner, line.arg
	if deeper := j.script(inner, dir, depth+1); why.Reason == "" {
		return deeper
	}
	return why
}

// asEnv reports whether a line asks the system's env for one program and
// nothing else. Who has only the name of env is started as what it is.
func asEnv(line firstLine) bool {
	if line.odd != "" || line.name != "/usr/bin/env" && line.name != "/bin/env" {
		return false
	}
	if strings.Contains(line.arg, "/") && !filepath.IsAbs(line.arg) {
		return false
	}
	return line.arg != "" && line.arg[0] != '-' && !strings.Contains(line.arg, "=")
}

// startsOthers reports whether an interpreter takes its argument, or the
// script, for the name of a program: env, nice, busybox. A program of many
// names that is called by one that we know is that one.
func startsOthers(res *approval.Resolution) bool {
	called, file := kindOf(path.Base(res.Path)), kindOf(path.Base(res.File.Path))
	switch {
	case called == approval.KindWrapper || called == approval.KindMultiplexer, file == approval.KindWrapper:
		return true
	}
	return file == approval.KindMultiplexer && called == approval.KindOther
}
