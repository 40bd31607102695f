package command

import (
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// A name that one program finds is opened by another one, in its own folder and with
// what its words put around the name. Where that is not where it was found, nobody
// looked at what is opened, so all that lies there counts as named.

// anywhere stands for a folder that nobody knows.
const anywhere = ""

// judgePlaced judges what a stage that prints names makes a later command open.
func (t *textJob) judgePlaced(seg *approval.Segment, stage stretch) {
	if stage.filters(seg) {
		return
	}
	var from []string
	for _, one := range t.takers {
		if one.at < stage.to || one.at >= stage.end || !t.spend(1) {
			continue
		}
		if from == nil {
			from = t.namesFrom(seg)
		}
		for _, word := range one.opens {
			before, after := around(word, one.mark)
			if what := t.placed(one.dir, before, after, from, seg); what != "" {
				seg.Findings = append(seg.Findings, finding(approval.ReasonProtectedState, "a name from %s makes another command open %s", first(seg.Argv), what))
				return
			}
		}
	}
}

// filters reports whether a segment of a stage only passes on lines that others print.
func (s stretch) filters(seg *approval.Segment) bool {
	return seg.Via == 0 && !s.first && seg.Builtin == "" && filters()[path.Base(first(seg.Argv))] != nil
}

// namesFrom returns the folders from which the names go on that a program prints.
func (j *job) namesFrom(seg *approval.Segment) (list []string) {
	name, words := path.Base(first(seg.Argv)), seg.Argv[min(1, len(seg.Argv)):]
	if by := seg.Via - 1; by >= 0 && slices.ContainsFunc(j.plan.Segments[by].Argv, atFiles().MatchString) {
		return []string{anywhere}
	}
	has := func(options ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool {
			return slices.ContainsFunc(options, func(option string) bool { return mayBe(word, option) })
		})
	}
	switch {
	case name == "git" && (first(words) != "grep" && first(words) != "ls-files" || has("--full-name")):
		top, _ := j.checkoutOf(seg.Dir)
		return []string{top}
	case !isLs(seg) || has("-d"):
		return []string{seg.Dir}
	case has("-R") || seg.Via > 0: // what is in other folders, or in folders that come from elsewhere
		return []string{anywhere}
	}
	for _, word := range words {
		if strings.HasPrefix(word, "-") {
			continue
		}
		if folder, err := j.look(join(seg.Dir, word)); err == nil && folder.IsFolder() {
			list = append(list, folder.Path)
		} else {
			list = append(list, seg.Dir)
		}
	}
	if len(list) == 0 {
		list = append(list, seg.Dir)
	}
	return list
}

// atFiles are the options with which find starts a command where the file is.
var atFiles = expression(`^-(execdir|okdir)$`)

// around returns what stands before the first mark in a word, and behind it, as a
// pattern.
func around(word, mark string) (before, after string) {
	if mark == "" {
		return "", ""
	}
	before, after, _ = strings.Cut(word, mark)
	return before, strings.ReplaceAll(after, mark, "*")
}

// mayBecome returns the words of a command behind its name, each as what it may become.
// One of which nobody knows that asks, if names stand in it.
func (j *job) mayBecome(seg *approval.Segment, mark string) []string {
	list := slices.Clone(seg.Argv[1:])
	for _, o := range seg.Open {
		if list = append(list, o.Maybe...); len(o.Maybe) == 0 && mark != "" && o.At < len(seg.Argv) && strings.Contains(seg.Argv[o.At], mark) {
			seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "what %q names is known only when it runs", seg.Argv[o.At]))
		}
	}
	return list
}

// isLs reports whether a segment tells of folders what is in them without telling
// their names.
func isLs(seg *approval.Segment) bool {
	name := path.Base(first(seg.Argv))
	return name == "ls" || name == "gls"
}

// unplaced reports whether nobody can tell in which folder a name is that these stand
// around.
func unplaced(before, after string) bool {
	return before != "" && (before[0] == '-' || !strings.HasSuffix(before, "/")) || after != "" && after[0] != '/' && after[0] != '.' || strings.Contains(after, "..")
}

// placed returns what protected thing a command in a folder may open, in words, by a
// name of a program that prints those from some folders, with what stands around it.
func (j *job) placed(dir, before, after string, from []string, by *approval.Segment) string {
	folder, err := j.look(join(dir, before))
	if err != nil || !folder.IsFolder() {
		return ""
	}
	home := !slices.ContainsFunc(from, func(at string) bool {
		found, err := j.look(at)
		return at == anywhere || err != nil || found.Path != folder.Path
	})
	what := j.protected(folder.Path, "", &approval.Segment{Kind: approval.KindReader})
	if home && what == folderWithSecrets {
		what = "" // who finds the names there looks at each
	}
	if what != "" || home && after == "" {
		return what
	}
	for _, word := range by.Argv[min(1, len(by.Argv)):] {
		if !j.tick(1) {
			return "more files than can be looked at"
		}
		up := strings.HasPrefix(word, ":") || slices.Contains(strings.Split(word, "/"), "..")
		if found, err := j.look(join(by.Dir, word)); isLs(by) && err == nil && found.IsFolder() && slices.Contains(from, found.Path) {
			continue // names in it are printed without it
		}
		if up || len(by.Open) > 0 || before == "" && strings.HasPrefix(after, "/") && path.IsAbs(word) {
			return "files in folders that nobody looked at"
		}
	}
	w := &walk{hidden: true, links: true}
	switch {
	case strings.HasPrefix(after, "/"):
		w.only = []string{path.Base(after)}
	case after != "":
		w.only = []string{"*" + path.Base(after)}
	}
	return j.secretFrom(folder.Path, w, by)
}

// secretFrom returns a file with secrets that a walk opens in a folder, in words, or
// "". What cannot be looked at to its end in the session's folder is told.
func (j *job) secretFrom(at string, w *walk, by *approval.Segment) string {
	found, whole := j.secretIn(at, ".", w)
	switch {
	case found != "":
		return path.Join(at, found) + ", a file with secrets"
	case whole:
		return ""
	case !j.plan.Folder.Holds(at):
		return "more files than can be looked at"
	}
	if !slices.Contains(by.Effects, approval.EffectUnseen) {
		by.Effects = append(by.Effects, approval.EffectUnseen)
		slices.Sort(by.Effects)
	}
	return ""
}

// besideFound returns what the words of a command that find starts in the folder of
// each file name there that is protected, in words, or "".
func (j *job) besideFound(by, seg *approval.Segment) string {
	w, names := &walk{hidden: true, links: true}, []string(nil)
	for _, word := range j.attached(j.mayBecome(seg, "")) {
		for _, name := range pieces(word) {
			if j.tick(1) && name != "" && !path.IsAbs(name) && !strings.ContainsAny(name, `*?[{\`) {
				w.only, names = append(w.only, path.Base(name)), append(names, name)
			}
		}
	}
	if len(w.only) == 0 {
		return ""
	}
	roots := slices.DeleteFunc(j.mayBecome(by, ""), func(word string) bool {
		folder, err := j.look(join(by.Dir, word))
		return err != nil || !folder.IsFolder()
	})
	if len(roots) == 0 {
		roots = []string{"."}
	}
	for _, word := range roots {
		root, err := j.look(join(by.Dir, word))
		if err != nil {
			return "files in folders that nobody looked at"
		}
		for _, name := range names { // the folder itself is found in the one above
			if what := j.protected(name, path.Dir(root.Path), seg); path.Clean(word) != "." && what != "" && what != folderWithSecrets {
				return what
			}
		}
		if what := j.secretFrom(root.Path, w, seg); what != "" {
			return what
		}
	}
	return ""
}

// placedByFinder judges the words of a command that find or fd starts, in which the
// names that it finds stand with more around them.
func (j *job) placedByFinder(outer, seg *approval.Segment, dir string) {
	if tellsOnly(seg.Argv) || !isFinder(path.Base(first(outer.Argv))) {
		return
	}
	inPlace := slices.ContainsFunc(outer.Argv, atFiles().MatchString)
	by := *outer // as far as it says where names are found
	if at := slices.IndexFunc(by.Argv, starting().MatchString); at > 0 {
		by.Argv = by.Argv[:at]
	}
	if inPlace {
		if what := j.besideFound(&by, seg); what != "" {
			seg.Findings = append(seg.Findings, finding(approval.ReasonProtectedState, "%s opens %s, where %s finds a file", first(seg.Argv), what, first(outer.Argv)))
		}
	}
	for _, word := range seg.Argv[1:] {
		mark := marked().FindString(word)
		switch {
		case inPlace && slices.Contains(strings.Split(word, "/"), ".."):
			seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "what %q names is known only when it runs", word))
			continue
		case mark == "":
			continue
		}
		before, after := around(word, mark)
		after = marked().ReplaceAllString(after, "*")
		if unplaced(before, after) || inPlace && !path.IsAbs(before) && before+after != "" {
			seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "what %q names is known only when it runs", word))
			continue
		}
		from := []string{dir}
		if inPlace || mark != "{}" {
			from = []string{anywhere}
		}
		if what := j.placed(dir, before, after, from, &by); what != "" {
			seg.Findings = append(seg.Findings, finding(approval.ReasonProtectedState, "a name from %s makes %s open %s", first(outer.Argv), first(seg.Argv), what))
		}
	}
}

// starting are the options with which find and fd start a command.
var starting = expression(`^-(exec|execdir|ok|okdir|x|X|-exec|-exec-batch)$`)

// marked are what find and fd put names in the place of.
var marked = expression(`\{(|\.|/\.?|//)\}`)

func isFinder(name string) bool {
	return slices.Contains([]string{"find", "gfind", "fd", "fdfind"}, name)
}
