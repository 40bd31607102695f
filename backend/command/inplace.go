package command

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// sed -i writes each file that it names, and keeps the old one under its name with a
// suffix. GNU's sed takes a suffix only in the same word, BSD's takes the next word,
// whatever that is: of `sed -i '' s/a/b/ FILE` the one takes '' for the script and
// s/a/b/ for a file. Nobody knows which one a machine has, so an entry can cover only
// what is covered both ways.

// editing is what one of the two would edit: the first operand is the script unless an
// option gave one.
type editing struct {
	script, suffix string
	scripted       bool
	files          []string
}

// edits judges the files that are edited in place, by their names. Where it cannot tell
// them all the finding of the option stays, which no entry covers.
func (a *arguments) edits(p *profile, words []argument) {
	if len(a.edited) == 0 || a.has["alone"] {
		return
	}
	gnu, ok := a.editing()
	b := newArguments(a.job, a.start)
	b.read(p, asBSD(p, words))
	bsd, fine := b.editing()
	ok = ok && fine && b.optionsFirst() && len(a.findings) == 1 && !slices.ContainsFunc(words, func(w argument) bool { return w.open != nil }) &&
		(len(b.findings) == 1 || len(b.findings) == 2 && bsd.scripted && harmlessScript(bsd.script, len(bsd.files) > 0)) &&
		strings.Trim(gnu.suffix, plainSigns+"~") == ""
	bare := gnu.scripted && gnu.script == "" // what is a script to the one is a file to the other then
	var found []approval.Finding
	if ok && !(bare && a.gave("-n", "--quiet", "--silent")) {
		gnu.files = slices.DeleteFunc(gnu.files, func(name string) bool { return bare && name == bsd.script && a.absent(name) })
		found = a.editsFiles(a.editsFiles(nil, gnu), bsd)
	}
	if len(found) == 0 {
		a.targets = append(a.targets, approval.Target{Op: approval.TargetWrites})
		return
	}
	a.findings, a.looked = found, true
}

// editsFiles adds what the edits of files ask for, each once, and shows the files. The
// old one under its suffix is not kept where there is no folder for it.
func (a *arguments) editsFiles(list []approval.Finding, e editing) []approval.Finding {
	var names []string
	for _, name := range e.files {
		kept := name + e.suffix
		if names = append(names, name); e.suffix != "" && (upward(kept) || !a.absent(path.Dir(kept))) {
			names = append(names, kept)
		}
	}
	for _, name := range names {
		_, _, why := a.writes(a.dir, name, func(string) bool { return false })
		if name != "" && !slices.Contains(list, why) {
			a.targets, list = append(a.targets, targetAt(approval.TargetChanges, a.start, name, true)), append(list, why)
		}
	}
	return list
}

// editing takes the operands of a program that edits in place apart. It reports false
// where more than one option says so.
func (a *arguments) editing() (e editing, ok bool) {
	e.files = a.operandsBehind(0)
	if !a.has["given"] && len(e.files) > 0 {
		e.script, e.scripted, e.files = e.files[0], true, e.files[1:]
	}
	e.suffix = a.edited[0]
	return e, len(a.edited) == 1
}

// optionsFirst reports whether no option stands behind an operand: to BSD's sed that is
// one more file.
func (a *arguments) optionsFirst() bool {
	first := slices.IndexFunc(a.said, func(s said) bool { return s.option == "" })
	return first < 0 || !slices.ContainsFunc(a.said[first:], func(s said) bool { return s.option != "" })
}

// asBSD are words as BSD's sed reads them: the next word is the value of an -i that has
// none. It knows no long names, and does nothing then.
func asBSD(p *profile, words []argument) []argument {
	for i := 0; i+1 < len(words); i++ {
		word := words[i].text
		if len(word) < 2 || word[0] != '-' || word[1] == '-' {
			break
		}
		for k := 1; k < len(word); k++ {
			o, last := p.options["-"+word[k:k+1]], k == len(word)-1
			if o.effect == effectEdits && last {
				return slices.Concat(words[:i], []argument{{text: word + words[i+1].text}}, words[i+2:])
			}
			if o.takes.next() && last {
				i++
			}
			if o.takes != takesNone {
				break
			}
		}
	}
	return words
}

// plainSigns are those of which names of files mostly are.
const (
	letterSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	plainSigns  = letterSigns + "0123456789_.+-"
)

// harmlessScript reports whether a name of a file, as a script of BSD's sed, is surely
// an error, or one command that neither reads nor writes another file. Where it edits
// no files it runs nothing, but has made what a w in the script names.
func harmlessScript(name string, edits bool) bool {
	if name == "" || strings.Trim(name, plainSigns+"/") != "" || !strings.ContainsAny(name[:1], letterSigns+"._") {
		return false
	}
	switch c := name[0]; c {
	case 's':
		return len(name) < 2 || strings.Count(name[2:], name[1:2]) < 2 || !strings.Contains(name, "w")
	case 'w', 'W':
		return false
	case 'r', 'R', 'e':
		return !edits
	}
	return true
}

// absent reports whether nothing is there by a name.
func (a *arguments) absent(name string) bool {
	at := a.below(name)
	if at == "" || a.World.Link(path.Clean(at)) != "" {
		return false
	}
	_, err := a.look(at)
	return errors.Is(err, fs.ErrNotExist)
}
