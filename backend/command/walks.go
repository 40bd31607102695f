package command

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/gitindex"
	"github.com/countersign-app/countersign/backend/protected"
)

// maxWalked bounds how many names one analysis looks at in the folders that
// programs read as a whole.
const maxWalked = 20_000

// walk is a program that reads all files of folders.
type walk struct {
	roots []string // absolute
	// hidden tells that it opens hidden files, links that it follows links, and
	// ignores that it leaves out what .gitignore names.
	hidden, links, ignores bool
	// flat tells that it looks at no folder in the folder.
	flat bool
	// tracked tells that it opens what git knows, and nothing else.
	tracked   bool
	only, not []string // patterns of names that it opens, all if there are none, and of those that it does not
	paths     []string // patterns of paths that it does not open
	without   string   // how it is told to leave a name out, with a %s in it
}

// walking says which folders a program reads as a whole, nil for none.
func (j *job) walking(seg *approval.Segment, read *arguments, reader readerWords) *walk {
	name := strings.ToLower(path.Base(seg.Program.Path))
	words := seg.Argv[1:]
	w := &walk{}
	switch name {
	case "grep", "egrep", "fgrep", "ggrep", "zgrep", "ugrep":
		if !reader.walks && read == nil && !hasFlag(words, "rR", "--recursive", "--dereference-recursive", "--directories") {
			return nil
		}
		w.hidden, w.links, w.without = true, hasFlag(words, "RS", "--dereference-recursive"), "--exclude='%s'"
		w.only, w.not = valuesOf(words, "--include"), append(valuesOf(words, "--exclude"), valuesOf(words, "--exclude-dir")...)
		if len(w.only) > 0 || slices.Contains(words, "--include") {
			w.not = nil // of the two, the last that means a file counts
		}
		w.roots = grepOperands(name, words)
	case "rg", "ag", "ack":
		all := hasFlag(words, "u", "--no-ignore", "--unrestricted") || hasFlag(words, "I", "--no-ignore-vcs", "--no-ignore-dot", "--no-ignore-exclude", "--no-ignore-files", "--no-ignore-parent") && name != "rg"
		all = all || name == "rg" && slices.ContainsFunc(words, func(word string) bool {
			return strings.HasPrefix(word, "--no-ignore") && word != "--no-ignore-messages"
		})
		if name == "rg" && slices.Contains(words, "--files") {
			return nil // it lists them
		}
		letters := strings.Join(bundles(words), "")
		w.hidden = strings.Contains(letters, ".") || hasFlag(words, "", "--hidden") || strings.Count(letters, "u") > 1 || strings.Count(strings.Join(words, " "), "--unrestricted") > 1 || name == "ag" && hasFlag(words, "ua", "--unrestricted", "--all-types")
		w.ignores, w.links, w.without = !all, hasFlag(words, "L", "--follow"), "-g '!%s'"
		for _, glob := range append(valuesAfter(words, "-g", "--glob"), valuesAfter(words, "--iglob")...) {
			if not, is := strings.CutPrefix(glob, "!"); is {
				w.not = append(w.not, not)
			} else {
				w.only = append(w.only, glob)
			}
		}
		if len(w.only) > 0 {
			w.not = nil // the last that means a file counts
		}
		for _, kind := range valuesAfter(words, "-t", "--type") {
			if codeTypes()[kind] && !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "--type-add") }) {
				w.only = append(w.only, "*."+kind)
			} else {
				w.only = append(w.only, "*")
			}
		}
		w.roots = operandsOf(read, words)
		if len(w.roots) > 0 && (read == nil || !read.has["given"]) {
			w.roots = w.roots[1:] // the pattern
		}
	case "find", "gfind", "fd", "fdfind":
		if !j.tells(read) || j.passesOn == 0 && strings.HasSuffix(name, "find") && !strings.Contains(strings.Join(words, " "), "{}") {
			return nil
		}
		w.hidden, w.links, w.without = true, true, "-not -name '%s'"
		w.only, w.not = findNames(words)
		if name == "fd" || name == "fdfind" {
			w.hidden, w.ignores = hasFlag(words, "Hu", "--hidden", "--unrestricted"), !hasFlag(words, "Iu", "--no-ignore", "--unrestricted", "--no-ignore-vcs")
			w.without, w.not = "-E '%s'", append(w.not, valuesAfter(words, "-E", "--exclude")...)
			for _, end := range valuesAfter(words, "-e", "--extension") {
				w.only = append(w.only, "*."+strings.TrimPrefix(end, "."))
			}
		}
		w.roots = operandsOf(read, words)
	case "tar", "gtar", "bsdtar":
		if read == nil || !read.has["gathers"] || read.has["reads"] || read.has["needs"] && !slices.ContainsFunc(words[:1], func(word string) bool { return strings.Contains(word, "c") }) {
			return nil
		}
		w.hidden, w.links, w.without = true, hasFlag(words, "h", "--dereference"), "--exclude='%s'"
		if !hasFlag(words, "", "--anchored", "--no-wildcards", "--ignore-case") {
			w.not = valuesAfter(words, "--exclude")
		}
		w.roots = operandsOf(read, nil)
		if len(w.roots) == 0 {
			return nil
		}
	case "zip", "7z", "7za", "7zz", "7zr":
		if name == "zip" && !hasFlag(words, "rR", "--recurse-paths") {
			return nil
		}
		w.hidden, w.links, w.without = true, !hasFlag(words, "y"), "-x '%s'"
		if i := slices.Index(words, "-x"); i >= 0 {
			for _, pattern := range words[i+1:] {
				if strings.HasPrefix(pattern, "*") {
					w.not = append(w.not, pattern)
				}
			}
			w.paths = words[i+1:] // a pattern means a whole path there
		}
		if w.roots = operandsOf(read, words); len(w.roots) < 2 {
			return nil
		}
		w.roots = w.roots[1:]
	case "cp", "gcp", "rsync", "scp", "ditto":
		if !hasFlag(words, "rRa", "--recursive", "--archive") && name != "ditto" {
			return nil
		}
		w.hidden, w.links, w.without = true, hasFlag(words, "LH", "--dereference", "--copy-links"), "--exclude='%s'"
		if name == "cp" || name == "gcp" {
			w.without = ""
		}
		if name == "rsync" && !hasFlag(words, "fF", "--include", "--include-from", "--filter", "--files-from") { // the first that means a file counts
			w.not = valuesAfter(words, "--exclude")
		}
		if w.roots = operandsOf(read, words); len(w.roots) < 2 {
			return nil
		}
		w.roots = w.roots[:len(w.roots)-1]
	case "diff":
		if !reader.walks {
			return nil
		}
		w.hidden, w.links, w.without = true, true, "--exclude='%s'"
		w.not = append(valuesOf(words, "--exclude"), valuesAfter(words, "-x")...)
		w.roots = operandsOf(read, words)
	case "ls", "gls": // what it lists is given to a program that reads it
		if j.passesOn == 0 {
			return nil
		}
		w.hidden, w.flat, w.without = hasFlag(words, "aA", "--all", "--almost-all"), !hasFlag(words, "R", "--recursive"), "-I '%s'"
		w.not = append(valuesAfter(words, "-I"), valuesOf(words, "--ignore")...)
		w.roots = operandsOf(read, words)
	case "git":
		if len(words) > 0 && words[0] == "ls-files" && j.passesOn > 0 {
			w.tracked, w.hidden = !hasFlag(words, "oi", "--others", "--ignored"), true
			return w
		}
		if len(words) > 0 && words[0] == "diff" && slices.Contains(words, "--no-index") {
			w.hidden, w.links = true, true
			w.roots = operandsOf(read, nil)
			return w
		}
		if len(words) == 0 || words[0] != "grep" {
			return nil
		}
		w.hidden, w.without = true, "-- ':!%s'"
		w.tracked = !slices.Contains(words, "--no-index") && !slices.Contains(words, "--untracked")
		w.ignores = slices.Contains(words, "--untracked")
		for _, word := range words {
			if not, is := strings.CutPrefix(word, ":!"); is {
				w.not = append(w.not, not)
			}
		}
	default:
		return nil
	}
	return w
}

// tells reports whether what find finds is told to a program that shows what is
// in it.
func (j *job) tells(read *arguments) bool {
	if j.passesOn > 0 || read == nil {
		return true
	}
	return slices.ContainsFunc(read.commands, func(one inner) bool {
		name := path.Base(one.words[0].text)
		return !listers()[name] && name != "wc"
	})
}

// codeTypes are types of files that rg knows, of which none holds secrets.
var codeTypes = words("go rust py python js ts c cpp java kotlin swift ruby php cs css html md markdown rst sh lua perl scala haskell elixir erlang clojure dart zig vim sql proto make cmake docker")

// hasFlag reports whether one of these letters is in a bundle of options, or one
// of these long options among the words.
func hasFlag(words []string, letters string, long ...string) bool {
	for i, word := range words {
		if word == "--" {
			break
		}
		name, _, _ := strings.Cut(word, "=")
		switch {
		case strings.HasPrefix(word, "--"):
			if slices.ContainsFunc(long, func(full string) bool { return len(name) > 3 && strings.HasPrefix(full, name) }) {
				return true
			}
		case strings.HasPrefix(word, "-") && strings.ContainsAny(word[1:], letters):
			return true
		case i == 0 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && strings.ContainsAny(word, letters) && len(words) > 1 && slices.Equal(long, []string{"--dereference"}):
			return true // the old bundle of tar
		}
	}
	return false
}

// bundles are the letters of rg's options, up to those that take the rest of a
// word for a value.
func bundles(words []string) (list []string) {
	for _, word := range words {
		if strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") {
			letters := word[1:]
			if end := strings.IndexAny(letters, "egtTABCmMfrEjd"); end >= 0 {
				letters = letters[:end]
			}
			list = append(list, letters)
		}
	}
	return list
}

// valuesOf returns what stands behind an option and a sign of equality.
func valuesOf(words []string, option string) (list []string) {
	for _, word := range words {
		if value, ok := strings.CutPrefix(word, option+"="); ok {
			list = append(list, value)
		}
	}
	return list
}

// valuesAfter returns the values of options, attached or in the next word.
func valuesAfter(words []string, options ...string) (list []string) {
	for i, word := range words {
		for _, option := range options {
			value, ok := strings.CutPrefix(word, option)
			switch {
			case !ok:
			case value == "" && i+1 < len(words):
				list = append(list, words[i+1])
			case strings.HasPrefix(option, "--"):
				if value, ok = strings.CutPrefix(value, "="); ok {
					list = append(list, value)
				}
			case len(option) == 2 && value != "":
				list = append(list, strings.TrimPrefix(value, "="))
			}
		}
	}
	return list
}

// grepOperands returns the files and folders that grep is told.
func grepOperands(name string, words []string) (list []string) {
	p := readerProfiles().programs[name]
	given, ended := hasFlag(words, "ef", "--regexp", "--file"), false
	for i, word := range words {
		switch {
		case ended:
			list = append(list, word)
		case word == "--":
			ended = true
		case strings.HasPrefix(word, "-") && len(word) > 1, i > 0 && p != nil && p.wants(words[i-1]) && !strings.HasPrefix(words[i-1], "--"):
		default:
			list = append(list, word)
		}
	}
	if !given && len(list) > 0 {
		list = list[1:]
	}
	return list
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

// findNames returns the patterns of names that find looks for, and of those that it
// leaves out, as far as they hold for all that it does: those before its first
// action, where nothing is an alternative or turned round as a whole.
func findNames(words []string) (only, not []string) {
	for i := 0; i < len(words); i++ {
		word := words[i]
		turned := word == "-not" || word == "!"
		if turned && i+2 < len(words) && (words[i+1] == "-name" || words[i+1] == "-iname") {
			not = append(not, words[i+2])
			i += 2
			continue
		}
		switch {
		case (word == "-name" || word == "-iname") && i+1 < len(words):
			only = append(only, words[i+1])
			i++
		case turned, word == "(", word == `\(`, slices.Contains(words[i:], "-o"), slices.Contains(words[i:], "-or"), slices.Contains(words[i:], ","):
			return nil, nil
		case findActs().MatchString(word):
			return only, not
		}
	}
	return only, not
}

// findActs are the words of find at which it does something.
var findActs = expression(`^-(exec|ok|print|ls|fprint|fls|delete|quit|prune)`)

// looksForSource reports whether grep looks for the name of a source file alone: it
// tells the lines with that name then, and nothing else of a file.
func looksForSource(words []string) bool {
	for _, word := range words {
		switch {
		case strings.HasPrefix(word, "--include="), strings.HasPrefix(word, "--exclude="), strings.HasPrefix(word, "--exclude-dir="):
		case strings.HasPrefix(word, "-"):
			if len(word) == 1 || strings.Trim(word[1:], "rRnHhilcwsEFI") != "" {
				return false
			}
		default:
			return sourceName().MatchString(word)
		}
	}
	return false
}

var sourceName = expression(`^"?[A-Za-z][\w-]*\\?\.(toml|json|go|rs|py|rb|ts|tsx|js|jsx|c|h|cc|cpp|java|kt|md|mod|sum|css|html|vue|yaml|yml)"?$`)

// opens marks a program that reads whole folders, where it would open a file with
// secrets in them, or where nobody can tell.
func (j *job) opens(seg *approval.Segment, read *arguments, reader readerWords) {
	w := j.walking(seg, read, reader)
	if w == nil {
		return
	}
	if name := path.Base(seg.Program.Path); strings.HasSuffix(name, "grep") && looksForSource(seg.Argv[1:]) {
		return
	}
	dir := seg.Dir
	if read != nil && read.dir != "" {
		dir = read.dir
	}
	var roots []approval.File
	for _, name := range w.roots {
		if file, err := j.look(join(dir, name)); err == nil && isDir(file) {
			roots = append(roots, file)
		}
	}
	if len(roots) == 0 && (len(w.roots) == 0 || !slices.Contains([]string{"tar", "zip", "cp", "rsync"}, path.Base(seg.Program.Path)) && len(w.roots) == 0) {
		if file, err := j.look(dir); err == nil && isDir(file) {
			roots = append(roots, file)
		}
	}
	name := path.Base(seg.Argv[0])
	for _, root := range roots {
		found, whole := j.secretIn(root.Path, w)
		switch {
		case found != "" && w.without != "" && !strings.ContainsAny(path.Base(found), "'\n"):
			seg.Findings = append(seg.Findings, finding(approval.ReasonProtectedState, "%s opens %s, a file with secrets; without it: %s", name, found, strings.ReplaceAll(w.without, "%s", path.Base(found))))
			return
		case found != "":
			seg.Findings = append(seg.Findings, finding(approval.ReasonProtectedState, "%s opens %s, a file with secrets", name, found))
			return
		case whole:
		case j.plan.Folder.Holds(root.Path):
			if !slices.Contains(seg.Effects, approval.EffectUnseen) {
				seg.Effects = append(seg.Effects, approval.EffectUnseen)
				slices.Sort(seg.Effects)
			}
		default:
			seg.Findings = append(seg.Findings, finding(approval.ReasonProtectedState, "%s goes through %s, where more than %d names are, and may open files with secrets", name, root.Path, maxWalked))
			return
		}
	}
}

// secretIn returns a file with secrets in a folder that a program would open, as
// it is called from there, or "". whole tells that all names were looked at.
func (j *job) secretIn(root string, w *walk) (found string, whole bool) {
	if w.tracked {
		if names, ok := j.tracked(root); ok {
			for _, name := range names {
				if j.walked++; j.walked > maxWalked {
					return "", false
				}
				if matches(w.not, path.Base(name)) || matches(w.not, name) || !w.wants(name) {
					continue
				}
				if protected.Of(path.Join(root, name), j.Home).Has(protected.Secret|protected.Private) || j.splitsInto(name, root) {
					return name, true
				}
			}
			return "", true
		}
		w = &walk{hidden: true, only: w.only, not: w.not}
	}
	ignored := func(string) bool { return false }
	if w.ignores && j.mayIgnore(root) {
		ignored = j.ignored(root)
	}
	var taken []string // folders in which what is ignored may be taken back
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
		if w.ignores && j.takesBack(folder, names) {
			taken = append(taken, folder)
		}
		for _, name := range names {
			if j.walked++; j.walked > maxWalked {
				return "", false
			}
			at := path.Join(rel, name)
			if !w.hidden && strings.HasPrefix(name, ".") || ignored(at) && !slices.ContainsFunc(taken, func(dir string) bool { return within(folder, dir) }) || matches(w.not, name) || matches(w.not, at) || matches(w.paths, at) {
				continue
			}
			sub := path.Join(folder, name)
			if j.splitsInto(at, root) {
				return at, true
			}
			if k := in.Of(name); k.Has(protected.Secret|protected.Private) && w.wants(at) {
				if !j.isFolder(sub) || protected.OfFolder(sub, j.Home).Has(protected.Secret|protected.Private) {
					return at, true
				}
			}
			if w.links {
				file, err := j.World.Look(sub)
				if err == nil && file.Path != sub {
					if j.kinds(file.Path, j.look).Has(protected.Secret|protected.Private) && w.wants(at) || j.ofOurs(file.Path, true) {
						return at, true
					}
					if err == nil && isDir(file) && !within(file.Path, root) {
						return at, true // a folder that nobody looked at
					}
					continue // what is there is looked at where it is, or is no folder
				}
			}
			if !w.flat && j.isFolder(sub) {
				folders = append(folders, at)
			}
		}
	}
	return "", true
}

// isFolder reports whether a folder, and no link to one, is at a path.
func (j *job) isFolder(at string) bool {
	file, err := j.World.Look(at)
	return err == nil && isDir(file) && file.Path == at
}

// wants reports whether a program opens a file of this name.
func (w *walk) wants(at string) bool {
	return len(w.only) == 0 || slices.ContainsFunc(w.only, func(pattern string) bool {
		pattern = strings.TrimPrefix(strings.TrimPrefix(pattern, "/"), "**/")
		list, ok := alternatives(pattern)
		return !ok || matches(append(list, pattern), path.Base(at)) || matches(append(list, pattern), at)
	})
}

// mayIgnore reports whether .gitignore counts in a folder: in a checkout, where no
// file of the folders above takes back what it says.
func (j *job) mayIgnore(folder string) bool {
	for at := folder; ; at = path.Dir(at) {
		for _, name := range []string{".ignore", ".rgignore"} {
			if _, err := j.look(path.Join(at, name)); at != folder && err == nil {
				return false
			}
		}
		if _, err := j.look(path.Join(at, ".git")); err == nil {
			return true
		}
		if at == "/" || at == "." {
			return false
		}
	}
}

// takesBack reports whether a file of a folder that says what is ignored there takes
// something back, or may.
func (j *job) takesBack(folder string, names []string) bool {
	for _, name := range []string{".ignore", ".rgignore", ".gitignore"} {
		if !slices.Contains(names, name) {
			continue
		}
		file, err := j.look(path.Join(folder, name))
		if err != nil || file.Size > maxIgnore {
			return true
		}
		text, err := j.World.Head(file, maxIgnore)
		if err != nil || strings.HasPrefix(string(text), "!") || strings.Contains(string(text), "\n!") {
			return true
		}
	}
	return false
}

// maxIgnore bounds how much of a .gitignore is read.
const maxIgnore = 64 << 10

// ignored reads the plain lines of the .gitignore of a folder: names, and
// patterns of names. One that takes lines back is not read.
func (j *job) ignored(root string) func(at string) bool {
	var names, places []string
	file, err := j.look(path.Join(root, ".gitignore"))
	if err == nil && file.Size <= maxIgnore {
		text, _ := j.World.Head(file, maxIgnore)
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			switch place, rooted := strings.CutPrefix(strings.TrimSuffix(line, "/"), "/"); {
			case strings.HasPrefix(line, "!"):
				return func(string) bool { return false }
			case line == "" || line[0] == '#' || strings.Contains(line, "**") || strings.Contains(line, `\`):
			case rooted || strings.Contains(place, "/"):
				places = append(places, place)
			default:
				names = append(names, place)
			}
		}
	}
	return func(at string) bool { return matches(names, path.Base(at)) || matches(places, at) }
}

// tracked returns the names of the files that git knows in a folder. It reports
// false where git may know some that cannot be read.
func (j *job) tracked(folder string) (names []string, ok bool) {
	top := folder
	for {
		file, err := j.look(path.Join(top, ".git"))
		if err == nil && isDir(file) {
			break
		}
		if err == nil || top == "/" {
			return nil, err != nil
		}
		top = path.Dir(top)
	}
	file, err := j.look(path.Join(top, ".git/index"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true
	}
	if err != nil || file.Size > gitindex.MaxSize || !j.spend(reading) {
		return nil, false
	}
	data, err := j.World.Head(file, gitindex.MaxSize)
	if err != nil {
		return nil, false
	}
	err = gitindex.Read(data, func(name []byte, _ *gitindex.Entry) bool {
		if at, below := strings.CutPrefix(path.Join(top, string(name)), strings.TrimSuffix(folder, "/")+"/"); below {
			names = append(names, at)
		}
		return len(names) <= maxWalked
	})
	return names, err == nil
}
