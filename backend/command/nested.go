package command

import (
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// nested adds the programs that the words of a segment name, as segments of
// their own: for a wrapper, a shell or an unknown program, what follows its
// own name may be a command. As the last word of an unknown program, only
// shells and their like count as one.
func (j *job) nested(index int) {
	outer := j.plan.Segments[index]
	defer j.with(outer.Search)()
	if outer.Program == nil && outer.Builtin == "" && startingBuiltins()[first(outer.Argv)] {
		outer.Kind = approval.KindWrapper
	} else if outer.Program == nil {
		return
	}
	if outer.Asks {
		j.runs(index, &outer)
		return
	}
	if outer.Profiled && len(approval.Lasting(outer.Findings)) == 0 {
		j.inner(index, &outer)
		return // its arguments were read: they start this and nothing else
	}
	switch outer.Kind {
	case approval.KindOther, approval.KindWrapper, approval.KindMultiplexer, approval.KindShell, approval.KindInterpreter:
	default:
		return
	}
	if layers(j.plan.Segments, index) >= maxLayers {
		j.complex("programs start programs more than %d layers deep", maxLayers)
		j.nameAll(&outer)
		return
	}
	if outer.Kind == approval.KindShell && !j.innerText(index, outer) {
		j.ask(approval.ReasonUnreadable, "what %s would run cannot be read", outer.Argv[0])
	}
	dir, env := outer.Dir, outer.Env
	if outer.Kind == approval.KindWrapper {
		j.split(&outer)
		if read := j.profiled(&outer); read != nil {
			dir, env = read.dir, appendNew(env, read.sets)
		}
	}
	if outer.Kind == approval.KindWrapper && splits(outer.Argv) {
		j.ask(approval.ReasonWrapperUnclear, "%s takes a command apart by itself", outer.Argv[0])
	}
	found := false // what may be the command: what follows may still be it instead
	for i := 1; i < len(outer.Argv); i++ {
		word := outer.Argv[i]
		if word == "" || strings.HasPrefix(word, "-") || len(j.plan.Segments) > maxSegments {
			continue
		}
		res, why := j.find(word, dir)
		if res == nil || why.Reason == approval.ReasonNotFound {
			continue
		}
		kind := kindOf(path.Base(res.Path), path.Base(res.File.Path))
		harmless := kind != approval.KindShell && kind != approval.KindInterpreter && kind != approval.KindMultiplexer && kind != approval.KindWrapper
		seg := approval.Segment{
			Start: outer.Start, End: outer.End, Argv: outer.Argv[i:], Dir: dir, Env: env, Search: outer.Search, Via: index + 1,
			Named: harmless && (found || outer.Kind == approval.KindOther && (i == len(outer.Argv)-1 || i == 1 && word == "test")), // which many have a command of
		}
		if !j.spend(len(seg.Argv)) || !j.bytes(bytesOf(seg.Argv)) { // they are looked at again for each word before them
			return
		}
		j.program(&seg)
		j.plan.Segments = append(j.plan.Segments, seg)
		if !harmless || kind == approval.KindOther && !found {
			j.nested(len(j.plan.Segments) - 1)
			return // its own words were looked at with it
		}
		found = true
	}
}

// inner adds the commands that a program starts by its profile.
func (j *job) inner(index int, outer *approval.Segment) {
	read, before := j.profiled(outer), j.handsOn
	defer func() { j.handsOn = before }()
	for _, one := range read.commands {
		switch {
		case one.fed || one.input || len(read.commands) > 1:
			j.handsOn = nil
		case slices.ContainsFunc(outer.Redirects, func(r approval.Redirect) bool { return r.FD == 0 }):
			j.handsOn = outer.Redirects
		default:
			j.handsOn = before
		}
		if layers(j.plan.Segments, index) >= maxLayers || len(j.plan.Segments) > maxSegments {
			j.complex("programs start programs more than %d layers deep", maxLayers)
			j.nameAll(outer)
			return
		}
		seg := approval.Segment{Start: outer.Start, End: outer.End, Dir: one.dir, Env: appendNew(outer.Env, read.sets), Search: outer.Search, Via: index + 1, Word: one.words[0].at}
		for i, word := range one.words {
			if seg.Argv = append(seg.Argv, word.text); word.open != nil {
				open := *word.open
				open.At = i
				seg.Open = append(seg.Open, open)
			}
		}
		switch {
		case one.words[0].open != nil || one.words[0].made:
			seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "the program's name is known only when it runs"))
		case strings.HasPrefix(seg.Argv[0], "-"):
			seg.Findings = append(seg.Findings, finding(approval.ReasonWrapperUnclear, "%s is given an option in the place of a command", first(outer.Argv)))
		default:
			j.program(&seg)
		}
		name := path.Base(seg.Argv[0])
		if one.fed && (seg.Kind != approval.KindReader || asReader(name, seg.Argv).open) {
			seg.Findings = append(seg.Findings, finding(approval.ReasonWrapperUnclear, "%s gives %s words that nobody judges", first(outer.Argv), name))
		}
		if one.fed && seg.Program != nil && j.walking(&seg, nil) != nil {
			seg.Findings = append(seg.Findings, finding(approval.ReasonWrapperUnclear, "%s gives %s folders that nobody looked at", first(outer.Argv), name))
		}
		if one.input {
			j.takes(read, one, &seg, index)
		}
		if one.fed && !one.input {
			j.placedByFinder(outer, &seg, one.dir)
		}
		if one.fed && seg.Kind == approval.KindReader && seg.Profiled {
			seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "what %s is told is known only when it runs", seg.Argv[0]))
		}
		if one.fed && j.startsOurs(&seg) {
			seg.Floor = "what it tells Countersign is known only when it runs"
		}
		if one.fed && seg.Program != nil && !keptAll(seg.Program) {
			seg.Findings = append(seg.Findings, finding(approval.ReasonWrapperUnclear, "%s starts %s when its input comes, and programs of the person could change that file until then", first(outer.Argv), seg.Program.File.Path))
		}
		if !seg.Profiled || seg.Kind == approval.KindShell {
			j.handsOn = nil // who takes it there is not known
		}
		j.plan.Segments = append(j.plan.Segments, seg)
		j.nested(len(j.plan.Segments) - 1)
	}
}

// startingBuiltins run what follows them.
var startingBuiltins = words("command exec builtin eval")

func first(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	return argv[0]
}

// innerText looks into the text of a shell that a command starts, so that
// what it would run is shown and the denylist sees it. The text itself does
// not run from the plan. It reports false when there is no text to read.
func (j *job) innerText(index int, outer approval.Segment) bool {
	_, text, _, ok := shellText(outer.Argv)
	if !ok || j.depth >= maxLayers || !j.parse(text) {
		return false
	}
	inner := &job{Analyzer: j.Analyzer, who: j.who, effort: j.effort, requested: j.requested, linked: j.linked, depth: j.depth + 1, feeds: j.feeds, passesOn: j.passesOn, added: j.added}
	inner.plan.Cwd.Path, inner.plan.Folder, inner.plan.Shell = outer.Dir, j.plan.Folder, "sh"
	inner.text(text, "bash")
	j.plan.Findings = append(j.plan.Findings, inner.plan.Findings...)
	j.plan.Targets = append(j.plan.Targets, inner.plan.Targets...)
	base := len(j.plan.Segments)
	for _, seg := range inner.plan.Segments {
		if seg.Via > 0 {
			seg.Via += base
		} else {
			seg.Via = index + 1
		}
		seg.Start, seg.End, seg.Env = outer.Start, outer.End, appendNew(outer.Env, seg.Env)
		j.plan.Segments = append(j.plan.Segments, seg)
	}
	return true
}

// splits reports whether a wrapper gets a whole command in one word, as
// env -S does.
func splits(argv []string) bool {
	return slices.ContainsFunc(argv[1:], func(arg string) bool {
		return strings.HasPrefix(arg, "--split-string") || strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, "S")
	})
}

// nameAll adds what the words of a program may start as commands that are only
// named, for the floor and the denylist alone.
func (j *job) nameAll(outer *approval.Segment) {
	for i := 1; i < min(len(outer.Argv), maxSkimmed); i++ {
		words := outer.Argv[i:]
		if words[0] != "" && words[0][0] != '-' {
			floor := j.floor(path.Base(words[0]), words[1:], outer.Dir)
			j.plan.Segments = append(j.plan.Segments, approval.Segment{Start: outer.Start, End: outer.End, Argv: words, Named: true, Floor: floor})
		}
	}
}

// split looks into what a wrapper would take apart by itself, for the floor and
// the denylist alone: texts in one word, and values of its options.
func (j *job) split(outer *approval.Segment) {
	for i, arg := range outer.Argv[1:] {
		if !j.tick(1) {
			return
		}
		_, value, given := strings.Cut(arg, "=")
		switch {
		case strings.HasPrefix(arg, "-") && given:
			j.mention(strings.Join(append([]string{value}, outer.Argv[i+2:]...), " "), outer)
		case strings.ContainsAny(arg, " \t\n;|&"):
			j.mention(arg, outer)
		}
	}
	for i, arg := range outer.Argv[1:] {
		_, text, found := strings.Cut(arg, "--split-string=")
		if short := strings.TrimLeft(arg, "-"); !found && strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") {
			_, text, found = strings.Cut(short, "S")
		}
		if found && text == "" && i+2 < len(outer.Argv) {
			text = outer.Argv[i+2]
		}
		if found {
			j.mention(text, outer)
		}
	}
}

// layers counts how many segments a segment is wrapped in.
func layers(segments []approval.Segment, index int) int {
	n := 0
	for via := segments[index].Via; via > 0 && n <= maxLayers; via = segments[via-1].Via {
		n++
	}
	return n
}
