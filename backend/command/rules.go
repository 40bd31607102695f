package command

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/envnames"
	"github.com/countersign-app/countersign/backend/oneliner"
	"github.com/countersign-app/countersign/backend/trail"
)

// effect is what an option or an operand does beyond the program's own job, by
// its name in the profiles. profiles/README.txt lists them all.
type effect string

// The effects that more than the table below knows.
const (
	effectNone    effect = ""
	effectCommand effect = "command"  // begins a command, which is all the rest
	effectFed     effect = "fed"      // the same, and words are added to it that nobody judges
	effectRun     effect = "run"      // begins a command that ends with ; or +, with names of files in it
	effectTool    effect = "tool"     // begins a command whose program is one of node_modules/.bin
	effectVenv    effect = "venv"     // begins a command whose program is the one of .venv/bin, if it is there
	effectModule  effect = "pymodule" // is a module of Python; what follows is for that
	effectScript  effect = "script"   // is a file that it runs; what follows is for that
	effectPath    effect = "path"     // is a pattern of paths or a version of one, as git reads them
	effectText    effect = "text"     // is text: it names nothing
	effectPlain   effect = "plain"    // is a file that it reads
	effectEdits   effect = "edits"    // edits the files that the operands name, and keeps them under its value
	effectSource  effect = "source"   // is code
	effectPython  effect = "python"   // is code of Python
	effectGoFile  effect = "gofile"   // is a package, or one of the files, that it runs; what follows is for that
)

// use is one value that has an effect.
type use struct {
	*profile
	option string // "it" for an operand
	who    string // the program, and the option
	value  string
}

// rule says when an effect asks: always, or where check does not pass. says is
// the sentence then, of who and the value. note is called for the values that
// pass and those that do not: what follows may depend on them. A value that is
// a program names no file, and one that is code may name a file with a program.
type rule struct {
	reason approval.Reason
	says   string
	check  func(a *arguments, u use) bool
	note   func(a *arguments, u use)

	program, code bool
	// allowed is the word with which an entry covers it, where the program runs in
	// the session's folder and the value is known.
	allowed approval.Allowed
	// target is what is shown to be done to what the value names.
	target approval.TargetOp
}

// effects are all of them. An effect without a reason asks in its note, or not
// at all.
var effects func() map[effect]rule

func init() { // here, because the notes of some look at others
	effects = sync.OnceValue(func() map[effect]rule {
		all := allEffects()
		maps.Copy(all, showing())
		maps.Copy(all, requesting())
		return all
	})
}

func allEffects() map[effect]rule {
	const (
		starts  = approval.ReasonStartsProgram
		outside = approval.ReasonOutsideFolder
		deletes = approval.ReasonDeletes
	)
	return map[effect]rule{
		effectNone:    {},
		effectCommand: {},
		effectFed:     {},
		effectTool:    {},
		effectVenv:    {},
		effectModule:  {code: true, reason: approval.ReasonInlineCode, says: "%[1]s runs code"},
		effectRun:     {},
		"starts":      {code: true, reason: starts, says: "%[1]s starts a program"},
		"code":        {code: true, reason: approval.ReasonInlineCode, says: "%[1]s runs code"},
		effectPython:  {program: true, reason: approval.ReasonInlineCode, says: "%[1]s runs code", allowed: approval.AllowThisCode},
		effectSource:  {code: true, reason: approval.ReasonInlineCode, says: "%[1]s runs code", allowed: approval.AllowThisCode},
		"writes":      {target: approval.TargetWrites, reason: approval.ReasonWritesFile, says: "%[1]s writes a file"},
		"deletes":     {reason: deletes, says: "%[1]s deletes or overwrites what is there"},
		"uploads":     {reason: approval.ReasonUploads, says: "%[1]s sends a file away"},
		"graphql":     {note: func(a *arguments, _ use) { a.has["graphql"] = true }},
		"stdlib":      {reason: approval.ReasonInlineCode, says: "%[1]s may run a file of the folder that has the name of a module", check: ownModules},
		// With an option that has it, the files that the words name are written.
		"rewrites": {reason: approval.ReasonWritesFile, says: "%[1]s writes the files that it names", allowed: approval.AllowProjectWrites},
		effectEdits: {reason: approval.ReasonWritesFile, says: "%[1]s writes the files that it names", note: func(a *arguments, u use) {
			a.edited = append(a.edited, u.value)
		}},
		"clears":    {reason: approval.ReasonWritesFile, says: "%[1]s deletes what it finds", note: func(a *arguments, _ use) { a.cleared = len(a.findings) }},
		"config":    {reason: approval.ReasonChangesConfig, says: "%[1]s changes settings that stay"},
		"secrets":   {reason: approval.ReasonProtectedState, says: "%[1]s shows what is secret"},
		"unchecked": {reason: approval.ReasonApprovalRequired, says: "%[1]s leaves out the checks that the project has for it"},
		"system":    {reason: approval.ReasonChangesSystem, says: "%[1]s changes the machine"},

		// Words.
		"name": {reason: starts, says: "%[1]s is given %[2]q, which may be more than a name", check: func(_ *arguments, u use) bool {
			return strings.Trim(u.value, nameLetters) == "" && strings.Trim(u.value[:min(1, len(u.value))], "/.~-") != "" && !strings.Contains(u.value, "..")
		}},
		"word": {reason: starts, says: "%[1]s is given %[2]q, which may be more than a word", check: func(_ *arguments, u use) bool {
			return strings.Trim(u.value, wordLetters) == ""
		}},
		"only": {reason: starts, says: "what %[2]q does with %[1]s is not known", allowed: approval.AllowUnknown, check: func(_ *arguments, u use) bool {
			return matches(u.only[u.option], u.value)
		}},
		"local": {reason: starts, says: "%[1]s is given %[2]q, which may name another machine", check: func(_ *arguments, u use) bool {
			return !strings.Contains(u.value, ":")
		}},
		"url": {reason: starts, says: "%[1]s is given %[2]q, which is no address of the web", check: func(_ *arguments, u use) bool {
			return webAddress().MatchString(u.value)
		}},
		"repo": {reason: starts, says: "%[1]s is given %[2]q, which is no address that git only fetches from", check: func(a *arguments, u use) bool {
			return repository().MatchString(u.value) && !a.isHere(u.value) && !strings.Contains(u.value, "..") && !strings.Contains(u.value, "::") && !strings.Contains(u.value, "@-")
		}},
		// gh takes a token along to the host that a repository or an address names.
		"owner": {reason: starts, says: "%[1]s is given %[2]q, which may be on another host than github.com", check: func(_ *arguments, u use) bool {
			return onGitHub(u.value) || strings.Count(u.value, "/") < 2 && !strings.ContainsAny(u.value, ":@\\")
		}},
		"pull": {reason: starts, says: "%[1]s is given %[2]q, which may be on another host than github.com", check: func(_ *arguments, u use) bool {
			return onGitHub(u.value) || !strings.ContainsAny(u.value, ":@\\")
		}},
		"ref": {reason: deletes, says: "%[1]s deletes or overwrites with %[2]q what others may have", check: func(_ *arguments, u use) bool {
			return u.value == "" || strings.IndexByte("+:-", u.value[0]) < 0 && !strings.Contains(u.value, "*")
		}},
		"switch": {reason: starts, says: moreThan, check: func(_ *arguments, u use) bool {
			name, to, set := strings.Cut(strings.TrimPrefix(u.value, "-D"), "=")
			return plainName(cmakeType().ReplaceAllString(name, ""), "") && (!set || switchValue().MatchString(to))
		}},
		"setting": {reason: starts, says: moreThan, check: func(a *arguments, u use) bool {
			name, to, set := strings.Cut(u.value, "=")
			if !set || switchValue().MatchString(to) || envnames.Harmless(name, to) {
				return plainName(name, "")
			}
			// What has the name of a program may be one, and so may its value.
			tool := strings.ToLower(name)
			program, _ := a.search(to)
			harmless := program == nil && profiles().programs[tool] == nil && (kindOf(tool) == approval.KindOther || kindOf(tool) == approval.KindReader)
			harmless = harmless && envnames.Steers(name) == "" && !strings.HasPrefix(to, "-")
			return isName(name) && harmless && envnames.Requested(name) >= envnames.Other && strings.Trim(to, wordLetters+".") == ""
		}},
		"task": {reason: starts, says: moreThan, check: func(_ *arguments, u use) bool {
			return plainName(strings.TrimPrefix(u.value, ":"), ":@")
		}},
		"package": {reason: starts, says: moreThan, check: func(a *arguments, u use) bool { return isPackage(u.value) && !a.isHere(u.value) }},
		"goflags": {reason: starts, says: moreThan, check: func(_ *arguments, u use) bool { return goFlags(u.value) }},
		"mark":    {note: func(a *arguments, u use) { a.mark = u.value }},
		"var": {reason: approval.ReasonEnvAsks, says: "%[1]s takes %[2]s away", check: func(_ *arguments, u use) bool {
			class := envnames.Requested(u.value)
			return class != envnames.Fixed && class != envnames.Malformed
		}},

		// Programs.
		"awk": oneLine(oneliner.Awk), "sed": oneLine(oneliner.Sed), "jq": oneLine(oneliner.JQ),
		"yq":        yq,
		"statement": {program: true, reason: approval.ReasonInlineCode, says: "%[1]s is given %[2]q, which may read or write other files", check: statement},
		"awkfile":   inFile(oneliner.Awk), "sedfile": inFile(oneliner.Sed),

		// Places that are read, or run.
		"inside": {reason: outside, says: notInside, check: named},
		"lock": {code: true, reason: outside, says: "%[1]s would wait for %[2]q, or it is not known to be in the project", check: func(a *arguments, u use) bool {
			file, err := a.look(join(a.dir, u.value))
			return named(a, u) && (err != nil || a.isFile(u.value) || file.IsFolder())
		}},
		"folder": {reason: outside, says: notInside, check: func(a *arguments, u use) bool {
			return (named(a, u) || a.otherProject(u) != "") && (u.is["adds"] || !a.has["folder"])
		}, note: func(a *arguments, u use) { a.dir, a.has["folder"] = cmp.Or(a.otherProject(u), a.below(u.value)), true }},
		"moves": {note: func(a *arguments, u use) {
			a.dir = "" // of two the last one counts
			if file, err := a.look(join(a.start, u.value)); err == nil && (a.start != "" || path.IsAbs(u.value)) {
				a.dir = file.Path
			}
		}},
		effectScript: {code: true, reason: outside, says: notInside, check: named, note: func(a *arguments, u use) {
			if strings.Trim(u.value[:min(1, len(u.value))], "-+@") == "" || strings.Contains(u.value, ":") || !a.isFile(u.value) || !u.fits() {
				a.find(approval.ReasonInlineCode, "%s runs %q, which is no file of the project", u.who, u.value)
				a.readsInput(u.value == "-")
			}
		}},
		"file": {reason: outside, says: notInside, check: func(a *arguments, u use) bool { return u.value == "/dev/null" || named(a, u) }, note: func(a *arguments, u use) {
			if strings.Contains(u.value, ":") || strings.Trim(u.value[:min(1, len(u.value))], "@+") == "" || u.option == "it" && !u.fits() {
				a.find(starts, "%s is given %q, which may be no file", u.who, u.value)
			}
		}},
		"usual": {code: true, reason: starts, says: "%[1]s is given settings of an unusual place, %[2]q", check: func(a *arguments, u use) bool {
			return a.inside(u.value) && a.isFile(u.value) && !strings.Contains(u.value, ":") && usual(u.name, path.Base(u.value))
		}},
		"context": {reason: outside, says: "%[1]s is given %[2]q, which is no folder of the project", check: func(a *arguments, u use) bool {
			file, err := a.look(join(a.dir, u.value))
			return err == nil && file.IsFolder() && !strings.Contains(u.value, ":") && a.inside(u.value) && !a.inGit(u.value)
		}},
		effectText: {program: true},
		"here":     {reason: starts, says: moreThan, check: here},
		"module": {reason: starts, says: moreThan, check: func(a *arguments, u use) bool {
			return here(a, u) || plainName(u.value, "@") && !a.isHere(u.value)
		}},
		effectGoFile: {code: true, reason: starts, says: moreThan, check: func(a *arguments, u use) bool {
			return here(a, u) || isGo(u.value) && plainName(u.value, "") && a.inside(u.value)
		}},
		effectPath: {reason: outside, says: "%[1]s is given the pattern %[2]q, which can mean any file", check: func(_ *arguments, u use) bool {
			return !strings.HasPrefix(u.value, ":") || strings.HasPrefix(u.value, ":!") || strings.HasPrefix(u.value, ":^") || matches(u.only["it"], u.value)
		}, note: func(a *arguments, u use) {
			if i := strings.LastIndexByte(u.value, ':'); i >= 0 {
				a.values = append(a.values, u.value[i+1:])
			}
		}},
		effectPlain: {reason: starts, says: "%[1]s is given %[2]q, which may be no file", check: func(_ *arguments, u use) bool {
			return !strings.Contains(u.value, "://") && (u.value == "" || !strings.ContainsAny(u.value[:1], "+@"))
		}},

		// Places that are written, or deleted.
		"out": {target: approval.TargetWrites, reason: outside, says: moreThan, check: func(a *arguments, u use) bool {
			return u.value == "/dev/null" || a.inside(u.value) && !a.inGit(u.value)
		}},
		"sink": {target: approval.TargetWrites, reason: approval.ReasonWritesFile, says: "%[1]s writes a file", check: func(_ *arguments, u use) bool {
			return u.value == "-" || u.value == "/dev/null"
		}},
		"into": {target: approval.TargetWrites, note: (*arguments).into},
		"database": {note: func(a *arguments, u use) {
			if u.value != ":memory:" {
				a.into(u)
			}
		}},
		"copy": {target: approval.TargetWrites, note: (*arguments).into},
		"each": {target: approval.TargetChanges, note: func(a *arguments, u use) {
			if a.into(u); a.whole(path.Clean(join(a.start, u.value))) {
				a.written = append(a.written, finding(outside, "%s changes all of the working directory", u.who))
			}
		}},
		"modes": {target: approval.TargetChanges, note: func(a *arguments, u use) {
			effects()["each"].note(a, u)
			a.removed(u)
		}},
		"packed": {target: approval.TargetChanges, note: func(a *arguments, u use) {
			effects()["each"].note(a, u)
			name := strings.ToLower(stem(u.value))
			a.derived(u.who, path.Dir(join(a.start, u.value)), name+"[._-]*", name)
			if i := strings.LastIndexAny(u.value, ".-_"); i > 0 {
				a.values = append(a.values, u.value[:i])
			}
		}},
		"prefix": {reason: approval.ReasonProtectedState, says: "%[1]s writes files whose names begin with %[2]q, as those of settings may", check: func(_ *arguments, u use) bool {
			return !hiddenName().MatchString(u.value)
		}, note: func(a *arguments, u use) {
			a.into(u)
			a.completed(u)
			a.derived(u.who, path.Dir(join(a.start, u.value)), literally(path.Base(join(a.start, u.value)))+"*")
		}},
		"under": {target: approval.TargetChanges, reason: outside, says: "%[1]s names %[2]q, which is not known to be below the project", check: strictlyBelow, note: func(a *arguments, u use) {
			a.agents(u)
			if a.dir = a.below(u.value); !a.closed(a.dir) {
				a.leading = append(a.leading, finding(outside, "%s may follow links that lead out of %q", u.who, u.value))
			}
		}},
		"down":  {target: approval.TargetDeletes, reason: deletes, says: "%[1]s deletes %[2]q, which is not known to be below the project", check: strictlyBelow, note: (*arguments).emptiesFolder},
		"below": {target: approval.TargetChanges, reason: deletes, says: notBelow, check: oneBelow, note: goes},
		"over":  {target: approval.TargetChanges, reason: deletes, says: notBelow, check: oneBelow, note: (*arguments).overwritten},
	}
}

func onGitHub(address string) bool { return strings.HasPrefix(address, "https://github.com/") }

const (
	moreThan  = "%[1]s is given %[2]q, which may be more than it should"
	notInside = "%[1]s names %[2]q, which is not known to be in the project"
	notBelow  = "%[1]s overwrites or deletes %[2]q, which is not known to be one thing below the project"
)

// below is a folder in the one where words are names of files; "" where no
// system opens a path as long.
func (a *arguments) below(name string) string {
	at := join(a.dir, name)
	if a.dir == "" && !path.IsAbs(name) || len(at) > maxPath {
		return ""
	}
	return at
}

// fits reports whether a file has one of the names that operands may have.
func (u use) fits() bool {
	return u.only["it"] == nil || matches(u.only["it"], path.Base(u.value))
}

// named reports whether a value names something in the working directory that
// does not belong to git. An option whose value is optional may be without.
func named(a *arguments, u use) bool {
	return u.value == "" && u.options[u.option].takes == takesMaybe || a.inside(u.value) && !a.inGit(u.value)
}

// otherProject is the real path of a folder in another project, where the program
// starts what that says; else "".
func (a *arguments) otherProject(u use) string {
	at := a.below(u.value)
	if !u.is["project"] || at == "" || a.plan.Folder.Holds(path.Clean(at)) || a.inGit(u.value) {
		return ""
	}
	file, err := a.look(at)
	if err != nil || !file.IsFolder() || a.plan.Folder.Holds(file.Path) || !a.someProject(file.Path) {
		return ""
	}
	return file.Path
}

func here(a *arguments, u use) bool {
	return (u.value == "." || strings.HasPrefix(u.value, ".[") || strings.HasPrefix(u.value, "./")) && !strings.ContainsAny(u.value, ":@ ") && a.inside(u.value)
}

func strictlyBelow(a *arguments, u use) bool {
	return named(a, u) && (u.value == "" || !a.whole(path.Clean(join(a.dir, u.value))))
}

// goes takes down what is deleted or overwritten, which may be all there is, or hold
// what programs start from.
func goes(a *arguments, u use) {
	a.removed(u)
	a.gone = append(a.gone, path.Clean(join(a.dir, u.value)))
}

// emptiesFolder asks where a build empties a folder that is there and is not known as one
// that tools make again: what it holds may be the work of a person.
func (a *arguments) emptiesFolder(u use) {
	if goes(a, u); u.option == "it" || u.value == "" {
		return // of rm, it is the job, and tools have folders of their own
	}
	folder, err := a.look(join(a.dir, u.value))
	if a.looked = true; errors.Is(err, fs.ErrNotExist) {
		return
	}
	below := strings.TrimPrefix(folder.Path, a.plan.Folder.Path)
	if err != nil || !slices.ContainsFunc(strings.Split(below, "/"), func(name string) bool { return remade()[name] }) {
		a.find(approval.ReasonDeletes, "%s deletes or overwrites what is in %q", u.who, u.value)
	}
}

// oneBelow reports whether a value names one thing below the project, and is no pattern.
func oneBelow(a *arguments, u use) bool {
	return !strings.HasPrefix(u.value, ":") && !strings.ContainsAny(u.value, `*?[\`) && a.inside(u.value) && !a.whole(path.Clean(join(a.dir, u.value)))
}

// overwritten asks where something has the name of an operand: what it holds may be in no
// commit. An entry can cover that for a file, which git writes as a redirection does.
func (a *arguments) overwritten(u use) {
	file, err := a.look(join(a.dir, u.value))
	if a.dir != "" && errors.Is(err, fs.ErrNotExist) {
		return // a branch, or a file that comes back
	}
	goes(a, u)
	if err == nil && file.IsFolder() {
		a.find(approval.ReasonDeletes, "%s overwrites what has changed in %q", u.who, u.value)
		return
	}
	why := finding(approval.ReasonWritesFile, "%s overwrites %q", u.who, u.value)
	why.Allowed = a.allowedWrite(u)
	a.findings = append(a.findings, why)
}

// oneLine is the rule of programs that stand in an argument.
func oneLine(read func(string) string) rule {
	return rule{program: true, note: func(a *arguments, u use) {
		if why := read(u.value); why != "" {
			a.find(approval.ReasonInlineCode, "the program of %s %s", u.who, why)
		}
	}}
}

// yq is the rule of programs of yq, which takes a first operand for a file if
// there is one of that name.
var yq = rule{program: true, note: func(a *arguments, u use) {
	if file, err := a.look(join(a.dir, u.value)); a.dir == "" || err == nil && !file.IsFolder() {
		a.values = append(a.values, u.value)
		a.find(approval.ReasonInlineCode, "%s is given %q, which is a file here and not a program", u.who, u.value)
	}
	effects()["jq"].note(a, u)
}}

// maxProgram bounds how much of a file with a program is read.
const maxProgram = 16 << 10

// reading is how many steps it costs to read one, and perReading how many bytes make
// it one step more.
const (
	reading    = 50
	perReading = 64 << 10
)

// inFile is the rule of programs that stand in a file of the working directory.
func inFile(read func(string) string) rule {
	return rule{code: true, note: func(a *arguments, u use) {
		why := "is not in the project"
		if a.inside(u.value) && a.isFile(u.value) && a.spend(reading) {
			a.program = true
			var text []byte
			file, err := a.look(join(a.dir, u.value))
			if err == nil {
				text, err = a.World.Head(file, maxProgram+1)
			}
			switch why = "cannot be read"; {
			case errors.Is(err, trail.ErrPrivate):
				why += ": " + trail.ErrPrivate.Error()
			case err == nil && len(text) <= maxProgram:
				why = read(string(text))
			}
		}
		if why != "" {
			a.find(approval.ReasonInlineCode, "the program of %s in %q %s", u.who, u.value, why)
		}
	}}
}

// late tell of which words of an effect the beginning says enough: it is an
// address of the web, a text that names no file, or a path. What the word became
// is judged again before the start.
var late = map[effect]func(u use) bool{
	"url":     func(u use) bool { return strings.Contains(u.value, "://") },
	"address": hostKnown,
	"body":    sendsNoFile, "header": sendsNoFile, "format": sendsNoFile,
	"local": func(u use) bool { return strings.Contains(u.value, "/") },
}

// effect turns what an option or an operand does into a reason to ask.
func (a *arguments) effect(p *profile, e effect, option string, word argument) {
	a.bytes(len(word.text))
	for list, options := range p.lists {
		for _, listed := range options {
			if listed == option {
				a.has[list], a.has[option] = true, true
			}
		}
	}
	r, value := effects()[e], word.text
	switch {
	case word.open != nil && e == effectText:
		return
	case word.open != nil && word.open.Prefix != "" && !word.open.Many && late[e] != nil && late[e](use{p, option, "", word.open.Prefix}):
		a.values = append(a.values, word.open.Maybe...)
		value = word.open.Prefix + "1"
		a.request.told = a.request.told || e == "address"
	case word.open != nil:
		a.values = append(a.values, word.open.Maybe...)
		if e == effectNone || e == effectPlain && a.stopped || e == effectPath || e == effectPlain && value != "" && strings.Trim(value[:1], "./") == "" {
			return
		}
		if r.reason == "" || r.check != nil {
			a.find(approval.ReasonRuntimeValue, "what %s is told is known only when it runs", p.name)
			return
		}
	case value != "" && !r.program:
		a.values = append(a.values, value)
	}
	if option != "it" && e != "folder" && (value != "" || word.open != nil) {
		a.valued = true
	}
	if e == effectSource || e == effectPython {
		a.has["source"] = true
	}
	u := use{p, option, p.name, value}
	if option != "it" {
		u.who += " " + option
	}
	if p.is["atfile"] && strings.HasPrefix(value, "@") {
		a.unknown(p, "the file of words %q", value)
	}
	if (p.is["joined"] || a.has["joined"]) && strings.ContainsAny(value, "$`\\'\";&|<>\n") {
		a.find(approval.ReasonStartsProgram, "%s puts %q into a line of a shell", u.who, value)
	}
	flat := strings.ReplaceAll(value, "/", "\x00") // for a * that stands for it
	if matches(p.never[option], flat) || matches(p.never[option], strings.ToLower(flat)) {
		a.find(approval.ReasonStartsProgram, "what %q does with %s is not known", value, u.who)
	}
	if s := effects()["settings"]; matches(p.shows[option], strings.ReplaceAll(strings.ToLower(flat), "\n", "")) && !s.check(a, u) {
		a.find(s.reason, s.says, u.who)
	}
	if r.reason != "" && (r.check == nil || !r.check(a, u)) {
		a.find(r.reason, r.says, u.who, value)
		if word.open == nil && a.plan.Folder.Holds(a.start) {
			a.findings[len(a.findings)-1].Allowed = a.covering(e, r, u)
		}
	}
	if r.target != "" {
		a.targeted(r.target, u, word)
	}
	if r.note != nil {
		r.note(a, u)
	}
	if len(p.derives) > 0 && option != "it" {
		a.places[option] = append(a.places[option], value)
	}
	if r.code {
		a.code = append(a.code, a.bound(a.dir, value)...)
	}
}

// maxPath is more than any system opens.
const maxPath = 4096

// bound returns the regular file that a word leads to, if there is one, under
// the name by which the program will open it.
func (j *job) bound(dir, word string) []approval.File {
	if word == "" || len(word) > maxPath || dir == "" && !path.IsAbs(word) {
		return nil
	}
	file, err := j.look(join(dir, word))
	if err != nil || !file.IsRegular() {
		return nil
	}
	file.Path = join(dir, word)
	return []approval.File{file}
}
