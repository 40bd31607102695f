package project

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
)

// Caps of what is read of a repository, in bytes.
const (
	maxLine   = 4 << 10
	maxConfig = 64 << 10
)

// isCheckout reports whether what is called .git in a folder makes it a checkout
// of this person: a repository, or a file that names one which points back.
func (v view) isCheckout(at string, git approval.File) bool {
	root, err := v.Look(at)
	if err != nil || root.Path != at || !v.mine(root) || !v.mine(git) || git.Path != path.Join(at, ".git") {
		return false // a link may lead to the repository of anybody
	}
	switch {
	case git.IsFolder():
		tree, told, ok := v.worktree(git.Path)
		return ok && v.isRepository(git.Path) && !v.there(path.Join(git.Path, "commondir")) && (!told || tree == at)
	case git.IsRegular():
		return v.pointsBack(at, git)
	}
	return false
}

// pointsBack reports whether the repository that a .git file names says in turn
// that it belongs to this folder: as a worktree of another checkout, or as a
// submodule does.
func (v view) pointsBack(at string, file approval.File) bool {
	to, ok := strings.CutPrefix(v.line(file), "gitdir: ")
	if !ok {
		return false
	}
	git, err := v.Look(from(at, to))
	if err != nil || !git.IsFolder() || !v.mine(git) {
		return false
	}
	tree, told, ok := v.worktree(git.Path)
	if !ok || told && tree != at {
		return false
	}
	common, err := v.Look(path.Join(git.Path, "commondir"))
	if err != nil {
		return told && v.isRepository(git.Path)
	}
	of, err := v.Look(from(git.Path, v.line(common)))
	if err != nil || !v.mine(of) || !v.mine(common) || path.Dir(git.Path) != path.Join(of.Path, "worktrees") || !v.isRepository(of.Path) || !v.hasHead(git.Path) {
		return false
	}
	back, err := v.Look(path.Join(git.Path, "gitdir"))
	if err != nil || back.Path != path.Join(git.Path, "gitdir") {
		return false
	}
	is, err := v.Look(from(git.Path, v.line(back)))
	return err == nil && is.Path == file.Path && is.Same(file)
}

// isRepository reports whether a folder is a repository by what is in it, as git
// finds one.
func (v view) isRepository(at string) bool {
	for _, name := range []string{"objects", "refs"} {
		if f, err := v.Look(path.Join(at, name)); err != nil || !f.IsFolder() {
			return false
		}
	}
	return v.hasHead(at)
}

var headLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(ref: *refs/\S+|[0-9a-f]{40}|[0-9a-f]{64})$`) })

func (v view) hasHead(at string) bool {
	head, err := v.Look(path.Join(at, "HEAD"))
	return err == nil && head.Path == path.Join(at, "HEAD") && headLine().MatchString(v.line(head))
}

func (v view) there(at string) bool {
	_, err := v.Look(at)
	return err == nil
}

// line returns the one line that a small file holds, "" where it holds something
// else.
func (v view) line(file approval.File) string {
	if !file.IsRegular() || file.Size > maxLine {
		return ""
	}
	text, err := v.Head(file, maxLine)
	if err != nil {
		return ""
	}
	line := strings.TrimRight(string(text), "\r\n")
	if strings.ContainsAny(line, "\n\r\x00") {
		return ""
	}
	return line
}

// from is a path that a file in dir names. What is in it is left to the kernel:
// links are followed before "..".
func from(dir, name string) string {
	if path.IsAbs(name) || name == "" {
		return name
	}
	return dir + "/" + name
}

// worktree returns the real folder that the settings of a repository say it
// belongs to; told is false where they say none, and ok where that cannot be
// read.
func (v view) worktree(git string) (tree string, told, ok bool) {
	for _, name := range []string{"config", "config.worktree"} {
		file, err := v.Look(path.Join(git, name))
		if err != nil {
			continue
		}
		if !file.IsRegular() || file.Size > maxConfig {
			return "", false, false
		}
		text, err := v.Head(file, maxConfig)
		if err != nil {
			return "", false, false
		}
		to, said, plain := coreWorktree(string(text))
		switch {
		case !plain:
			return "", false, false
		case !said:
			continue
		}
		folder, err := v.Look(from(git, to))
		if err != nil {
			return "", false, false
		}
		tree, told = folder.Path, true
	}
	return tree, told, true
}

// sectionLine and keyLine are the lines of settings of git that are read here, beside
// empty ones and comments.
var (
	sectionLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\[[ \t]*([A-Za-z0-9.-]+)([ \t]+"(?:[^"\\]|\\.)*")?[ \t]*\](.*)$`)
	})
	keyLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=(.*))?$`) })
)

// coreWorktree reads core.worktree in settings of git. plain is false where a line
// is written in a way that is not read here: git may read it as one that counts.
func coreWorktree(text string) (value string, said, plain bool) {
	section, in := "", false
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasSuffix(line, `\`) {
			return "", false, false // the next line belongs to it
		}
		if m := sectionLine().FindStringSubmatch(line); m != nil {
			section, in, line = strings.ToLower(m[1]+m[2]), true, strings.TrimSpace(m[3])
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key := keyLine().FindStringSubmatch(line)
		if key == nil || !in {
			return "", false, false
		}
		if section != "core" || !strings.EqualFold(key[1], "worktree") {
			continue
		}
		to := strings.TrimSpace(key[2])
		if to == "" || strings.ContainsAny(to, "\"\\;#") {
			return "", false, false
		}
		value, said = to, true
	}
	return value, said, true
}
