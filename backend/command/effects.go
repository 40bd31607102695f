package command

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pathname"
	"github.com/countersign-app/countersign/backend/programs"
)

// effects marks what the arguments of a resolved program would do, as far as
// they are read one by one. What a kind of program can do as a whole is for
// policy to weigh.
func (j *job) effects(seg *approval.Segment) {
	name := path.Base(seg.Program.File.Path)
	mark := func(reason approval.Reason, what string) {
		seg.Findings = append(seg.Findings, finding(reason, "%s %s", name, what))
	}
	for _, called := range []string{path.Base(seg.Program.Path), name} {
		for _, words := range [][]string{seg.Argv[1:], patterns(seg)} {
			if seg.Floor == "" {
				seg.Floor = j.floor(called, words, seg.Dir)
			}
		}
	}
	args, reader := j.profiled(seg), readerWords{}
	if args != nil {
		j.fedProgram(seg, args)
		seg.Profiled, seg.Looked, seg.FromFile, seg.Effects, seg.Code, seg.Command = true, args.looked, args.program, args.effects, args.code, args.command
		seg.Targets = args.changed(path.Base(seg.Program.Path))
		seg.At = args.goes()
		j.exactly(seg, args)
		seg.Findings = append(seg.Findings, args.findings...)
	} else {
		reader = asReader(name, seg.Argv)
		seg.Findings = append(seg.Findings, reader.findings...)
	}
	if args == nil && (seg.Kind == approval.KindShell || seg.Kind == approval.KindInterpreter) {
		j.firstFile(seg)
	}
	if args == nil && (seg.Kind == approval.KindStarter || seg.Kind == approval.KindChanger) {
		j.unread(seg)
	}
	if args == nil && slices.ContainsFunc(seg.Argv[1:], func(arg string) bool { return letters(arg) > maxBundle }) {
		mark(approval.ReasonUnreadable, "is given more option letters than can be read")
	}
	if steersScreen()[strings.ToLower(name)] {
		mark(approval.ReasonSteersScreen, "presses keys and buttons for the person")
	}
	if seg.Dir == "" && slices.ContainsFunc(seg.Argv[1:], relative) && !lists(seg, args, reader) {
		mark(approval.ReasonRuntimeValue, "names files in a folder that only the run can tell")
	}
	if j.plan.Folder.Path == "" && (reader.walks || args != nil && args.walks) {
		mark(approval.ReasonOutsideFolder, "reads all that is in a folder that is no project")
	}
	if which := j.protectedArgument(seg, args, reader); which != "" {
		seg.Ours = seg.Ours || which == filesOfOurs
		mark(approval.ReasonProtectedState, "names "+which)
		return
	}
	j.opens(seg, args)
	j.stores(seg, args)
	j.arrives(seg, args)
}

// fedProgram judges the program that an interpreter reads from its input, where that is
// a text which the request holds: an entry can cover just this one, or all that only read.
func (j *job) fedProgram(seg *approval.Segment, args *arguments) {
	if len(args.input) == 0 || seg.Kind == approval.KindShell || seg.Kind == approval.KindWrapper || len(seg.Open) > 0 || !j.plan.Folder.Holds(seg.Dir) {
		return
	}
	redirects := seg.Redirects
	if !slices.ContainsFunc(redirects, func(r approval.Redirect) bool { return r.FD == 0 }) {
		redirects = j.handsOn // uv run python - <<EOF
	}
	text, fed := inputText(redirects)
	switch {
	case !fed, args.guarded && args.fedStatements(text), seg.Kind != approval.KindInterpreter && !statements(text):
		return
	}
	sum := sha256.Sum256([]byte(text))
	covers, value := approval.AllowThisCode, hex.EncodeToString(sum[:])
	if ReadsCode(path.Base(seg.Program.Path)) && j.bytes(len(text)) && args.onlyReads(text) {
		covers, value = approval.AllowReadingCode, ""
	}
	for _, i := range args.input {
		args.findings[i].Allowed = covers
	}
	for i := range args.findings {
		if args.findings[i].Allowed == covers {
			args.findings[i].Value = value
		}
	}
}

// inputText is the text that redirections give a command as its input.
func inputText(redirects []approval.Redirect) (text string, ok bool) {
	for _, r := range redirects {
		if r.FD != 0 {
			continue
		}
		if ok || r.To != approval.FromText {
			return "", false
		}
		text, ok = r.Text, true
	}
	return text, ok
}

// exactly takes back that an entry for just these words can cover what nobody knows a
// program to do, where these words do not say all: of programs that run any code or any
// program, with words of the run, and outside of the session's folder.
func (j *job) exactly(seg *approval.Segment, args *arguments) {
	switch seg.Kind {
	case approval.KindShell, approval.KindInterpreter, approval.KindMultiplexer, approval.KindWrapper:
	default:
		if len(seg.Open) == 0 && j.plan.Folder.Holds(seg.Dir) && !programs.Raises(path.Base(seg.Argv[0])) && !programs.Raises(path.Base(seg.Program.File.Path)) {
			return
		}
	}
	notExactly(args.findings)
}

// unread notes that nobody reads what a program is told that can start others or change
// files: an entry for just these words can cover that, where they say all.
func (j *job) unread(seg *approval.Segment) {
	called, name := path.Base(seg.Argv[0]), path.Base(seg.Program.File.Path)
	if programs.Launches(called) || programs.Launches(name) {
		return
	}
	why := finding(approval.ReasonWritesFile, "%s changes files or the machine", name)
	if seg.Kind == approval.KindStarter {
		why = finding(approval.ReasonStartsProgram, "%s can start other programs or change files by its arguments", name)
	}
	why.Allowed = approval.AllowUnknown
	args := &arguments{findings: []approval.Finding{why}}
	if j.exactly(seg, args); args.findings[0].Allowed != "" {
		seg.Findings = append(seg.Findings, args.findings...)
	}
}

// notExactly leaves no entry for what nobody knows.
func notExactly(findings []approval.Finding) {
	for i := range findings {
		if findings[i].Allowed == approval.AllowUnknown {
			findings[i].Allowed = ""
		}
	}
}

// fedUnknown does the same for commands that the text may feed: their input is not bound.
func (t *textJob) fedUnknown() {
	for i := range t.plan.Segments {
		at := t.outermost(i)
		later := func(stages []int) bool { return at >= stages[1] && at < stages[len(stages)-1] }
		if t.feedsGroup || slices.ContainsFunc(t.plan.Segments[at].Redirects, feeds) || slices.ContainsFunc(t.pipes, later) {
			if seg := &t.plan.Segments[i]; seg.Profiled {
				notExactly(seg.Findings)
			} else { // its kind asks, whatever it is told
				seg.Findings = slices.DeleteFunc(seg.Findings, func(f approval.Finding) bool { return f.Allowed == approval.AllowUnknown })
			}
		}
	}
}

// feeds reports whether a redirection gives a command an input.
func feeds(r approval.Redirect) bool { return r.FD == 0 && r.To != approval.ToNull }

// firstFile takes the first file that the words of a program name for the one
// with its program: that of a shell, or an interpreter of which no more is
// known. Few words stand before it.
func (j *job) firstFile(seg *approval.Segment) {
	for _, word := range seg.Argv[1:min(len(seg.Argv), maxBefore)] {
		if seg.Code = j.bound(seg.Dir, word); seg.Code != nil {
			return
		}
	}
}

const maxBefore = 10

// relative reports whether a word may name a file below the working
// directory.
func relative(arg string) bool { return !path.IsAbs(arg) && !strings.HasPrefix(arg, "-") }

var steersScreen = words("osascript cliclick xdotool ydotool wtype xte")

// patterns returns the words of a segment as they were before names of files
// came in their place, and with the values that open words may have.
func patterns(seg *approval.Segment) (words []string) {
	for _, word := range seg.Words {
		if len(word) == 1 && word[0].Kind == approval.PartGlob {
			words = append(words, pathname.Unescape(word[0].Text))
		}
	}
	for _, o := range seg.Open {
		words = append(words, o.Maybe...)
	}
	if len(words) == 0 {
		return nil
	}
	return append(words, seg.Argv[1:]...)
}
