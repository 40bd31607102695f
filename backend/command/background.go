package command

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
)

// background is a command in the background, or a stage of a pipeline: its segments are
// those from one to the one before another. It runs at the same time as all from since to
// the one before until, 0 for the end of the text, and where it is in a loop, it may run
// more than once at the same time.
type background struct {
	from, to, since, until int
	again                  bool
}

// inBackground plans `COMMAND &`: a subshell that may run until the text is over.
func (t *textJob) inBackground(stmt *syntax.Stmt, dir string) (*approval.Node, bool) {
	switch {
	case t.who != approval.Ours || !t.ring2 || stmt.Coprocess || stmt.Disown:
		return t.unclear(approval.ReasonApprovalRequired, "it starts something in the background")
	case t.held > 0:
		return t.unclear(approval.ReasonApprovalRequired, "it starts something in the background where something else reads or waits")
	case stmt.Negated || !stmt.Semicolon.IsValid():
		return t.unclear(approval.ReasonUnreadable, "shells do not agree on the status of a command in the background behind !")
	}
	from, passed := len(t.plan.Segments), dir
	leave := t.inside()
	node, ok := t.foreground(stmt, &dir)
	leave()
	t.passed = passed
	t.background = append(t.background, background{from: from, to: len(t.plan.Segments), since: from})
	if !ok {
		return nil, false
	}
	if _, group := stmt.Cmd.(*syntax.Block); group { // one of a single command ends in another way than that
		node = &approval.Node{Op: approval.OpSeq, Kids: []approval.Node{*node}}
	}
	start := int(stmt.Pos().Offset())
	end := start + len(strings.TrimRight(t.text[start:stmt.Semicolon.Offset()], " \t"))
	return &approval.Node{Op: approval.OpBackground, Kids: []approval.Node{*node}, Start: start, End: end}, true
}

// ofBackground reports whether a wait is about commands of this text in the background:
// all of them, or those whose numbers $! gave.
func (t *textJob) ofBackground(seg *approval.Segment) bool {
	if !t.ring2 || len(seg.Made) > 0 {
		return false
	}
	return len(seg.Argv) == 1 || len(seg.Words) == len(seg.Argv) && !slices.ContainsFunc(seg.Words[1:], func(word approval.Word) bool { return !t.numbered(word) })
}

// numbered reports whether a word is the number of a command in the background.
func (t *textJob) numbered(word approval.Word) bool {
	name := variable(word)
	return name == "!" || t.numbers[name]
}

// ofSession reports whether a kill is about commands of this text in the background, and
// about processes that commands of the session started and that live. It takes these down.
func (t *textJob) ofSession(seg *approval.Segment) bool {
	if !t.ring2 || len(seg.Made) > 0 || len(seg.Argv) == 1 || seg.Words != nil && len(seg.Words) != len(seg.Argv) {
		return false
	}
	at, option := 1, seg.Argv[1]
	if strings.HasPrefix(option, "-") {
		if at = 2; option == "-s" && len(seg.Argv) > 2 {
			option, at = "-"+seg.Argv[2], 3
		}
	} else {
		option = "-TERM"
	}
	if name, long := strings.CutPrefix(option, "-SIG"); long && t.grammar == bash && strings.Trim(name, "0123456789") != "" {
		option = "-" + name
	}
	background, ends := false, []approval.ProcessID(nil)
	for i := at; i < len(seg.Argv); i++ {
		if seg.Words != nil && !literal(seg.Words[i]) {
			if !t.numbered(seg.Words[i]) {
				return false
			}
			background = true
			continue
		}
		id, is := t.living(seg.Argv[i])
		if !is {
			return false
		}
		ends = append(ends, id)
	}
	if at == len(seg.Argv) || !endingSignals()[option] || background && onlyShells(option) {
		return false
	}
	seg.Ends = ends
	return true
}

// living is the process with a number that a command of the session started.
func (t *textJob) living(number string) (id approval.ProcessID, ok bool) {
	pid, err := strconv.Atoi(number)
	if err != nil || pid <= 1 || strconv.Itoa(pid) != number || t.began == nil || !t.spend(1) {
		return id, false
	}
	return t.began(pid)
}

// endingSignals are those that a kill may send.
var endingSignals = words("-TERM -15 -KILL -9 -HUP -1 -0 -INT -2 -QUIT -3")

// onlyShells reports whether only a shell can say what a signal does in the background; a
// -1 there may also mean all processes.
func onlyShells(option string) bool {
	return slices.Contains([]string{"-INT", "-2", "-QUIT", "-3", "-1"}, option)
}

// variable is the name of the variable that is all of a word, in quotes or not, or "".
func variable(word approval.Word) (name string) {
	for _, part := range word {
		switch {
		case part.Kind == approval.PartText && part.Text == "":
		case part.Kind == approval.PartVar && part.Form == nil && name == "":
			name = part.Text
		default:
			return ""
		}
	}
	return name
}

// tellBackground notes what runs in the background, which a person is told.
func (t *textJob) tellBackground() {
	for i := range t.plan.Segments {
		seg, at := &t.plan.Segments[i], t.outermost(i)
		inside := func(b background) bool { return b.from <= at && at < b.to }
		if t.tick(len(t.background)) && slices.ContainsFunc(t.background, inside) {
			seg.Effects = append(slices.Clip(seg.Effects), approval.EffectBackground)
		}
	}
}

// hold keeps what is read until the returned function is called from starting
// something in the background: to shells, that reads or holds up different things.
func (t *textJob) hold() (leave func()) {
	t.held++
	return func() { t.held-- }
}

// redirectsInput reports whether a statement says what is read in it.
func redirectsInput(stmt *syntax.Stmt) bool {
	return slices.ContainsFunc(stmt.Redirs, func(r *syntax.Redirect) bool {
		switch r.Op {
		case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			return true
		}
		return false
	})
}

// meets reports whether one segment and some of others may run at the same time,
// because the one or the others are in the background.
func (b background) meets(one, from, to int) bool {
	begun := func(from, to int) bool { return to > b.since && (b.until == 0 || from < b.until) }
	inside, outside := from < b.to && to > b.from, begun(from, to) && (from < b.from || to > b.to)
	if b.from <= one && one < b.to {
		return outside || inside && b.again
	}
	return begun(one, one+1) && inside
}

// stages are those of all pipelines, which run at the same time.
func (t *textJob) stages() (list []background) {
	for _, starts := range t.pipes {
		for i := range len(starts) - 1 {
			list = append(list, background{from: starts[i], to: starts[i+1], since: starts[0], until: starts[len(starts)-1]})
		}
	}
	return list
}

// changedMeanwhile asks where a program is in a file that something else may write at the
// same time, or where files are looked at that something else may put there, links too, and
// one of the two is in the background, or both are in a pipeline.
func (t *textJob) changedMeanwhile() {
	segments := t.plan.Segments
	for _, b := range append(t.stages(), t.background...) {
		if !t.spend(1) {
			return
		}
		for i := range segments {
			looks := segments[i].FromFile || segments[i].Walks || segments[i].Looked
			if !looks && !segments[i].Stores && !opensNamed(&segments[i]) {
				continue
			}
			for k := range segments {
				if !t.tick(1) {
					return
				}
				if !b.meets(t.outermost(i), t.outermost(k), t.outermost(k)+1) || segments[k].Program == nil {
					continue
				}
				carried := !segments[i].Named && (bringsFiles(&segments[k]) || b.until == 0 && looks && carries(&segments[k]) || segments[i].Stores && t.unhides(&segments[k]))
				if carried || segments[i].FromFile && k != i && writesAnything(segments[k]) {
					why := finding(approval.ReasonRuntimeValue, "%s may change what it reads as it runs", segments[k].Argv[0])
					if !slices.Contains(segments[i].Findings, why) {
						segments[i].Findings = append(segments[i].Findings, why)
					}
					break
				}
			}
		}
	}
}

// opensNamed reports whether a program that only reads is given names.
func opensNamed(seg *approval.Segment) bool {
	return seg.Kind == approval.KindReader && slices.ContainsFunc(seg.Argv[1:], func(word string) bool {
		return !strings.HasPrefix(word, "-") && strings.Trim(word, "0123456789") != "" // head -n 2 names none
	})
}

// writesAnything reports whether a program may write a file that its words do not tell.
func writesAnything(seg approval.Segment) bool {
	unknown := func(f approval.Finding) bool { return f.Allowed == approval.AllowUnknown }
	return seg.Program != nil && seg.Kind != approval.KindReader &&
		(seg.Looked || !seg.Profiled || bringsFiles(&seg) || slices.ContainsFunc(seg.Findings, unknown))
}

// bringsFiles reports whether a command of git may write files of a commit, which nobody
// looks into.
func bringsFiles(seg *approval.Segment) bool {
	name := path.Base(seg.Program.File.Path)
	return (name == "git" || name == "hg") && !isReading(seg) && !storesOnly()[seg.Argv[max(0, seg.Command)]]
}

// storesOnly are commands of git that leave the files of the working folder alone.
var storesOnly = words("add commit fetch push")
