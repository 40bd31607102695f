package command

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/protected"
)

// What git once stored it shows again by other names: of an index, of a commit, of a
// stash. So a file with secrets asks when it is stored.

// maxStored bounds how many such files are passed by that git would not store.
const maxStored = 16

// stores marks a command of git that would store files with secrets which git does
// not know yet.
func (j *job) stores(seg *approval.Segment, read *arguments) {
	if read == nil || path.Base(seg.Program.Path) != "git" {
		return
	}
	forced, whole := read.gave("-f", "--force"), read.gave("-A", "--all", "--no-ignore-removal")
	switch read.sub {
	case "git add":
		if len(read.given("-n", "--dry-run")) > 0 || len(read.given("-u", "--update")) > 0 && !whole {
			return
		}
	case "git stash", "git stash push", "git stash save":
		forced, whole = read.gave("-a", "--all"), true
		for _, word := range read.named {
			if at := path.Clean(join(read.dir, word.text)); read.sub != "git stash save" && (j.kinds(at, j.look).Has(protected.Startup) || at != j.plan.Folder.Path && j.above(at)) {
				j.takesAway(seg, word.text)
				return
			}
		}
		if !forced && !read.gave("-u", "--include-untracked") {
			return
		}
	default:
		return
	}
	roots, stash := []string{}, strings.HasPrefix(read.sub, "git stash")
	for _, word := range read.named {
		if read.sub == "git stash save" {
			break // it is a message
		}
		if aims(word.text) {
			j.storing(seg, word.text)
			return
		}
		roots = append(roots, word.text)
	}
	dir := j.real(read.dir)
	if dir == "" {
		return // the request asks
	}
	top, ok := j.checkoutOf(dir)
	if !ok {
		top = dir
	}
	if len(roots) == 0 && whole { // of the whole tree, wherever it runs
		roots = []string{top}
	}
	for _, root := range roots {
		at, within := path.Clean(join(dir, root)), []string(nil)
		if strings.ContainsAny(root, `*?[\:`) { // in which * stands for / too, and which may mean a folder
			rel, inside := strings.CutPrefix(at, strings.TrimSuffix(top, "/")+"/")
			if at = top; inside && !strings.Contains(root, ":") && !read.gave("--icase-pathspecs") {
				within = []string{rel + "*"}
			}
		}
		folder, err := j.look(at)
		seg.Stores = seg.Stores || !forced && (err != nil || folder.IsFolder())
		if stash {
			if found := j.strays(at, top, forced); found != "" {
				j.takesAway(seg, found)
				return
			}
		}
		if found := j.stored(at, &walk{hidden: true, ignores: !forced, not: []leaving{{pattern: ".git", folders: true}}, within: within}, forced); found != "" {
			j.storing(seg, found)
			return
		}
	}
}

func (j *job) storing(seg *approval.Segment, name string) {
	seg.Findings = append(seg.Findings, finding(approval.ReasonProtectedState, "git stores %s, a file with secrets, and shows it by another name then", name))
}

func (j *job) takesAway(seg *approval.Segment, name string) {
	seg.Findings = append(seg.Findings, finding(approval.ReasonProtectedState, "git takes %s away, from which programs start", name))
}

// strays returns a file in a folder from which programs start and that git does not
// know, or ignores unless all is taken, or "".
func (j *job) strays(at, top string, all bool) string {
	known, _ := j.tracked(top)
	found, err := j.guards(at, func(sub string) bool {
		rel := strings.TrimPrefix(path.Join(at, sub), strings.TrimSuffix(top, "/")+"/")
		return !slices.ContainsFunc(known, func(name string) bool { return within(name, rel) }) && (all || j.leftOutBy(path.Join(top, rel), top) == "")
	})
	if err != nil {
		return at
	}
	return found
}

// stored returns a file with secrets in a folder that git would store, or "".
func (j *job) stored(at string, w *walk, forced bool) (found string) {
	folder, err := j.look(at)
	if err != nil || !folder.IsFolder() {
		return "" // what is named is judged by its name
	}
	known, _ := j.tracked(folder.Path)
	if at := path.Join(folder.Path, ".gitignore"); w.ignores {
		file, err := j.look(at)
		w.ignores = err == nil && file.Path == at
	}
	for range maxStored {
		found, _ = j.secretIn(folder.Path, ".", w)
		out := found
		if found != "" && !slices.Contains(known, found) {
			if out = strings.TrimPrefix(j.leftOutBy(path.Join(folder.Path, found), folder.Path), folder.Path+"/"); forced {
				out = ""
			}
		}
		if out == "" {
			return found
		}
		w.not = append(w.not, leaving{pattern: out, files: true, folders: true, whole: true})
	}
	return found
}

// leftOutBy returns the path or the folder above it, up to one below top, that git
// ignores by the files in the folders above, or "".
func (j *job) leftOutBy(at, top string) string {
	for one := at; one != top && len(one) > 1; one = path.Dir(one) {
		if j.gitIgnores(one) {
			return one
		}
	}
	return ""
}

// gitIgnores reports whether a .gitignore above a path surely makes git ignore it: of
// the lines that mean it the last one counts, and the nearest file. A line that is not
// understood takes back what it may.
func (j *job) gitIgnores(at string) bool {
	for dir := path.Dir(at); !j.spent(); dir = path.Dir(dir) {
		file, err := j.look(path.Join(dir, ".gitignore"))
		if err == nil && file.Path == path.Join(dir, ".gitignore") { // git follows no link here
			text, err := j.World.Head(file, maxIgnore+1)
			if err != nil || len(text) > maxIgnore || !j.bytes(len(text)) || bytes.IndexByte(text, 0) >= 0 {
				return false
			}
			said, ignored := false, false
			for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
				line, back := strings.CutPrefix(strings.TrimRight(line, " \r\n"), "!")
				place, folder := strings.CutSuffix(line, "/")
				odd := strings.ContainsAny(place, `\[`) || strings.Contains(strings.TrimPrefix(place, "**/"), "**")
				name := strings.TrimPrefix(at, strings.TrimSuffix(dir, "/")+"/")
				if !strings.Contains(strings.TrimPrefix(place, "**/"), "/") {
					place, name = strings.TrimPrefix(place, "**/"), path.Base(at)
				}
				if back { // a disk may not tell small letters from capital ones
					place, name = strings.ToLower(place), strings.ToLower(name)
				}
				means, _ := path.Match(strings.TrimPrefix(place, "/"), name)
				switch {
				case place == "" || place[0] == '#':
				case back && (odd || strings.Contains(place, "**")):
					return false
				case !odd && means && !(folder && !j.isFolder(at)):
					said, ignored = true, !back
				}
			}
			if said {
				return ignored
			}
		}
		if _, err := j.look(path.Join(dir, ".git")); err == nil || dir == "/" || dir == "." {
			return false
		}
	}
	return false
}
