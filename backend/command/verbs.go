package command

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/programs"
	"github.com/countersign-app/countersign/backend/verbs"
)

// operating says why an agent's command may not be our own program with these
// words, or "". sure tells that they are its words for certain, and that it may be
// another version: then what is no verb here, or known only when it runs, is refused
// as well.
func operating(args []string, sure bool) string {
	verb, mark, _ := verbs.Find(args)
	switch {
	case mark == verbs.Denied:
		return "it operates Countersign, which is for the person: countersign " + verb.Words
	case mark == verbs.Unknown && sure:
		return "it starts Countersign with words of which it is not known that they only read"
	}
	return ""
}

// operates marks a command that starts our own program: by its name, by what
// links lead to, as a copy, by the first line of a script, or in code that an
// interpreter is given. What only reads counts as a reader, and what asks as what
// it would run.
func (j *job) operates(seg *approval.Segment) {
	sure := seg.Via == 0 || !guesses(&j.plan.Segments[seg.Via-1])
	if seg.Program == nil && verbs.Named(seg.Argv[0]) {
		seg.Floor = operating(seg.Argv[1:], sure)
	}
	words := seg.Argv[1:]
	for at := seg.Program; at != nil; at = at.Interpreter {
		ours := j.IsOurs != nil && j.IsOurs(at.File)
		named := verbs.Named(at.Path) || verbs.Named(at.File.Path)
		if (ours || named) && seg.Floor == "" {
			seg.Floor = operating(words, sure && !ours) // ours has no verb that is not known here
		}
		if ours && at == seg.Program && seg.Floor == "" {
			j.own(seg)
		}
		words = slices.Concat(strings.Fields(at.InterpreterArg), []string{at.Path}, words)
	}
	seg.Floor = codeOperates(seg)
}

// mayOperate does the same for a command whose program only the run can tell, by
// what it may be.
func (j *job) mayOperate(seg *approval.Segment) {
	for _, name := range seg.Open[0].Maybe {
		may := approval.Segment{Argv: append([]string{name}, seg.Argv[1:]...), Dir: seg.Dir}
		if may.Program, _ = j.find(name, seg.Dir); j.startsOurs(&may) && seg.Floor == "" {
			seg.Floor = operating(seg.Argv[1:], true)
		}
	}
}

// guesses reports whether the words of a program only may be a command.
func guesses(outer *approval.Segment) bool {
	return outer.Kind == approval.KindOther || outer.Kind == approval.KindInterpreter
}

// startsOurs reports whether a command starts our own program.
func (j *job) startsOurs(seg *approval.Segment) bool {
	return verbs.Named(seg.Argv[0]) || seg.Program != nil && (verbs.Named(seg.Program.File.Path) || j.IsOurs != nil && j.IsOurs(seg.Program.File))
}

// own says what our own program does that may be started.
func (j *job) own(seg *approval.Segment) {
	verb, mark, rest := verbs.Find(seg.Argv[1:])
	before := len(seg.Argv) - len(rest)
	for _, o := range seg.Open {
		if o.At < before || verb.Tightens+verb.Person+verb.NoWall != "" {
			seg.Floor = "what it tells Countersign is known only when it runs"
			return
		}
	}
	switch {
	case mark != verbs.Asks:
		seg.Kind = approval.KindReader
	case verb.Words == "run":
		seg.Asks, seg.Approved = asking(seg.Argv[1:before], rest)
	}
}

// runOptions are those of `run` behind which a value stands. Others may lead to
// another host, so a command with them is judged as any other program.
var runOptions = words("--cwd --agent --session --env --timeout --wait --approved")

// asked returns the command behind the options of `run`, and what they say.
func asked(rest []string) (words []string, said map[string]string, ok bool) {
	said = map[string]string{}
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		name, value, joined := strings.Cut(rest[0], "=")
		switch rest = rest[1:]; {
		case name == "--":
			return rest, said, true
		case name == "--json":
			continue
		case !runOptions()[name], !joined && len(rest) == 0:
			return nil, nil, false
		case !joined:
			value, rest = rest[0], rest[1:]
		}
		said[name] = value
	}
	return rest, said, true
}

// asking reports whether a `run` only asks, and under which id it runs what was
// allowed before. before are the words up to the verb, rest those behind it.
func asking(before, rest []string) (asks bool, approved string) {
	words, said, ok := asked(rest)
	if id := said["--approved"]; id != "" {
		return ok && len(words) == 0, id
	}
	plain := len(before) == 1 || len(before) == 2 && before[0] == "--json"
	return ok && plain && len(words) > 0, ""
}

// runs adds what a `run` of ours would run, in the folder that it says.
func (j *job) runs(index int, outer *approval.Segment) {
	_, _, rest := verbs.Find(outer.Argv[1:])
	words, said, _ := asked(rest)
	if len(words) == 0 {
		return
	}
	dir := outer.Dir
	if cwd := said["--cwd"]; cwd != "" && (dir != "" || path.IsAbs(cwd)) {
		dir = path.Clean(join(dir, cwd))
	}
	if layers(j.plan.Segments, index) >= maxLayers {
		j.complex("programs start programs more than %d layers deep", maxLayers)
		j.nameAll(outer)
		return
	}
	first := len(outer.Argv) - len(words)
	seg := approval.Segment{Start: outer.Start, End: outer.End, Argv: words, Dir: dir, Via: index + 1, Word: first}
	for _, open := range outer.Open {
		if open.At -= first; open.At >= 0 {
			seg.Open = append(seg.Open, open)
		}
	}
	switch {
	case len(seg.Open) > 0 && seg.Open[0].At == 0:
		seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "the program's name is known only when it runs"))
	default:
		j.program(&seg)
	}
	j.plan.Segments = append(j.plan.Segments, seg)
	j.nested(len(j.plan.Segments) - 1)
}

// awks start programs that their own program names.
var awks = words("awk gawk mawk nawk original-awk")

// codeOperates looks for our own verbs in the code that an interpreter or a shell is
// given: in its words and in the texts that it is fed.
func codeOperates(seg *approval.Segment, fed ...string) string {
	awk := seg.Program != nil && slices.ContainsFunc(programs.PlainNames(path.Base(seg.Program.File.Path)), func(name string) bool { return awks()[name] })
	if seg.Floor != "" || seg.Kind != approval.KindInterpreter && seg.Kind != approval.KindShell && !awk {
		return seg.Floor
	}
	for _, text := range append(slices.Clone(seg.Argv[1:]), fed...) {
		parts := strings.FieldsFunc(text, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./", r)
		})
		for i, part := range parts {
			if !verbs.Named(part) || len(parts) == 1 {
				continue
			}
			if why := operating(parts[i+1:], false); why != "" {
				return why
			}
		}
	}
	return ""
}
