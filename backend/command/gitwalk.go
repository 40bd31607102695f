package command

import (
	"path"
	"slices"
	"strings"
)

func gitWalk(r walker) *walk {
	read := r.read
	if read == nil {
		return nil
	}
	w := &walk{hidden: true, here: true, without: "-- ':!*%s'"}
	behind := 0
	switch read.sub {
	case "git grep":
		w.tracked, w.ignores = !read.gave("--no-index", "--untracked", "--recurse-submodules"), read.gave("--untracked")
		if behind = 1; read.has["given"] {
			behind = 0
		}
	case "git ls-files":
		if r.passesOn == 0 {
			return nil
		}
		w.tracked = !read.gave("-o", "-i", "-k", "--others", "--ignored", "--killed", "--recurse-submodules")
	case "git diff":
		list := read.operandsBehind(0)
		_, inside := r.checkoutOf(read.dir)
		apart := slices.ContainsFunc(list, func(name string) bool { // it compares files then, whatever git knows
			file, err := r.look(join(read.dir, name))
			return err == nil && (!inside || !r.plan.Folder.Holds(file.Path))
		})
		if !read.gave("--no-index") && !apart {
			return nil
		}
		return &walk{roots: list, hidden: true, links: true}
	default:
		return nil
	}
	said := slices.DeleteFunc(slices.Clone(read.said), func(s said) bool { return s.option != "" && s.option != "--" })
	ended := false
	for _, s := range said {
		if s.option == "--" {
			ended = true
			continue
		}
		if behind > 0 {
			behind--
			continue
		}
		text := s.value.text
		switch not := excludes(text); {
		case s.value.open != nil, strings.Contains(text, ".."), strings.HasPrefix(text, ":") && not == "", path.IsAbs(text):
			w.whole = true
		case not != "":
			w.not = append(w.not, leaving{pattern: not, files: true, whole: true})
			if !strings.ContainsAny(not, "*?") {
				w.not = append(w.not, leaving{pattern: strings.TrimSuffix(not, "/") + "/*", files: true, whole: true})
			}
		case ended:
			w.within = append(w.within, strings.TrimSuffix(text, "/"))
		}
	}
	return w
}
