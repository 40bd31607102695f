package command

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/trail"
)

func isProgram(f approval.File) bool { return f.IsRegular() && f.Mode&0o111 != 0 }

// join makes word absolute below dir, as text: "..", "." and doubled slashes
// are left to the kernel, because "link/.." is not what it looks like.
func join(dir, word string) string {
	if filepath.IsAbs(word) {
		return word
	}
	return strings.TrimSuffix(dir, "/") + "/" + word
}

// program resolves the command word of a segment and says what is known of
// the program.
func (j *job) program(seg *approval.Segment) {
	j.bytes(bytesOf(seg.Argv))
	word := seg.Argv[0]
	res, found := j.find(word, seg.Dir)
	if found.Reason != "" {
		seg.Findings = append(seg.Findings, found)
	}
	if res == nil {
		j.operates(seg)
		return
	}
	seg.Program = res
	seg.Kind = kindOf(path.Base(res.Path), path.Base(res.File.Path))
	if why := j.script(res, seg.Dir, 0); why.Reason != "" {
		seg.Findings = append(seg.Findings, why)
	}
	if j.operates(seg); !seg.Asks { // else that is for what it would run
		j.effects(seg)
	}
}

// find leads a command word to its file. The finding says why nothing was
// found, or why what was found cannot be trusted.
func (j *job) find(word, dir string) (*approval.Resolution, approval.Finding) {
	if !strings.Contains(word, "/") {
		return j.search(word)
	}
	if !filepath.IsAbs(word) && dir == "" {
		return nil, finding(approval.ReasonRuntimeValue, "where %q is depends on a cd that only the run can tell", word)
	}
	at := join(dir, word)
	file, err := j.look(at)
	switch {
	case errors.Is(err, errSpent):
		return nil, finding(approval.ReasonTooComplex, "%v", err)
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		return nil, j.unseen(word, err)
	case err != nil || !isProgram(file):
		return nil, finding(approval.ReasonNotFound, "there is no program %q", word)
	}
	res := &approval.Resolution{Word: word, Path: at, Link: j.link(at, file), Kept: j.kept(at, file), File: file}
	return res, otherCase(res)
}

// missing reports whether an error of a look is of the name: that nothing can be
// there, or that nobody could start it, as a shell would see. Any other one says
// nothing of the name.
func missing(err error) bool {
	for _, one := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.EINVAL, trail.ErrPrivate} {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// unseen is for a program at which a look failed. Where that was not for its name,
// nobody knows what else was not seen: the whole is asked about.
func (j *job) unseen(word string, err error) approval.Finding {
	if !missing(err) {
		j.ask(approval.ReasonNotFound, "cannot look at %q: %v", word, cause(err))
	}
	return finding(approval.ReasonNotFound, "cannot look at the program %q: %v", word, cause(err))
}

// cause is an error without the path in front of it.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// otherCase finds a word that leads to a file only because the disk does not
// tell cases apart: entries mean the name as it is stored.
func otherCase(res *approval.Resolution) approval.Finding {
	at := res.Link
	if at == "" {
		at = path.Clean(res.Path)
	}
	if at == res.File.Path || !strings.EqualFold(at, res.File.Path) {
		return approval.Finding{}
	}
	return finding(approval.ReasonUntrustedPath, "%q is stored as %s, in other letters", res.Word, res.File.Path)
}

// link returns the place of a path whose last part is a link, with the links
// of its folder followed, and "" for a path that is no link.
func (j *job) link(at string, file approval.File) string {
	if at == file.Path {
		return ""
	}
	// Not Dir and Base: they would drop "link/.." as text.
	i := strings.LastIndexByte(at, '/')
	folder, err := j.look(at[:i+1])
	if err != nil {
		return ""
	}
	if place := join(folder.Path, at[i+1:]); place != file.Path {
		return place
	}
	return ""
}

// kept reports whether a link leads from one place of the system to another, as
// those of /etc/alternatives do, and only root can change where to. Elsewhere the
// links of root count as everybody's: the agent may be root.
func (j *job) kept(at string, file approval.File) bool {
	if path.Clean(at) == file.Path || !paths.OfSystem(path.Clean(at)) || !paths.OfSystem(file.Path) {
		return false
	}
	return j.spend(1) && j.World.Kept(at)
}

// search looks a bare name up in the login PATH.
func (j *job) search(name string) (*approval.Resolution, approval.Finding) {
	for _, p := range j.searched() {
		if !filepath.IsAbs(p.dir) {
			continue
		}
		at := join(p.dir, name)
		file, err := j.look(at)
		if errors.Is(err, errSpent) {
			return nil, finding(approval.ReasonTooComplex, "%v", err)
		}
		if err != nil && !missing(err) { // a later folder could hold another program of the name
			return nil, j.unseen(at, err)
		}
		if err != nil || !isProgram(file) {
			continue
		}
		res := &approval.Resolution{Word: name, Path: at, Link: j.link(at, file), Kept: j.kept(at, file), Bare: !p.venv, File: file}
		if why := j.distrust(p); why != "" {
			return res, finding(approval.ReasonUntrustedPath, "%s was found in %s, which %s", name, p.dir, why)
		}
		return res, otherCase(res)
	}
	return nil, finding(approval.ReasonNotFound, "%q is not installed or not in PATH: name its whole path if it is elsewhere", name)
}

// distrust says why a PATH folder never satisfies a bare name, or "".
func (j *job) distrust(p searchDir) string {
	dir, err := j.look(p.dir)
	switch {
	case err != nil:
		return "cannot be read"
	case dir.Mode&0o002 != 0:
		return "everybody can write to"
	case dir.UID != 0 && dir.UID != j.UID:
		return "belongs to somebody else"
	case !p.venv && j.inProject(dir.Path):
		return "is inside the project"
	}
	return ""
}

// inProject reports whether a folder lies where the agent writes.
func (j *job) inProject(dir string) bool {
	for _, root := range []string{j.plan.Cwd.Path, j.plan.Folder.Path} {
		if root != "" && within(dir, root) && j.project(root) {
			return true
		}
	}
	return false
}

// project reports whether a folder is one whose files the agent writes: strictly
// below home, and no parent of a login PATH folder that existed from the start.
func (j *job) project(cwd string) bool {
	home := j.Home
	if f, err := j.look(home); err == nil {
		home = f.Path
	}
	if cwd == home || !within(cwd, home) {
		return false
	}
	for _, p := range j.path {
		if p.existed && within(p.dir, cwd) {
			return false
		}
	}
	return true
}

// within reports whether a cleaned path is a folder or something below it.
func within(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

func hasControl(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) >= 0
}

func ascii(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r > 0x7e }) < 0 }
