package command

import (
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// inside reports whether a name surely leads into the working directory of
// the request, by its text and by the links that are there now.
func (a *arguments) inside(name string) bool {
	if words, ok := alternatives(name); !ok || slices.ContainsFunc(words, func(word string) bool { return !a.inside(word) }) {
		return false
	}
	if a.dir == "" || name == "" || strings.HasPrefix(name, "~") || strings.HasPrefix(name, "=") || upward(name) {
		return false
	}
	a.looked = true
	root := a.plan.Cwd.Path
	at := path.Clean(join(a.dir, name))
	for real := at; ; real = path.Dir(real) {
		file, err := a.look(real)
		if err == nil {
			return within(at, root) && within(file.Path, root)
		}
		if real == "/" || real == "." || a.dangling(real) {
			return false
		}
	}
}

// dangling reports whether a name that leads nowhere is in its folder all the
// same: a link, and what writes there makes the file it leads to.
func (a *arguments) dangling(at string) bool {
	folder, err := a.look(path.Dir(at))
	if err != nil || !isDir(folder) {
		return false // the folder is looked at next
	}
	there, err := a.holds(path.Base(at), folder.Path)
	return err != nil || there
}

// inGit reports whether a name leads into a folder in which git keeps its
// hooks and settings, by its text or by the links that are there now. What is
// written there starts with the next command of git.
func (a *arguments) inGit(name string) bool {
	if words, _ := alternatives(name); slices.ContainsFunc(words, a.inGit) {
		return true
	}
	at := path.Clean(join(a.dir, name))
	for real := at; ; real = path.Dir(real) {
		file, err := a.look(real)
		if err == nil || real == "/" || real == "." {
			return ofGit(at) || ofGit(file.Path) || err == nil && a.inRepository(file)
		}
	}
}

// inRepository reports whether a file is, or lies in, a folder that is a
// repository by what is in it, as git finds it.
func (a *arguments) inRepository(file approval.File) bool {
	folder := file.Path
	if !isDir(file) {
		folder = path.Dir(folder)
	}
	there := func(name string) bool { _, err := a.look(path.Join(folder, name)); return err == nil }
	for {
		switch {
		case there("HEAD") && (there("commondir") || there("objects") && there("refs")):
			return true
		case folder == "/" || folder == "." || there(".git"):
			return false
		}
		folder = path.Dir(folder)
	}
}

// ofGit reports whether a path is, or lies in, a folder of git's own.
func ofGit(at string) bool { return strings.Contains(strings.ToLower(at)+"/", "/.git/") }

// isHere reports whether a name leads to a file or folder, or may: git finds
// x.git under the name x.
func (a *arguments) isHere(name string) bool {
	for _, name := range []string{name, name + ".git"} {
		if _, err := a.look(join(a.dir, name)); err == nil {
			return true
		}
	}
	return a.dir == ""
}

// isFile reports whether a name leads to a regular file.
func (a *arguments) isFile(name string) bool {
	file, err := a.look(join(a.dir, name))
	return err == nil && file.Mode&modeType == modeRegular
}

// upward reports whether a name leads down and up again: where that is depends
// on links.
func upward(name string) bool {
	down := false
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "", ".":
		case "..":
			if down {
				return true
			}
		default:
			down = true
		}
	}
	return false
}

// into checks a file that is written, unless an option says that it is read.
func (a *arguments) into(u use) {
	value := u.value
	if strings.Contains(value, ":") || strings.HasPrefix(value, "@") {
		a.find(approval.ReasonStartsProgram, "%s is given %q, which may name another machine, or more files", u.who, value)
	}
	switch value {
	case "/dev/null", "/dev/stdout", "/dev/stderr":
		return
	}
	a.agents(u)
	dir := a.dir
	a.dir = a.start
	if !a.inside(value) || a.inGit(value) {
		a.written = append(a.written, finding(approval.ReasonOutsideFolder, "%s writes %q, which is not known to be in the working directory", u.who, value))
	}
	a.dir = dir
}

// agents asks for a folder that is written or deleted as a whole, and in which
// agents have the settings that they start with.
func (a *arguments) agents(u use) {
	if agentFolders().MatchString(path.Base(path.Clean(join(a.start, u.value)))) {
		a.find(approval.ReasonProtectedState, "%s changes %q, where an agent's settings are", u.who, u.value)
	}
}

// finish weighs what only all words together tell.
func (a *arguments) finish(p *profile) {
	if a.count < p.least && !a.has["alone"] {
		a.find(approval.ReasonInlineCode, "%s reads its program from its input", p.name)
	}
	if len(p.lists["needs"]) > 0 && !a.has["needs"] && !a.has["alone"] {
		a.find(approval.ReasonWritesFile, "%s may write files without an option such as %s", p.name, p.lists["needs"][0])
	}
	if len(p.lists["late"]) > 0 && !a.has["late"] && !a.has["alone"] {
		a.find(approval.ReasonWrapperUnclear, "%s waits before it starts its command, which may be another one by then; with %s it does not wait", p.name, p.lists["late"][0])
	}
	a.finishLast(p)
	if !a.has["reads"] {
		a.findings = append(a.findings, a.written...)
	}
	if !a.has["gathers"] {
		a.findings = append(a.findings, a.leading...)
	}
	if a.emptied() {
		a.find(approval.ReasonDeletes, "%s deletes all that is in the working directory", p.name)
	}
}

// finishLast reads the last operand as the place that the others are written
// to: in a folder, each under its own name, or all that it holds.
func (a *arguments) finishLast(p *profile) {
	n := len(a.ends) - 1
	if n < 0 {
		return
	}
	to := a.ends[n]
	a.effect(p, p.last, "it", to)
	folder, err := a.look(join(a.start, to.text))
	if len(p.lists["links"]) > 0 {
		a.linked(p, to, a.ends[:n])
	}
	if to.open != nil || err != nil || !isDir(folder) {
		return
	}
	_, err = a.look(join(a.start, path.Join(to.text, ".git")))
	root := err == nil || folder.Path == a.plan.Cwd.Path
	for _, from := range a.ends[:n] {
		name := path.Base(from.text)
		held := strings.HasSuffix(from.text, "/") || name == "." || name == ".."
		if at := join(a.start, to.text); p.last == "copy" && !(held && a.closed(at) || !held && a.closed(path.Join(at, name))) {
			a.find(approval.ReasonOutsideFolder, "%s may follow links that lead out of %q", p.name, to.text)
		}
		switch {
		case from.open != nil:
		case held && root:
			a.find(approval.ReasonWritesFile, "%s writes all that %q holds into the folder of a project", p.name, from.text)
		case !held:
			a.effect(p, p.last, "it", argument{text: path.Join(to.text, name)})
		}
	}
}

// linked judges what links lead to: a name from the folder of the link, which
// is the last operand if that is a folder, or, if that is a link to one, may be.
func (a *arguments) linked(p *profile, link argument, targets []argument) {
	start, dirs := a.start, []string{a.start}
	if at := path.Clean(join(start, link.text)); a.has["links"] {
		dirs[0] = path.Dir(at)
		if above, err := a.look(dirs[0]); err == nil {
			dirs[0] = above.Path
		}
		if folder, err := a.look(at); err == nil && isDir(folder) && folder.Path == at {
			dirs[0] = at
		} else if err == nil && isDir(folder) {
			dirs = append(dirs, folder.Path)
		}
	}
	for _, target := range targets {
		for _, a.start = range dirs {
			a.effect(p, p.last, "it", target)
		}
	}
	a.start = start
}

// closed reports whether no link leads out of a folder, as far as it is there:
// who copies a folder over another one writes through the links in that.
func (a *arguments) closed(folder string) bool {
	file, err := a.look(folder)
	if err != nil || !isDir(file) {
		return true // what is no folder was checked as a name
	}
	seen, folders := 0, []string{file.Path}
	for len(folders) > 0 {
		names, err := a.list(folders[0])
		if seen += len(names); err != nil || seen > maxCopied {
			return false
		}
		for _, name := range names {
			at := path.Join(folders[0], name)
			file, err := a.look(at)
			switch {
			case err != nil || !within(file.Path, a.plan.Cwd.Path) || ofGit(file.Path):
				return false
			case isDir(file) && file.Path == at:
				folders = append(folders, at)
			case isDir(file):
				return false // a link to a folder, which may be above
			}
		}
		folders = folders[1:]
	}
	return true
}

// maxCopied bounds how many names are looked at in a folder that is there.
const maxCopied = 2000

// emptied reports whether everything in the working directory is deleted that
// a lone * stands for: that counts as the folder itself.
func (a *arguments) emptied() bool {
	root := a.plan.Cwd.Path
	if !slices.ContainsFunc(a.gone, func(name string) bool { return path.Dir(name) == root }) {
		return false
	}
	names, err := a.list(root)
	left, folder := 0, false
	for _, name := range names {
		at := path.Join(root, name)
		file, err := a.look(at)
		switch {
		case strings.HasPrefix(name, "."), err != nil: // a pattern does not stand for these
		case !slices.Contains(a.gone, at):
			return false
		default:
			folder = folder || isDir(file)
			left++
		}
	}
	return err != nil || left > 1 || folder
}
