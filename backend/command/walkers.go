package command

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
)

// walker is a program that may read folders as a whole: its words as they stand,
// and as its profile has read them, if it has one. Where the profile has found
// something, the program asks whatever the folders hold.
type walker struct {
	*job
	name string
	seg  *approval.Segment
	read *arguments
}

// walkers say by the name of a program which folders it reads as a whole; nil for
// none. What narrows a walk counts if it was surely said, what widens it if it may
// have been.
var walkers = sync.OnceValue(func() map[string]func(walker) *walk {
	return map[string]func(walker) *walk{
		"grep": grepWalk, "egrep": grepWalk, "fgrep": grepWalk, "ggrep": grepWalk, "zgrep": grepWalk,
		"rgrep": everyWalk, "ugrep": everyWalk, "ug": everyWalk, "ack": everyWalk, "ag": agWalk,
		"rg": rgWalk, "find": findWalk, "gfind": findWalk, "fd": fdWalk, "fdfind": fdWalk,
		"tar": tarWalk, "gtar": tarWalk, "bsdtar": tarWalk, "zip": zipWalk,
		"7z": sevenWalk, "7za": sevenWalk, "7zz": sevenWalk, "7zr": sevenWalk,
		"cp": copyWalk, "gcp": copyWalk, "scp": copyWalk, "ditto": copyWalk, "rsync": rsyncWalk,
		"diff": diffWalk, "colordiff": diffWalk, "git": gitWalk,
		"npm": packWalk, "pnpm": packWalk, "npm-cli.js": packWalk,
		"ls": listWalk, "gls": listWalk, "dir": listWalk, "vdir": listWalk, "tree": listWalk, "du": listWalk,
	}
})

// walking says which folders a program reads as a whole, nil for none.
func (j *job) walking(seg *approval.Segment, read *arguments) *walk {
	for _, called := range []string{seg.Program.Path, seg.Program.File.Path} {
		name := strings.ToLower(path.Base(called))
		if of := walkers()[name]; of != nil {
			return of(walker{j, name, seg, read})
		}
	}
	return nil
}

// exactly reads the words of a program that only reads by what is known of all its
// options; nil where one of them is not known.
func (r walker) exactly(name string) *arguments {
	a := newArguments(r.job, r.seg.Dir)
	words := operands(r.seg)
	for i, word := range words { // what it becomes is judged again before the start
		if word.open != nil && len(word.open.Maybe) > 0 && !slices.ContainsFunc(word.open.Maybe, func(value string) bool { return strings.HasPrefix(value, "-") }) {
			words[i].text = word.open.Maybe[0]
		}
	}
	a.read(readerProfiles().programs[name], words)
	if len(a.findings) > 0 {
		return nil
	}
	return a
}

// words are all words of a program, with the values that open ones may have.
func (r walker) words() []string {
	list := slices.Clone(r.seg.Argv[1:])
	for _, o := range r.seg.Open {
		list = append(list, o.Maybe...)
	}
	return list
}

// texts are operands, with the values that open ones may have.
func texts(list []said) (texts []string) {
	for _, s := range list {
		switch {
		case s.option != "":
		case s.value.open != nil:
			texts = append(texts, s.value.open.Maybe...)
		default:
			texts = append(texts, s.value.text)
		}
	}
	return texts
}

// operandsBehind are the operands behind the first n of them.
func (a *arguments) operandsBehind(n int) []string {
	list := slices.DeleteFunc(slices.Clone(a.said), func(s said) bool { return s.option != "" })
	return texts(list[min(n, len(list)):])
}

// everyWalk is a program of which no more is known: each word may be a folder, and
// it reads all that is in it, or else in the one where it runs.
func everyWalk(r walker) *walk {
	return &walk{roots: r.words(), any: true, here: true, hidden: true, links: true}
}

// patterns returns the values of options that tell what a program opens; none,
// which is all, if it may have been told more.
func (a *arguments) patterns(options ...string) []string {
	values, n := a.given(options...), 0
	for _, s := range a.said {
		if s.may(options) {
			n++
		}
	}
	if n > len(values) {
		return nil
	}
	return values
}

func tarWalk(r walker) *walk {
	read := r.read
	if read == nil {
		return everyWalk(r)
	}
	if !read.gave("-c", "--create") || read.gave("-t", "--list") {
		return nil
	}
	w := &walk{hidden: true, links: read.gave("-h", "--dereference"), without: "--exclude='%s'"}
	for _, s := range read.said {
		if s.option == "" || read.gave("--anchored", "--no-anchored", "--no-wildcards", "--wildcards", "--ignore-case") {
			break // it counts for what follows it
		}
		if s.option != "--exclude" || s.value.open != nil {
			continue
		}
		if name, is := strings.CutPrefix(s.value.text, "./"); is && !strings.Contains(name, "/") {
			w.not = append(w.not, leaving{pattern: name, files: true, folders: true, whole: true})
		} else if !strings.Contains(name, "/") {
			w.not = append(w.not, leaves(name)...)
		}
	}
	dir, moves := r.seg.Dir, read.gave("-C", "--directory") // each is from where the one before it led
	for _, s := range read.said {
		switch {
		case s.may([]string{"-C", "--directory"}):
			dir = join(dir, s.value.text)
		case s.option == "" && moves:
			for _, name := range texts([]said{s}) {
				w.roots = append(w.roots, join(dir, name))
			}
		default:
			w.roots = append(w.roots, texts([]said{s})...)
		}
	}
	return w
}

func zipWalk(r walker) *walk {
	read := r.read
	if read == nil || !read.gave("-r", "-R", "--recurse-paths") {
		return nil
	}
	w := &walk{roots: read.operandsBehind(1), hidden: true, links: !read.gave("-y"), without: "-x '*%s'"}
	list := false
	for _, s := range read.said {
		if list = s.option == "-x" || list && s.option == ""; list && s.value.open == nil && !read.gave("-j") {
			w.not = append(w.not, leaving{pattern: s.value.text, files: true, whole: true})
		}
	}
	return w
}

func sevenWalk(r walker) *walk {
	if r.read == nil || r.read.sub != "7z a" && r.read.sub != "7z u" {
		return nil
	}
	return &walk{roots: r.read.operandsBehind(1), here: len(r.read.operandsBehind(0)) < 2, hidden: true, links: true}
}

func copyWalk(r walker) *walk {
	if r.read == nil {
		return everyWalk(r)
	}
	list := r.read.operandsBehind(0)
	if len(list) < 2 || r.name != "ditto" && !r.read.gave("-r", "-R", "-a", "--recursive", "--archive") {
		return nil
	}
	// BSD's -r follows links.
	return &walk{roots: list[:len(list)-1], hidden: true, links: r.read.gave("-r", "-L", "-H", "--dereference")}
}

func rsyncWalk(r walker) *walk {
	w := copyWalk(r)
	if w == nil || r.read == nil {
		return w
	}
	w.links, w.without = r.read.gave("-L", "-k", "-K", "--copy-links", "--copy-dirlinks"), "--exclude='%s'"
	if !r.read.gave("-f", "-F", "--include", "--include-from", "--filter", "--files-from") && !slices.ContainsFunc(r.read.said, func(s said) bool { return strings.HasPrefix(s.option, "--exclude-") }) { // the first that means a file counts
		for _, pattern := range r.read.patterns("--exclude") {
			if voids().MatchString(pattern) {
				w.not = nil
				break
			}
			w.not = append(w.not, top(strings.TrimSuffix(pattern, "/"))...)
		}
	}
	return w
}

// voids is a value of rsync's --exclude that ends all others, or includes.
var voids = expression(`^(!|\+ )`)

// diffWalk: of two folders, diff reads the files in them, and with -r all.
func diffWalk(r walker) *walk {
	said := r.exactly("diff")
	if said == nil {
		w := everyWalk(r)
		w.here = false
		return w
	}
	return &walk{roots: said.operandsBehind(0), hidden: true, links: true, flat: !said.gave("-r", "--recursive"), not: leaves(said.given("-x", "--exclude")...), without: "--exclude='%s'"}
}

// listWalk: what is listed is given to a program that reads it.
func listWalk(r walker) *walk {
	if r.passesOn == 0 {
		return nil
	}
	w := everyWalk(r)
	recursive := strings.HasPrefix(r.name, "t") || strings.HasPrefix(r.name, "du")
	w.flat = !recursive && !slices.ContainsFunc(r.seg.Argv[1:], func(word string) bool { return mayBe(word, "-R") || mayBe(word, "--recursive") })
	w.hidden = slices.ContainsFunc(r.seg.Argv[1:], func(word string) bool {
		return slices.ContainsFunc([]string{"-a", "-A", "-f", "--all", "--almost-all"}, func(option string) bool { return mayBe(word, option) })
	})
	w.links = false
	return w
}

// operandsOf returns the operands of a program that has a profile, and else all
// words that are no options.
func operandsOf(read *arguments, words []string) (list []string) {
	if read == nil {
		return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return strings.HasPrefix(word, "-") })
	}
	for _, word := range read.named {
		if word.open == nil {
			list = append(list, word.text)
		}
	}
	return list
}
