package command

import (
	"path"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// maxTargets bounds what is taken down of what one program changes.
const maxTargets = 1000

// targetAt is what a word names in a folder. known tells that the word is final.
func targetAt(op approval.TargetOp, dir, word string, known bool) approval.Target {
	if !known || word == "" || len(word) > maxPath || dir == "" && !path.IsAbs(word) {
		return approval.Target{Op: op}
	}
	return approval.Target{Path: join(dir, word), Op: op}
}

// targeted takes down what a value with an effect names. It is for people to
// see: what an option deletes is only known to change.
func (a *arguments) targeted(op approval.TargetOp, u use, word argument) {
	takes := takesSure
	if u.option != "it" {
		takes, a.has["place"] = u.options[u.option].takes, true
	}
	dir := a.start
	switch op {
	case approval.TargetDeletes, approval.TargetChanges:
		dir = a.dir
	}
	switch {
	case len(a.targets) == maxTargets, u.value == "-", u.value == "/dev/null", strings.HasPrefix(u.value, "/dev/std"):
		return
	case takes == takesNone || takes == takesMaybe:
		a.targets = append(a.targets, approval.Target{Op: op}) // what it changes has no name here
		return
	case op == approval.TargetDeletes && u.option != "it":
		op = approval.TargetChanges
	case op == approval.TargetChanges && u.name == "git rm":
		op = approval.TargetDeletes
	case op == approval.TargetChanges && (u.name == "git checkout" || u.name == "git restore"):
		op = approval.TargetWrites
	}
	a.targets = append(a.targets, targetAt(op, dir, u.value, word.open == nil))
}

// untold takes down a word that may be an operand, or several.
func (a *arguments) untold(p *profile, word argument) {
	a.named, a.said = append(a.named, argument{open: word.open}), append(a.said, said{value: argument{open: word.open}})
	if n := len(p.operands); n > 0 && effects()[p.operands[n-1]].target != "" {
		a.targets = append(a.targets, approval.Target{Op: effects()[p.operands[n-1]].target})
	}
}

// onePlace are the programs of which only the last operand is written, or what
// has the names of the others in it; movers take the others away. Of firstOnly
// the first is.
var (
	onePlace  = words("cp gcp mv gmv install ginstall ln gln")
	movers    = words("mv gmv")
	firstOnly = words("zip 7z 7za 7zz 7zr")
	keepers   = words("touch gtouch tee gtee rsync") // may leave what is there
)

// changed returns what a program changes, each once, as far as its words name
// it.
func (a *arguments) changed(name string) []approval.Target {
	list := a.targets
	switch {
	case a.has["reads"], a.has["alone"]:
		return nil
	case onePlace()[name]:
		list = a.moved(movers()[name])
	case firstOnly()[name]:
		list = list[:min(1, len(list))]
	}
	var once []approval.Target
	seen := map[approval.Target]bool{}
	for _, t := range list {
		if keepers()[name] {
			t.Op = approval.TargetChanges
		}
		if !seen[t] {
			once = append(once, t)
		}
		seen[t] = true
	}
	return once
}

// moved returns what becomes of files that go to the last one among them, or
// into it. Of an option that names the place only that is known.
func (a *arguments) moved(away bool) (list []approval.Target) {
	if a.has["place"] || len(a.named) < 2 || len(a.named) > maxTargets {
		return []approval.Target{{Op: approval.TargetWrites}}
	}
	last := a.named[len(a.named)-1]
	to := targetAt(approval.TargetWrites, a.start, last.text, last.open == nil)
	folder, err := a.look(to.Path)
	into := to.Path != "" && err == nil && folder.IsFolder()
	for _, from := range a.named[:len(a.named)-1] {
		source, at := targetAt(approval.TargetMoves, a.start, from.text, from.open == nil), to
		switch {
		case into && source.Path == "":
			at.Path = ""
		case into:
			at.Path = path.Join(to.Path, path.Base(source.Path))
		}
		if away {
			list = append(list, source)
		}
		list = append(list, at)
	}
	return list
}
