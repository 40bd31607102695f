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
		if folder, err := j.look(join(seg.Dir, word)); err == nil && isDir(folder) {
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
	if err != nil || !isDir(folder) {
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
		if found, err := j.look(join(by.Dir, word)); isLs(by) && err == nil && isDir(found) && slices.Contains(from, found.Path) {
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
	found, whole := j.secretIn(folder.Path, ".", w)
	switch {
	case found != "":
		return path.Join(folder.Path, found) + ", a file with secrets"
	case !whole:
		return "more files than can be looked at"
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
var marked = expression(`\{(|\.|/\.?)\}`)

func isFinder(name string) bool {
	return slices.Contains([]string{"find", "gfind", "fd", "fdfind"}, name)
}
