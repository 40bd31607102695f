package command

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/protected"
)

// maxWalked bounds how many names are looked at in a folder that a program reads as
// a whole, and maxWalks those of one analysis.
const (
	maxWalked = 20_000
	maxWalks  = 60_000
)

// walk is a program that reads all files of folders.
type walk struct {
	roots []string // the folders, as the words name them
	any   bool     // these are all its words, of which each may be one, or none
	here  bool     // without one it reads the folder where it runs
	// hidden tells that it opens hidden files, links that it follows links, ignores
	// that it leaves out what .gitignore names, and flat that it looks at no folder in
	// the folder.
	hidden, links, ignores, flat bool
	// tracked tells that it opens what git knows, and nothing else; whole that it may
	// open what lies above the folder, to the checkout's root.
	tracked, whole bool
	only           []string  // patterns of names that it opens, all if there are none
	within         []string  // paths of git that it opens, all if there are none
	not            []leaving // what it does not open
	raw            bool      // it calls files by the folder as it is written: ./a
	without        string    // how it is told to leave a name out, with a %s in it
}

// opens marks a program that reads whole folders, where it would open a file with
// secrets in them, or where nobody can tell.
func (j *job) opens(seg *approval.Segment, read *arguments) {
	w := j.walking(seg, read)
	if w == nil {
		return
	}
	seg.Walks = true
	dir := seg.Dir
	if read != nil && read.dir != "" {
		dir = read.dir
	}
	options := slices.ContainsFunc(seg.Argv[1:], func(word string) bool { return strings.HasPrefix(word, "-") }) // of which one may take a folder for its value
	roots, named := map[string]string{}, false
	for _, name := range w.roots {
		file, err := j.look(join(dir, name))
		named = named || err == nil
		if err == nil && file.IsFolder() {
			roots[name] = file.Path
		}
	}
	if w.here && (len(w.roots) == 0 || w.any && (!named || options)) || w.whole {
		if file, err := j.look(dir); err == nil && file.IsFolder() {
			roots["."] = file.Path
		}
	}
	if top, ok := j.checkoutOf(roots["."]); w.whole && ok {
		roots, w.within, w.not = map[string]string{".": top}, nil, nil
	}
	name := path.Base(seg.Argv[0])
	for _, as := range slices.Sorted(maps.Keys(roots)) {
		found, whole := j.secretIn(roots[as], as, w)
		last := path.Base(found)
		switch {
		case found != "" && w.without != "" && plainPattern().MatchString(last) && !strings.ContainsAny(last, "*?"):
			seg.Findings = append(seg.Findings, finding(approval.ReasonProtectedState, "%s opens %s, a file with secrets; without it: %s", name, found, strings.ReplaceAll(w.without, "%s", last)))
			return
		case found != "":
			seg.Findings = append(seg.Findings, finding(approval.ReasonProtectedState, "%s opens %s, a file with secrets", name, found))
			return
		case whole:
		case j.walked <= maxWalks && j.plan.Folder.Holds(roots[as]):
			if !slices.Contains(seg.Effects, approval.EffectUnseen) {
				seg.Effects = append(seg.Effects, approval.EffectUnseen)
				slices.Sort(seg.Effects)
			}
		default:
			seg.Findings = append(seg.Findings, finding(approval.ReasonProtectedState, "%s goes through %s, where more than %d names are, and may open files with secrets", name, roots[as], maxWalked))
			return
		}
	}
}

// leavesOut reports whether a program does not open what is called so.
func (w *walk) leavesOut(called string, folder bool) bool {
	return slices.ContainsFunc(w.not, func(l leaving) bool { return l.hits(called, folder) })
}

// wants reports whether a program may open a file that is called so.
func (w *walk) wants(called string) bool {
	return wanted(w.only, called) && (len(w.within) == 0 || slices.ContainsFunc(w.within, func(at string) bool {
		return !plainPattern().MatchString(at) || at == "." || within(called, path.Clean(at)) || across(at, called)
	}))
}

// secretIn returns a file with secrets in a folder that a program would open, as
// it is called from there, or "". as is what the program calls the folder. whole
// tells that all names were looked at.
func (j *job) secretIn(root, as string, w *walk) (found string, whole bool) {
	called := func(at string) string {
		begin := strings.TrimSuffix(as, "/")
		plain := strings.TrimPrefix(begin, "./")
		if w.raw || begin != "." && (plain == "." || path.Clean(plain) != plain) {
			return begin + "/" + at // as it is written, and patterns do not look through that
		}
		return path.Join(as, at)
	}
	count := 0
	walk := func() bool { count++; return j.walk() && count <= maxWalked }
	if w.tracked {
		if names, ok := j.tracked(root); ok {
			for _, name := range names {
				if !walk() {
					return "", false
				}
				if at := called(name); w.wants(at) && !w.leavesOut(at, false) && (protected.Of(path.Join(root, name), j.Home).Has(protected.Secret|protected.Private) || j.splitsInto(name, root)) {
					return name, true
				}
			}
			return "", true
		}
	}
	ignored := func(string, bool) bool { return false }
	if w.ignores && j.mayIgnore(root) {
		ignored = j.ignored(root)
	}
	var taken []string            // folders in which what is ignored may be taken back
	followed := map[string]bool{} // folders that links lead to
	narrow := !w.hidden || w.ignores || len(w.not) > 0
	folders := []string{""}
	for len(folders) > 0 {
		rel := folders[len(folders)-1]
		folders = folders[:len(folders)-1]
		folder := path.Join(root, rel)
		names, err := j.World.List(folder)
		if err != nil {
			continue
		}
		in := protected.In(folder, j.Home)
		slices.Sort(names)
		if w.ignores && (j.takesBack(folder, names) || rel != "" && slices.Contains(names, ".git")) { // another checkout
			taken = append(taken, folder)
		}
		for _, name := range names {
			if !walk() {
				return "", false
			}
			at, sub := path.Join(rel, name), path.Join(folder, name)
			if !w.hidden && strings.HasPrefix(name, ".") {
				continue
			}
			file, err := j.World.Look(sub)
			isFolder := err == nil && file.IsFolder() && file.Path == sub // and no link to one
			if ignored(at, isFolder) && !slices.ContainsFunc(taken, func(dir string) bool { return within(folder, dir) }) || w.leavesOut(called(at), isFolder) {
				continue
			}
			if j.splitsInto(at, root) {
				return at, true
			}
			opened := w.wants(called(at))
			if opened && err == nil && !isFolder && ofSettings().MatchString(sub) && j.holdsSecret(file) {
				return at, true
			}
			if opened && in.Of(name).Has(protected.Secret|protected.Private) {
				if !isFolder || protected.OfFolder(sub, j.Home).Has(protected.Secret|protected.Private) {
					return at, true
				}
			}
			if w.links && err == nil && file.Path != sub {
				if j.kinds(file.Path, j.look).Has(protected.Secret|protected.Private) && opened || j.ofOurs(file.Path, true) {
					return at, true
				}
				if file.IsFolder() && !within(file.Path, root) {
					return at, true // a folder that nobody looked at
				}
				if file.IsFolder() && narrow && !w.flat && !followed[file.Path] { // it may be left out where it is
					followed[file.Path] = true
					folders = append(folders, at)
				}
				continue
			}
			if !w.flat && isFolder {
				folders = append(folders, at)
			}
		}
	}
	return "", true
}

// isFolder reports whether a folder, and no link to one, is at a path.
func (j *job) isFolder(at string) bool {
	file, err := j.World.Look(at)
	return err == nil && file.IsFolder() && file.Path == at
}

// tells reports whether what find finds is told to a program that shows what is
// in it.
func (j *job) tells(read *arguments) bool {
	if j.passesOn > 0 || read == nil {
		return true
	}
	return slices.ContainsFunc(read.commands, func(one inner) bool {
		var argv []string
		for _, word := range one.words {
			argv = append(argv, word.text)
		}
		return !tellsOnly(argv) && !isFinder(path.Base(argv[0]))
	})
}
