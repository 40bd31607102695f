package command

import (
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// leaving is one pattern of what a program is told not to open.
type leaving struct {
	pattern string
	// files and folders tell for which of the two it counts; a folder that is left
	// out is not gone into.
	files, folders bool
	// whole tells that it stands for the path as the program calls it, and * for /,
	// too; else it stands for the name alone.
	whole bool
}

// leaves is a pattern that counts for files and folders alike.
func leaves(patterns ...string) (list []leaving) {
	for _, pattern := range patterns {
		list = append(list, leaving{pattern: pattern, files: true, folders: true})
	}
	return list
}

// hits reports whether a pattern leaves out a name, as all programs read it: one
// with other signs than * and ? leaves out nothing.
func (l leaving) hits(called string, folder bool) bool {
	if folder && !l.folders || !folder && !l.files || !plainPattern().MatchString(l.pattern) {
		return false
	}
	if l.whole {
		return across(l.pattern, called)
	}
	return matches([]string{l.pattern}, path.Base(called))
}

// across matches a pattern whose * stands for any letters.
func across(pattern, name string) bool {
	flat := strings.NewReplacer("/", "\x00")
	return matches([]string{flat.Replace(pattern)}, flat.Replace(name))
}

// plainPattern is one that every program reads alike.
var plainPattern = expression(`^[A-Za-z0-9_.*?+@~,=%/-]+$`)

// wanted reports whether a program may open a file, if it opens only what these
// patterns stand for, all if there are none. Capital letters count for small ones,
// and a pattern that not every program reads alike stands for all.
func wanted(patterns []string, at string) bool {
	name := strings.ToLower(path.Base(at))
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(pattern string) bool {
		list, ok := alternatives(pattern)
		if len(list) == 0 {
			list = []string{pattern}
		}
		return !ok || slices.ContainsFunc(list, func(one string) bool {
			return !plainPattern().MatchString(one) || strings.Contains(one, "/") || matches([]string{strings.ToLower(one)}, name)
		})
	})
}

// leftOut returns the words of a program that say what it does not open, as far as
// they say nothing else.
func leftOut(seg *approval.Segment, read *arguments) (out []string) {
	if read == nil {
		return nil
	}
	name := path.Base(seg.Program.Path)
	var others []string
	list := false // the words behind -x of zip
	for i, s := range read.said {
		text, is := s.value.text, false
		switch name {
		case "rg":
			is = (s.option == "-g" || s.option == "--glob" || s.option == "--iglob") && strings.HasPrefix(text, "!")
		case "fd", "fdfind":
			is = s.option == "-E" || s.option == "--exclude"
		case "git":
			is = s.option == "" && excludes(text) != ""
		case "zip":
			list = s.option == "-x" || list && s.option == ""
			is = list
		case "find", "gfind":
			is = (s.option == "-name" || s.option == "-iname") && i > 0 && negates(read.said[i-1])
		}
		if is && s.value.open == nil {
			out = append(out, text)
		} else {
			others = append(others, text)
		}
	}
	for _, word := range out { // the same where it is read once more
		out = append(out, strings.TrimPrefix(word, ":"), strings.TrimLeft(word, ":!^"))
	}
	return slices.DeleteFunc(out, func(word string) bool { return slices.Contains(others, word) })
}

// negates reports whether a word of find turns round what follows.
func negates(s said) bool { return s.option == "-not" || s.option == "" && s.value.text == "!" }

// excludes returns the pattern of a pathspec of git that leaves files out, or "".
func excludes(word string) string {
	for _, sign := range []string{":!", ":^", ":(exclude)"} {
		if pattern, is := strings.CutPrefix(word, sign); is {
			return pattern
		}
	}
	return ""
}
