package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/programs"
)

// part is a command of the request that asks and that an entry can let pass.
type part struct {
	*approval.Segment
	entry approval.Entry // without arguments
	// inProject tells that its program lies in the session's folder.
	inProject bool
	folder    approval.Folder // of the session
	// guessed tells that it is a word of a program that nobody knows, which may as well be
	// no program: "playwright install".
	guessed bool
}

// parts divides what asks of a request into what can be remembered and the reasons
// that stay. What a program starts that stays is nothing by itself.
func (r *Rules) parts(in Input, j approval.Judgement) (asked []part, stays []approval.Finding) {
	never := make([]bool, len(j.Segments))
	for i, s := range j.Segments {
		seg := &in.Plan.Segments[i]
		within := seg.Via > 0 && seg.Via <= i && never[seg.Via-1]
		never[i] = within
		if s.Verdict != approval.VerdictAsk || within {
			continue
		}
		if one, ok := newPart(in, seg, s); ok && one.fits() {
			asked = append(asked, one)
			continue
		}
		never[i] = true
		stays = append(stays, kept(seg, s))
	}
	if j.Whole {
		stays = append(stays, r.whole(in, j.Security)...)
		if in.Tool != nil && in.Tool.Verdict != approval.VerdictAllow {
			stays = append(stays, in.Tool.Finding)
		}
	}
	return asked, stays
}

// kept is what keeps a command from being remembered.
func kept(s *approval.Segment, j approval.SegmentJudgement) approval.Finding {
	if j.Reason == approval.ReasonAllowlistMiss && moreRights(s) {
		return say(approval.ReasonWrapperUnclear, path.Base(s.Argv[0])+" runs commands with more rights than yours")
	}
	return j.Finding
}

func moreRights(s *approval.Segment) bool {
	return s.Program != nil && (programs.Raises(path.Base(s.Argv[0])) || programs.Raises(path.Base(s.Program.File.Path)))
}

// newPart reports false for a command that asks whatever the entries say.
func newPart(in Input, s *approval.Segment, j approval.SegmentJudgement) (p part, ok bool) {
	misses := j.Reason == approval.ReasonAllowlistMiss || j.Reason == approval.ReasonEnvAsks || j.Allowed != ""
	if !misses || s.Asks || len(approval.Lasting(s.Findings)) > 0 || s.Program == nil && s.Builtin == "" || j.Escalate {
		return p, false
	}
	p = part{Segment: s, entry: approval.Entry{Pattern: s.Builtin, Source: "allow-always"}}
	if s.Via > 0 {
		by := &in.Plan.Segments[s.Via-1]
		p.guessed = by.Kind == approval.KindOther && !by.Profiled
	}
	if s.Builtin != "" {
		return p, len(s.Findings) > 0 && len(in.reaching(s)) == 0
	}
	if kindFinding(s).Reason != approval.ReasonNone || moreRights(s) {
		return p, false
	}
	p.entry, ok = entryWith(in, s)
	p.folder, p.inProject = in.Plan.Folder, in.Plan.Folder.Holds(s.Program.File.Path)
	return p, ok && literalPattern(p.entry.Pattern) // else the name itself would be read as a pattern
}

// at is the entry of a width for the program of a part, and false where there is none.
func (p part) at(w approval.Width) (e approval.Entry, ok bool) {
	e = p.entry
	switch w {
	case approval.WidthExact:
		args := p.Argv[1:]
		// "*" would stand for any word, and what holds a secret is not written into a file.
		if len(p.Open) > 0 || slices.Contains(args, "*") || display.Redact(command.Quote(p.Argv)) != command.Quote(p.Argv) {
			return e, false
		}
		e.Args, e.ArgsExact, e.Cwd = args, true, p.Dir
		if p.Dir == "" || p.Dir == "/" || !literalPattern(p.Dir) {
			return e, false // it holds for all below
		}
	case approval.WidthWords:
		e.Args = firstWords(p.Segment)
		if len(e.Args) == 0 || unknownWords(p.Segment) && !further(p.folder, behindOptions(p.Segment)[1+len(e.Args):]) {
			return e, false
		}
	case approval.WidthProgram:
		if p.Builtin != "" || p.Kind == approval.KindInterpreter || p.Kind == approval.KindShell || p.Kind == approval.KindMultiplexer {
			return e, false // any code
		}
	}
	e, ok = e.Covering(p.Findings)
	if w != approval.WidthExact && len(e.Hosts) == 0 && p.Program != nil && command.AsksServers(path.Base(p.Program.File.Path)) {
		return e, false // without a host it is for any request to any of them
	}
	return e, ok
}

// allWidths are the widths of commands, from the narrowest on.
var allWidths = []approval.Width{approval.WidthExact, approval.WidthWords, approval.WidthProgram}

// widths are those in which a part can be remembered.
func (p part) widths() (list []approval.Width) {
	for _, w := range allWidths {
		if _, ok := p.at(w); ok {
			list = append(list, w)
		}
	}
	return list
}

// fits reports whether a part can be remembered, and of a program with a profile that can
// do more than read in no wider way than is suggested for it: the narrowest way is what a
// person finds chosen.
func (p part) fits() bool {
	list := p.widths()
	return len(list) > 0 && (!p.Profiled || p.Kind == approval.KindReader || slices.Index(allWidths, list[0]) <= slices.Index(allWidths, p.suggested()))
}

// upTo is the widest entry of a part that is not wider than a width, else the
// narrowest one, with its own width.
func (p part) upTo(most approval.Width) (e approval.Entry, w approval.Width) {
	list := p.widths()
	w = list[0]
	for _, one := range list {
		if slices.Index(allWidths, one) <= slices.Index(allWidths, most) {
			w = one
		}
	}
	// Any arguments of some programs are no more than the first words of others.
	if most == approval.WidthWords && w != most && slices.Contains(list, approval.WidthProgram) && p.suggested() == approval.WidthProgram {
		w = approval.WidthProgram
	}
	e, _ = p.at(w)
	return e, w
}

func literalPattern(name string) bool { return !strings.ContainsAny(name, "*?[]{}\\") }
