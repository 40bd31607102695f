package command

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/protected"
)

// A program may take words of its input for names of files, as xargs does for
// the reader that it starts. Nobody looks at these words when they come, so what
// comes is judged before: texts that stand in the request word by word, and
// stages of a pipeline by whether they only pass names on that somebody judged.

// makesWords are programs that give another one words of their input.
var makesWords = words("xargs gxargs parallel")

// taker is a command that gets words of an input as names of files to read.
type taker struct {
	dir string
	// mark stands for such a word in these words of the command.
	mark  string
	words []string
	// opens are these words, and the mark where it stands alone or is none; at is the
	// segment that the request names, in which the command is.
	opens []string
	at    int
	// walks tells that it reads all of a folder.
	walks bool
}

// stretch is a stage of a pipeline: its segments, from one up to another, whether it
// is the first stage, and whether it is one command; end is where its pipeline ends.
type stretch struct {
	from, to, end int
	first, simple bool
}

// fedText is a text that the request feeds to something.
type fedText struct{ text, dir string }

// tellsOnly reports whether a reader tells of files only that they are there, or how
// long they are, by the words that start it.
func tellsOnly(argv []string) bool {
	name := path.Base(first(argv))
	return (listers()[name] && !isFinder(name) || name == "wc") && !asReader(name, argv).names
}

// takes notes a command that a program of the words of its input starts.
func (j *job) takes(read *arguments, one inner, seg *approval.Segment, index int) {
	if tellsOnly(seg.Argv) && seg.Program != nil && tellsOnly(append([]string{seg.Program.File.Path}, seg.Argv[1:]...)) {
		return
	}
	if read.has["names"] {
		seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "which files a file names for %s is known only when it runs", seg.Argv[0]))
	}
	t := taker{dir: one.dir, mark: read.mark, walks: asReader(path.Base(seg.Argv[0]), seg.Argv).walks, at: j.outermost(index)}
	if read.mark == "" || slices.Contains(seg.Argv[1:], read.mark) {
		t.opens = append(t.opens, read.mark)
	}
	for _, word := range j.mayBecome(seg, read.mark) {
		if read.mark == "" || !strings.Contains(word, read.mark) || word == read.mark {
			continue
		}
		if unplaced(around(word, read.mark)) {
			seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "what %q names is known only when it runs", word))
		}
		t.words, t.opens = append(t.words, word), append(t.opens, word)
	}
	j.takers = append(j.takers, t)
}

// judgeFed judges what comes to commands that take words of their input for names.
func (t *textJob) judgeFed() {
	if len(t.takers) == 0 {
		return
	}
	if t.fromFile {
		t.tell(finding(approval.ReasonRuntimeValue, "which files its input names is known only when it runs"))
	}
	for _, fed := range t.texts {
		for _, one := range t.takers {
			if what := t.namesIn(fed, one); what != "" {
				t.tell(finding(approval.ReasonProtectedState, "its input names %s", what))
			}
		}
	}
	for i := range t.plan.Segments {
		seg := &t.plan.Segments[i]
		at := t.outermost(i)
		for _, stage := range t.upstream {
			if at < stage.from || at >= stage.to || !t.spend(1) {
				continue
			}
			if t.passesNames(seg, stage) {
				t.judgePlaced(seg, stage)
				continue
			}
			seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "which files %s names for another command is known only when it runs", first(seg.Argv)))
		}
	}
}

// outermost returns the segment that the request names, in which another one is.
func (j *job) outermost(i int) int {
	for j.plan.Segments[i].Via > 0 {
		i = j.plan.Segments[i].Via - 1
	}
	return i
}

// namesIn returns what protected thing the words of a text name, in words, or "".
func (t *textJob) namesIn(fed fedText, by taker) string {
	reader := &approval.Segment{Kind: approval.KindReader}
	words := strings.FieldsFunc(fed.text, func(r rune) bool { return r <= ' ' })
	for line := range strings.Lines(fed.text) {
		words = append(words, strings.TrimSpace(line))
	}
	for _, word := range words {
		list := []string{word, unquoter.Replace(word)}
		for _, template := range by.words {
			list = append(list, strings.ReplaceAll(template, by.mark, list[1]))
		}
		for _, one := range list {
			for _, name := range pieces(one) {
				for _, dir := range []string{fed.dir, by.dir} {
					if !t.bytes(2*perBytes + min(len(name), maxPath)) {
						return "more files than can be looked at"
					}
					if what := t.protected(name, dir, reader); what != "" && (by.walks || what != folderWithSecrets) {
						return what
					}
					if folder, err := t.look(join(dir, name)); by.walks && name != "" && err == nil && folder.IsFolder() && !within(folder.Path, by.dir) {
						return "a folder that it reads as a whole"
					}
				}
			}
		}
	}
	return ""
}

// passesNames reports whether a program prints nothing but names that it finds, at
// which others look, or the lines that come in.
func (j *job) passesNames(seg *approval.Segment, stage stretch) bool {
	name := seg.Builtin
	if name == "" && seg.Program != nil {
		name = path.Base(seg.Program.Path)
	}
	switch {
	case name == "" || (name == "echo" || name == "printf") && seg.Via > 0: // that puts words together that nobody sees
		return false
	case name == "echo":
		return stage.simple || len(seg.Argv) < 2 || !strings.HasPrefix(seg.Argv[1], "-")
	case name == "printf":
		return len(seg.Argv) > 1 && plainFormat().MatchString(seg.Argv[1]) && (stage.simple || endOfLine().MatchString(seg.Argv[1]))
	case seg.Builtin != "":
		return true
	}
	if read := j.profiled(seg); read != nil && len(read.commands) > 0 && seg.Kind == approval.KindWrapper {
		return true // what it starts is looked at by itself
	}
	words := ""
	for _, word := range seg.Argv[1:] {
		if strings.Contains(word, "\n") {
			return false
		}
		words += word + "\n"
	}
	if plain := strings.TrimPrefix(name, "g"); plain != "rep" && plain != "it" {
		name = plain
	}
	switch {
	case name == "find":
		return !slices.ContainsFunc(seg.Argv[1:], findTells().MatchString)
	case len(seg.Open) > 0:
		return false
	case seg.Via == 0 && !(stage.first && name == "rg") && shaped(filters(), name, words):
		return true
	case !shaped(finders(), name, words):
		return false
	case name == "git" && strings.Contains("diff show diff-tree", seg.Argv[1]):
		names, ok := j.tracked(seg.Dir)
		return ok && !slices.ContainsFunc(names, func(name string) bool {
			return protected.Of(path.Join(seg.Dir, name), j.Home).Has(protected.Secret | protected.Private)
		})
	}
	return true
}

// plainFormat is a format of printf that prints its words and nothing made of them,
// endOfLine one that ends a line.
var (
	plainFormat = expression(`^(%s|%%|[^%\\]|\\[n0])*$`)
	endOfLine   = expression(`\\[n0]$`)
)

// findTells are the words with which find prints something else than names.
var findTells = expression(`^-(printf|ls|fprintf|fprint|fprint0|fls)$`)

// shaped reports whether the words of a program have the shape that it has in a
// list.
func shaped(list map[string]*regexp.Regexp, name, words string) bool {
	return list[name] != nil && list[name].MatchString(words)
}

// shapes reads a list: names of programs, and the shape of their words, each with a
// line end behind it, where WORD stands for any but an option.
func shapes(list map[string]string) func() map[string]*regexp.Regexp {
	return sync.OnceValue(func() map[string]*regexp.Regexp {
		all := map[string]*regexp.Regexp{}
		for names, shape := range list {
			for _, name := range strings.Fields(names) {
				all[name] = regexp.MustCompile(`\A(?:` + strings.ReplaceAll(shape, "WORD", `--\n|[^-\n][^\n]*\n`) + `)\z`)
			}
		}
		return all
	})
}

// filters pass on the lines that come in as they are, with words of these shapes.
var filters = shapes(map[string]string{
	"cat tac":             `(-\n)?`,
	"head tail":           `(-z\n|-[0-9]+\n|-n\n?[+-]?[0-9]+\n)*`,
	"sort":                `(-[Vbdfghinrsuz]+\n|-k\n?[0-9,.]+\n)*`,
	"uniq":                `(-[diuz]+\n)*`,
	"tr":                  `(\\n|\\0|,| )\n(\\n|\\0|,| )\n`,
	"grep egrep fgrep rg": `(-[EFGIPaiqvwxz]+\n)*(-e\n[^\n]+\n|[^-\n][^\n]*\n)`,
})

// Options of finders that come in any number.
const (
	ofGrep    = `-[EFGHIPRachinrsvwxz]+\n|--(include|exclude|exclude-dir)=[^\n]*\n|--color=never\n`
	ofRg      = `-[.0FHILPSUchinsuvwxz]+\n|-[gt]\n?[^-\n][^\n]*\n|--(glob|type)[=\n][^-\n][^\n]*\n|--(hidden|no-ignore|follow|null|ignore-case|fixed-strings|no-messages)\n`
	ofFd      = `-[0HILapsu]+\n|-[Edet]\n?[^-\n][^\n]*\n|--(extension|type|exclude|max-depth)[=\n][^-\n][^\n]*\n|--(hidden|no-ignore|follow|print0)\n`
	ofNothing = `--(format=|pretty=|pretty=t?format:)\n`
	ofDiff    = `-z\n|--(cached|staged|merge-base|no-renames)\n|--diff-filter=[A-Za-z]+\n`
)

// finders print names of files and nothing else, with words of these shapes.
var finders = shapes(map[string]string{
	"pwd":                     ``,
	"seq":                     `([0-9]+\n)+`,
	"ls":                      `(-[1ARSUadfprt]+\n|--(all|almost-all)\n|WORD)*`,
	"grep egrep fgrep ag ack": `(` + ofGrep + `)*(-[EFGHIPRachinrsvwxz]*[lL][EFGHIPRachinrsvwxzZ]*\n|--files-with(out)?-match(es)?\n)(` + ofGrep + `|-e\n[^\n]+\n|WORD)*`,
	"rg":                      `(` + ofRg + `)*(-[.0FHILPSUchinsuvwxz]*l[.0FHILPSUchinsuvwxz]*\n|--files(-with-matches|-without-match)?\n)(` + ofRg + `|-e\n[^\n]+\n|WORD)*`,
	"fd fdfind":               `(` + ofFd + `|WORD)*`,
	"git": `ls-files\n(-[cdmoz]+\n|--(cached|deleted|modified|others|exclude-standard|full-name)\n|WORD)*` +
		`|grep\n(-[EFGIPinvwz]+\n)*(-[EFGIPinvwz]*l[EFGIPinvwz]*\n|--files-with-matches\n)(-[EFGIPinvwz]+\n|-e\n[^\n]+\n|WORD)*` +
		`|diff\n(` + ofDiff + `|[^-\n][^\n]*\n)*--name-only\n(` + ofDiff + `|WORD)*` +
		`|show\n(-z\n)*(--name-only\n` + ofNothing + `|` + ofNothing + `--name-only\n)(-z\n|WORD)*` +
		`|diff-tree\n(-r\n|-z\n|--no-commit-id\n|--name-only\n)*(WORD)*`,
})

// splitsInto reports whether a name that is found becomes several words on its way to
// another program, of which one names a protected file.
func (j *job) splitsInto(name, dir string) bool {
	if j.passesOn == 0 || !strings.ContainsAny(name, " \t\n\r\v\f\"'\\") {
		return false
	}
	for word := range strings.FieldsSeq(unquoter.Replace(name)) {
		for _, at := range []string{path.Clean("/" + word), path.Join(dir, word), path.Join(j.plan.Cwd.Path, word)} {
			if j.kinds(at, j.look).Has(protected.Secret | protected.Private) {
				return true
			}
		}
	}
	return false
}
