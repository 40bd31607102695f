//go:build linux || darwin

package runner

import (
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
)

// target is a program that a wrapper starts: the word by which it is told so,
// and what was judged.
type target struct {
	at  int
	res *approval.Resolution
}

// targets returns what a segment starts by its words, wrappers in wrappers too.
func targets(plan *approval.Plan, seg int) (list []target) {
	for i := range plan.Segments {
		s := &plan.Segments[i]
		if s.Via != seg+1 || s.Word == 0 || s.Program == nil {
			continue
		}
		list = append(list, target{s.Word, s.Program})
		for _, inner := range targets(plan, i) {
			list = append(list, target{s.Word + inner.at, inner.res})
		}
	}
	return list
}

// codeOf returns the files with program text that a segment, or what it starts by
// its words, opens by name.
func codeOf(plan *approval.Plan, seg int) []approval.File {
	list := slices.Clone(plan.Segments[seg].Code)
	for i := range plan.Segments {
		if plan.Segments[i].Via == seg+1 {
			list = append(list, codeOf(plan, i)...)
		}
	}
	return list
}

// aim puts the absolute paths of what was judged in the place of the words, so
// that a wrapper looks nothing up. env gets our PATH again, in case it throws
// the rest away.
func (l *launch) aim() []string {
	argv := slices.Clone(l.argv)
	search, _ := (&shell{env: l.env}).inherited("PATH")
	for _, t := range l.targets {
		argv[t.at] = t.res.Path
	}
	for i := len(l.targets) - 1; i >= 0; i-- {
		before := l.res
		if i > 0 {
			before = l.targets[i-1].res
		}
		if path.Base(before.File.Path) == "env" {
			argv = slices.Insert(argv, l.targets[i].at, "PATH="+search)
		}
	}
	return argv
}

// compare makes sure that the targets and the files with program text are what
// was judged. A target that is neither a program nor a script with a #! line
// would be run by a shell.
func (l *launch) compare() error {
	for _, f := range l.code {
		if err := unwritten(f.Path, f); err != nil {
			return err
		}
	}
	for _, t := range l.targets {
		for res := t.res; res != nil; res = res.Interpreter {
			if err := unwritten(res.File.Path, res.File); err != nil {
				return err
			}
		}
		if t.res.Interpreter == nil && !isBinary(t.res.File.Path) {
			return denied(approval.ReasonWrapperUnclear, "%q is neither a program nor a script with a #! line, so a shell would run it", t.res.Path)
		}
	}
	return nil
}

// isBinary reports whether a file begins as a program does. One that we may
// not read is one that no shell could read either.
func isBinary(path string) bool {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return true
	}
	defer unix.Close(fd)
	var head [4]byte
	_, _ = unix.Pread(fd, head[:], 0)
	switch string(head[:]) {
	case "\x7fELF", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\xbe\xba\xfe\xca":
		return true
	}
	return false
}
