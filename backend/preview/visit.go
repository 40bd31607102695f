package preview

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// What one look goes through at most.
const (
	maxTargets = 200
	maxFiles   = 20_000
	maxDepth   = 100
	maxName    = 4096
	batch      = 256 // names of a folder that are read at once
)

// visit is one look at the disk.
type visit struct {
	end    time.Time
	gaveUp Reason
	files  int
	hashed int64
	// items are the files of which git is asked, by the folder of their
	// repository and the name that git has for them.
	items map[string]map[string][]item
	roots map[string]string // of repositories, by folder; "" for none
}

// item is a file that a target is or holds.
type item struct {
	target *Target
	info   fs.FileInfo
	path   string
}

// late reports whether the time is over, which is said before anything else.
func (v *visit) late() bool {
	if !time.Now().Before(v.end) {
		v.gaveUp = GaveUpTime
	}
	return v.gaveUp == GaveUpTime
}

// over reports whether no more files are to be looked at.
func (v *visit) over() bool { return v.late() || v.gaveUp == GaveUpMany }

// fail notes that something was there and could not be read.
func (v *visit) fail() {
	if v.gaveUp == "" {
		v.gaveUp = GaveUpUnreadable
	}
}

func (v *visit) look(targets []Target) {
	v.items, v.roots = map[string]map[string][]item{}, map[string]string{}
	for i := range targets {
		if i == maxTargets && !v.over() {
			v.gaveUp = GaveUpMany
		}
		if v.over() {
			break
		}
		v.target(&targets[i])
	}
	for root, items := range v.items {
		if v.late() {
			return
		}
		v.ask(root, items)
	}
}

// target looks at one of them.
func (v *visit) target(t *Target) {
	if len(t.Path) > maxName || !filepath.IsAbs(t.Path) {
		v.fail()
		return
	}
	follows := t.Op == approval.TargetWrites || t.Op == approval.TargetChanges
	t.Path = place(t.Path, follows)
	info, err := os.Lstat(t.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.Kind = Nothing
		return
	case err != nil:
		v.fail()
		return
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		t.Kind = Folder
		if t.Op == approval.TargetDeletes {
			v.walk(t, t.Path, v.rootOf(filepath.Dir(t.Path)), 0)
		}
		return
	case mode.IsRegular():
		t.Kind, t.Size = File, info.Size()
	case mode&fs.ModeSymlink != 0:
		t.Kind = Link
	default:
		t.Kind = Other
		return
	}
	t.Files = 1
	v.git(item{t, info, t.Path}, v.rootOf(filepath.Dir(t.Path)))
}

// place follows the links of a path: those of its folder, and its own if what
// is done to it goes through that.
func place(name string, follows bool) string {
	if name = strings.TrimRight(name, "/"); name == "" {
		return "/"
	}
	base := filepath.Base(name)
	if follows || base == "." || base == ".." {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			return real
		}
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		return filepath.Join(dir, base)
	}
	return filepath.Clean(name)
}

// walk counts what is below a folder that is deleted. Links are not followed,
// and root is that of the repository that knows the folder.
func (v *visit) walk(t *Target, dir, root string, depth int) {
	if depth == maxDepth {
		v.gaveUp = GaveUpMany
	}
	if v.over() {
		t.Partly = true
		return
	}
	f, err := openFolder(dir)
	if err != nil {
		t.Partly = true
		v.fail()
		return
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(batch)
		for _, e := range entries {
			if v.files++; v.files > maxFiles {
				v.gaveUp = GaveUpMany
			}
			if v.over() {
				t.Partly = true
				return
			}
			v.entry(t, filepath.Join(dir, e.Name()), e, root, depth)
		}
		switch {
		case errors.Is(err, io.EOF) || err == nil && len(entries) == 0:
			return
		case err != nil:
			t.Partly = true
			v.fail()
			return
		}
	}
}

// entry counts one name in such a folder.
func (v *visit) entry(t *Target, name string, e fs.DirEntry, root string, depth int) {
	if e.Name() == ".git" {
		t.Repos++
	}
	if e.IsDir() {
		v.walk(t, name, root, depth+1)
		return
	}
	info, err := e.Info()
	if err != nil {
		t.Partly = true // it went away meanwhile
		v.fail()
		return
	}
	t.Files++
	if info.Mode().IsRegular() {
		t.Size += info.Size()
	}
	v.git(item{t, info, name}, root)
}

// git puts a file among those of which the repository is asked.
func (v *visit) git(it item, root string) {
	name, ok := strings.CutPrefix(it.path, strings.TrimSuffix(root, "/")+"/")
	if root == "" || !ok {
		return
	}
	if v.items[root] == nil {
		v.items[root] = map[string][]item{}
	}
	name = filepath.ToSlash(name)
	v.items[root][name] = append(v.items[root][name], it)
}

// rootOf finds the folder of the repository that a folder lies in.
func (v *visit) rootOf(dir string) string {
	start := dir
	root, known := v.roots[start]
	for n := 0; !known && n < maxDepth; n++ {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			root = dir
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	v.roots[start] = root
	return root
}
