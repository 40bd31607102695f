package command

import (
	"slices"
	"strings"
)

// findWalk: what find finds is told to a program that shows what is in it.
func findWalk(r walker) *walk {
	read := r.read
	if !r.tells(read) || r.passesOn == 0 && !strings.Contains(strings.Join(r.seg.Argv, " "), "{}") {
		return nil
	}
	if read == nil {
		return everyWalk(r)
	}
	at := findRoots(read.said)
	w := &walk{roots: texts(read.said[:at]), here: true, hidden: true, links: true, raw: true, without: "-not -name '%s'"}
	w.only, w.not = findTests(read.said[at:])
	return w
}

// findRoots returns how many words stand before the tests of find: its folders, and
// options.
func findRoots(list []said) int {
	at := slices.IndexFunc(list, func(s said) bool {
		return s.option != "" && !slices.Contains(findFirst, s.option) || s.option == "" && strings.Trim(s.value.text, "(!,)") == "" && s.value.open == nil
	})
	if at < 0 {
		return len(list)
	}
	return at
}

// findFirst are the options of find that stand before the folders.
var findFirst = []string{"-H", "-L", "-P", "-E", "-X", "-d", "-s", "-x"}

// findActs are the words of find at which it does something.
var findActs = expression(`^-(exec|ok|print|ls|fprint|fls|delete|quit)`)

// findTests returns the patterns of names that find acts on, and those that it
// leaves out: as far as they stand before the first action, in a part between -o
// that acts. Where no part acts, find prints what any of them holds for.
func findTests(list []said) (only []string, not []leaving) {
	if slices.ContainsFunc(list, func(s said) bool { return s.option == "" && (s.value.open != nil || s.value.text != "!") }) {
		return nil, nil // with ( and , parts stand in parts
	}
	var parts [][]said
	part := []said{}
	for _, s := range list {
		if s.option == "-o" || s.option == "-or" {
			parts, part = append(parts, part), nil
		} else {
			part = append(part, s)
		}
	}
	parts = append(parts, part)
	action := func(s said) bool { return findActs().MatchString(s.option) }
	if acted := slices.ContainsFunc(list, action); acted {
		parts = slices.DeleteFunc(parts, func(part []said) bool { return !slices.ContainsFunc(part, action) })
	}
	for _, part := range parts {
		names := len(only)
		for i, s := range part {
			turned := i > 0 && negates(part[i-1])
			known := s.value.open == nil
			switch {
			case turned && i > 1 && negates(part[i-2]):
				return nil, nil
			case !known:
			case turned && len(parts) == 1 && (s.option == "-name" || s.option == "-iname"):
				not = append(not, leaving{pattern: s.value.text, files: true})
			case turned && len(parts) == 1 && s.option == "-path":
				not = append(not, leaving{pattern: s.value.text, files: true, whole: true})
			case !turned && (s.option == "-name" || s.option == "-iname"):
				only = append(only, s.value.text)
			}
			if action(s) {
				break
			}
		}
		if len(only) == names {
			return nil, not
		}
	}
	return only, not
}

func fdWalk(r walker) *walk {
	if !r.tells(r.read) {
		return nil
	}
	read := r.read
	if read == nil {
		return everyWalk(r)
	}
	w := &walk{here: true, links: true, without: "-E '%s'"}
	w.hidden, w.ignores = read.gave("-H", "--hidden", "-u", "--unrestricted"), !read.gave("-I", "--no-ignore", "-u", "--unrestricted", "--no-ignore-vcs", "--no-ignore-parent", "--no-global-ignore-file", "--ignore-file")
	for _, pattern := range read.given("-E", "--exclude") {
		w.not = append(w.not, top(pattern)...)
	}
	for _, end := range read.patterns("-e", "--extension") {
		w.only = append(w.only, "*."+strings.TrimPrefix(end, "."))
	}
	if pattern := read.operandsBehind(0); len(pattern) > 0 && read.gave("-g", "--glob") && !read.gave("--regex", "-F", "--fixed-strings", "-p", "--full-path") {
		w.only = append(w.only, pattern[0])
	}
	w.roots = append(read.operandsBehind(1), read.given("--search-path")...) // the first is a pattern
	return w
}
