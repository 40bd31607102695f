package command

import (
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// inside reports whether a name surely leads into the session's folder, by its
// text and by the links that are there now. Where no folder counts, none does.
func (a *arguments) inside(name string) bool {
	if words, ok := alternatives(name); !ok || slices.ContainsFunc(words, func(word string) bool { return !a.inside(word) }) {
		return false
	}
	if a.dir == "" || name == "" || len(a.dir)+len(name) >= maxPath || strings.HasPrefix(name, "~") || strings.HasPrefix(name, "=") || upward(name) {
		return false
	}
	a.looked = true
	folder := a.plan.Folder
	at := path.Clean(join(a.dir, name))
	g := a.ground(at)
	return g.found && folder.Holds(at) && folder.Holds(g.file.Path) && (g.gap == "" || !a.dangling(g.gap))
}

// ground is how far a path leads: to the last thing on its way that is there.
type ground struct {
	file  approval.File
	found bool
	gap   string // the first name on the way that leads nowhere, "" if none
}

// ground follows a cleaned path. What lies below a name that leads nowhere does
// so too, so a path that gets longer is not followed from its end each time.
func (j *job) ground(at string) ground {
	g, ok := j.grounds[at]
	if ok || !j.bytes(len(at)) {
		return g
	}
	up := path.Dir(at)
	if above, ok := j.grounds[up]; ok && above.gap != "" {
		g = above
	} else if file, err := j.look(at); err == nil {
		g = ground{file: file, found: true}
	} else if up != at && !j.spent() {
		if g = j.ground(up); g.gap == "" {
			g.gap = at
		}
	}
	if !j.spent() {
		j.grounds[at] = g
	}
	return g
}

// real is where a path leads: of what is not there yet, where its nearest folder
// leads, and the rest. It is "" where nobody can tell.
func (j *job) real(at string) string {
	i := strings.LastIndex(at, "/../")
	if strings.HasSuffix(at, "/..") {
		i = len(at) - 3
	}
	if i >= 0 { // links are followed before ".."
		up, err := j.look(at[:i+3])
		if err != nil {
			return ""
		}
		at = up.Path + at[i+3:]
	}
	if at = path.Clean(at); len(at) > maxPath {
		return ""
	}
	if file, err := j.look(at); err == nil {
		return file.Path
	}
	// What leads nowhere leads nowhere with more behind it either.
	first := func(i int) string {
		if end := strings.IndexByte(at[i:], '/'); end >= 0 {
			return at[:max(1, i+end)]
		}
		return at
	}
	n := sort.Search(len(at), func(i int) bool { _, err := j.look(first(i)); return err != nil })
	if n == 0 {
		return ""
	}
	there := first(n - 1)
	up, err := j.look(there)
	if err != nil || !up.IsFolder() {
		return ""
	}
	return path.Join(up.Path, at[len(there):])
}

// dangling reports whether a name that leads nowhere is in its folder all the
// same: a link, and what writes there makes the file it leads to.
func (a *arguments) dangling(at string) bool {
	folder, err := a.look(path.Dir(at))
	if err != nil || !folder.IsFolder() {
		return false // the folder is looked at next
	}
	there, err := a.holds(path.Base(at), folder.Path)
	return err != nil || there
}

// inGit reports whether a name leads into a folder in which git keeps its
// hooks and settings, by its text or by the links that are there now. What is
// written there starts with the next command of git.
func (a *arguments) inGit(name string) bool {
	words, ok := alternatives(name)
	if !ok || slices.ContainsFunc(words, a.inGit) { // where it is not sure, the words are no simpler
		return true
	}
	at := path.Clean(join(a.dir, name))
	if len(at) > maxPath {
		return true // it names nothing, or a part of it does
	}
	g := a.ground(at)
	return ofGit(at) || g.found && (ofGit(g.file.Path) || a.inRepository(g.file))
}

// inRepository reports whether a file is, or lies in, a folder that is a
// repository by what is in it, as git finds it.
func (a *arguments) inRepository(file approval.File) bool {
	folder := file.Path
	if !file.IsFolder() {
		folder = path.Dir(folder)
	}
	there := func(name string) bool { _, err := a.look(path.Join(folder, name)); return err == nil }
	for !a.spent() {
		git, err := a.look(path.Join(folder, ".git"))
		switch {
		// A HEAD that leads nowhere yet is one to git.
		case (there("commondir") || there("objects") && there("refs")) && (there("HEAD") || a.dangling(path.Join(folder, "HEAD"))):
			return true
		case err == nil && (!git.IsFolder() || there(".git/HEAD")), folder == "/" || folder == ".":
			return false // a .git that holds nothing is none to git
		}
		folder = path.Dir(folder)
	}
	return false // the request asks
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
	return err == nil && file.IsRegular()
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
	dirs := []string{a.start}
	if a.has["folder"] {
		dirs = append(dirs, dir) // it may have gone there first
	}
	for _, a.dir = range dirs {
		if !a.inside(value) || a.inGit(value) {
			why := finding(approval.ReasonOutsideFolder, "%s writes %q, which is not known to be in the project", u.who, value)
			why.Allowed = a.allowedWrite(u)
			a.written = append(a.written, why)
			break
		}
	}
	a.dir = dir
}

// agents asks for a folder that is written or deleted as a whole, and in which
// agents, editors and git have what they start with.
func (a *arguments) agents(u use) {
	at := join(a.start, u.value)
	if a.above(path.Clean(at)) || a.above(a.real(at)) {
		a.find(approval.ReasonProtectedState, "%s changes %q, where files are from which programs start", u.who, u.value)
	}
}

// finish weighs what only all words together tell.
func (a *arguments) finish(p *profile) {
	if a.count < p.least && !a.has["alone"] && !a.has["given"] {
		a.find(approval.ReasonInlineCode, "%s reads its program from its input", p.name)
		a.readsInput(true)
		a.guarded = len(p.lists["guards"]) > 0
	}
	if len(p.lists["needs"]) > 0 && !a.has["needs"] && !a.has["alone"] {
		a.find(approval.ReasonWritesFile, "%s may write files without an option such as %s", p.name, p.lists["needs"][0])
	}
	if guards := p.lists["guards"]; !a.has["alone"] && slices.ContainsFunc(guards, func(o string) bool { return !a.has[o] }) && !a.asksTables() {
		a.find(approval.ReasonInlineCode, "%s may start programs that what it reads names: with %s it does not", p.name, strings.Join(guards, " and "))
		if a.plan.Folder.Holds(a.start) { // its program is in its words
			a.findings[len(a.findings)-1].Allowed = approval.AllowThisCode
			if len(a.named) > 1 && a.asksDatabase() && a.asksFile() { // a view of that file is all that could start something
				a.findings[len(a.findings)-1].Allowed = approval.AllowDatabaseReads
			}
		}
	}
	if len(p.lists["late"]) > 0 && !a.has["late"] && !a.has["alone"] {
		a.find(approval.ReasonWrapperUnclear, "%s waits before it starts its command, which may be another one by then; with %s it does not wait", p.name, p.lists["late"][0])
	}
	a.finishTelling(p)
	a.finishQuery(p)
	a.finishDuck(p)
	a.finishLast(p)
	a.finishRequest(p)
	a.finishDerived(p)
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
	if to.open != nil || err != nil || !folder.IsFolder() {
		return
	}
	_, err = a.look(join(a.start, path.Join(to.text, ".git")))
	root := err == nil || a.whole(folder.Path)
	for _, from := range a.ends[:n] {
		if a.spent() {
			return
		}
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
		if folder, err := a.look(at); err == nil && folder.IsFolder() && folder.Path == at {
			dirs[0] = at
		} else if err == nil && folder.IsFolder() {
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
	if err != nil || !file.IsFolder() {
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
			case a.spent() || err != nil || !a.plan.Folder.Holds(file.Path) || ofGit(file.Path):
				return false
			case file.IsFolder() && file.Path == at:
				folders = append(folders, at)
			case file.IsFolder():
				return false // a link to a folder, which may be above
			}
		}
		folders = folders[1:]
	}
	return true
}

// maxCopied bounds how many names are looked at in a folder that is there.
const maxCopied = 2000

// whole reports whether a path is the working directory or above it, up to all
// of the session's folder: what is done to that is done to the ground that the
// agent stands on.
func (a *arguments) whole(at string) bool { return within(a.plan.Cwd.Path, at) }

// emptied reports whether everything in the working directory, or in a folder
// above it, is deleted that a lone * stands for: that counts as the folder itself.
func (a *arguments) emptied() bool {
	var tried []string
	for _, name := range a.gone {
		if dir := path.Dir(name); dir == a.plan.Cwd.Path || a.whole(dir) && a.plan.Folder.Holds(dir) {
			if slices.Contains(tried, dir) {
				continue
			}
			if tried = append(tried, dir); a.empties(dir) {
				return true
			}
		}
	}
	return false
}

func (a *arguments) empties(root string) bool {
	gone := map[string]bool{}
	for _, name := range a.gone {
		gone[name] = true
	}
	names, err := a.list(root)
	left, folder := 0, false
	for _, name := range names {
		at := path.Join(root, name)
		file, err := a.look(at)
		switch {
		case strings.HasPrefix(name, "."), err != nil: // a pattern does not stand for these
		case !gone[at]:
			return false
		default:
			folder = folder || file.IsFolder()
			left++
		}
	}
	return err != nil || left > 1 || folder
}
