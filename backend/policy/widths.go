package policy

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"sync"

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
		if one, ok := newPart(in, seg, s); ok && len(one.widths()) > 0 {
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
	if s.Builtin != "" {
		return p, len(s.Findings) > 0 && len(in.reaching(s)) == 0
	}
	if kindFinding(s).Reason != approval.ReasonNone || moreRights(s) {
		return p, false
	}
	p.entry, ok = entryWith(in, s)
	p.inProject = in.Plan.Folder.Holds(s.Program.File.Path)
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
		if e.Args = firstWords(p.Segment); len(e.Args) == 0 {
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

// offers returns the widths in which a yes can be remembered, the narrowest first. One
// is suggested: each part of the request in the width that is suggested for it. Where
// that is none of the three, it takes the place of the first words.
func offers(plan *approval.Plan, asked []part) []approval.Offer {
	if len(asked) == 0 {
		return nil
	}
	var list []approval.Offer
	for _, width := range allWidths {
		o, reached := offerOf(plan, asked, width, func(part) approval.Width { return width })
		if reached && !slices.ContainsFunc(list, sameOffer(o)) {
			list = append(list, o)
		}
	}
	fits, _ := offerOf(plan, asked, approval.WidthWords, part.suggested)
	at := slices.IndexFunc(list, sameOffer(fits))
	if at < 0 {
		list = slices.DeleteFunc(list, func(o approval.Offer) bool { return o.Width == approval.WidthWords })
		at = slices.IndexFunc(list, func(o approval.Offer) bool { return o.Width == approval.WidthProgram })
		if at < 0 {
			at = len(list)
		}
		list = slices.Insert(list, at, fits)
	}
	list[at].Suggested = true
	return list
}

// offerOf is the offer of a width: each part as wide as it may be, or else as it can.
// reached tells that one part is as wide as the offer, and for exact ones each.
func offerOf(plan *approval.Plan, asked []part, width approval.Width, most func(part) approval.Width) (o approval.Offer, reached bool) {
	o.Width = width
	all, writes := true, distinct{}
	for _, p := range asked {
		e, w := p.upTo(most(p))
		reached, all = reached || w == width, all && w == width
		writes.add(e)
		o.Wide = cmp.Or(o.Wide, wideness(p.Segment, w)) // the first warning
		o.Here = o.Here || p.asksFor(approval.AllowProjectWrites) || !command.OnlyReads(behindOptions(p.Segment))
	}
	o.Writes = writes.list
	if width == approval.WidthExact {
		o.Here = false // its entries name their folders
		return o, all
	}
	o.Folder = folderOf(plan, asked)
	o.Here = o.Here && o.Folder != ""
	return o, reached
}

// suggested is the width in which most people would remember a yes to a command, so
// that they are not asked again and nothing passes that they would want to see: any
// arguments of what only reads, the first words of what has commands, and exactly
// this of what deletes, sends or is not known.
func (p part) suggested() approval.Width {
	has := func(e approval.Effect) bool { return slices.Contains(p.Effects, e) }
	name := path.Base(p.Argv[0])
	switch {
	case command.OnlyReads([]string{name}) && !p.asksFor(approval.AllowNetworkSends, approval.AllowThisCode, approval.AllowProjectCode):
		return approval.WidthProgram
	case command.OnlyReads(behindOptions(p.Segment)):
		return approval.WidthWords
	case has(approval.EffectDeletes), has(approval.EffectNetwork) && !command.OnlyWorks(behindOptions(p.Segment)):
		return approval.WidthExact
	case p.Profiled && p.inProject && command.OnlyWorks([]string{name}):
		return approval.WidthProgram // a checker or a test runner, whatever it is told
	case p.Profiled && p.Kind == approval.KindChanger && command.CommandWords(p.Argv) == 0:
		return approval.WidthProgram // of mkdir and its like, what reaches out of the folder asks
	case slices.ContainsFunc(firstWords(p.Segment), reachingName), morePerLine()[name], namesLater(p.Segment):
		return approval.WidthExact
	case p.inProject && !p.Profiled && len(firstWords(p.Segment)) == 0 && !reachingName(p.Program.File.Path):
		return approval.WidthProgram // built there, and told files and flags
	case p.Profiled, p.inProject:
		return approval.WidthWords
	}
	return approval.WidthExact
}

// reachingName reports whether a name, as that of a program or of a task, has one of the
// words of reaching.
func reachingName(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(path.Base(name)), func(r rune) bool { return r < 'a' || r > 'z' })
	return slices.ContainsFunc(words, func(word string) bool { return reaching()[word] })
}

// asksFor reports whether a part asks for one of these effects.
func (p part) asksFor(effects ...approval.Allowed) bool {
	return slices.ContainsFunc(p.Findings, func(f approval.Finding) bool { return slices.Contains(effects, f.Allowed) })
}

// reaching are words that in most programs send, publish, delete or start something
// else.
var reaching = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(`apply auth config create delete deploy destroy exec install link login logout post promote publish
		push release remove reset rm rollback send serve set ssh start sudo sync token uninstall unlink unpublish upload`) {
		set[word] = true
	}
	return set
})

// morePerLine are programs of which each further word can be a job like the first:
// "make test deploy".
var morePerLine = sync.OnceValue(func() map[string]bool {
	return map[string]bool{"make": true, "gmake": true, "just": true, "task": true}
})

// namesLater reports whether the first words start what a later word names, as
// "nx run-many -t deploy" does.
func namesLater(s *approval.Segment) bool {
	list := firstWords(s)
	return len(list) > 0 && slices.Contains([]string{"affected", "exec", "run", "run-many", "task", "x"}, list[len(list)-1])
}

// distinct are entries, each once. A request can have thousands of commands.
type distinct struct {
	list []approval.Entry
	seen map[string]bool
}

func (d *distinct) add(e approval.Entry) {
	text, _ := json.Marshal(e) // plain fields cannot fail
	if d.seen == nil {
		d.seen = map[string]bool{}
	}
	if key := string(text); !d.seen[key] {
		d.seen[key] = true
		d.list = append(d.list, e)
	}
}

// sameOffer reports whether an offer writes the same.
func sameOffer(o approval.Offer) func(approval.Offer) bool {
	return func(have approval.Offer) bool { return sameEntries(have.Writes, o.Writes) }
}

func sameEntries(a, b []approval.Entry) bool {
	x, _ := json.Marshal(a) // plain fields cannot fail
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// wideness says what an entry of this width for the program of a segment
// allows beyond what the question shows.
func wideness(s *approval.Segment, w approval.Width) approval.Wide {
	unknown := func(f approval.Finding) bool { return f.Allowed == approval.AllowUnknown }
	switch {
	case slices.ContainsFunc(s.Findings, unknown):
		return approval.WideUnknown
	case command.OnlyReads([]string{path.Base(s.Argv[0])}):
		return approval.WideNot // its other arguments ask
	case w == approval.WidthProgram && s.Profiled && (s.Kind == approval.KindStarter || s.Kind == approval.KindChanger) && !onlyMakes(path.Base(s.Argv[0])):
		return approval.WideChanges
	case w != approval.WidthExact && !s.Profiled && s.Kind != approval.KindReader && s.Builtin == "":
		return approval.WideUnknown
	case w != approval.WidthExact && s.Kind == approval.KindInterpreter, slices.Contains(s.Effects, approval.EffectProject), slices.ContainsFunc(s.Findings, func(f approval.Finding) bool { return f.Allowed == approval.AllowProjectCode }):
		return approval.WideProject
	}
	return approval.WideNot
}

// onlyMakes reports whether a program makes folders and files, and changes none that hold
// something.
func onlyMakes(name string) bool { return name == "mkdir" || name == "touch" }

// folderOf is the session's folder or, where there is none, the working directory, or
// another project: the first in which all works that asks, if its name can stand in an
// entry.
func folderOf(plan *approval.Plan, asked []part) string {
	dirs := []string{cmp.Or(plan.Folder.Path, plan.Cwd.Path)}
	for _, other := range plan.Others {
		dirs = append(dirs, other.Path)
	}
	for _, dir := range dirs {
		outside := func(p part) bool {
			at := workingFolder(p.Segment, false)
			return at != dir && !strings.HasPrefix(at, dir+"/")
		}
		if dir != "" && dir != "/" && literalPattern(dir) && !slices.ContainsFunc(asked, outside) {
			return dir
		}
	}
	return ""
}

func literalPattern(name string) bool { return !strings.ContainsAny(name, "*?[]{}\\") }

// targets are programs whose work a name in the project's files says, and the
// command behind which that name stands.
var targets = map[string]string{"bun": "run", "deno": "task", "gmake": "", "just": "", "make": "", "mise": "run", "npm": "run", "pnpm": "run", "task": "", "yarn": "run"}

// firstWords are the leading arguments that name a command of the program, as
// "rebase" does of git, or the script that an interpreter runs; none for programs
// whose first argument is something else: a file, a text to look for.
func firstWords(s *approval.Segment) []string {
	name, args := path.Base(s.Argv[0]), s.Argv[1:]
	if s.Program != nil {
		name = path.Base(s.Program.File.Path)
	}
	if len(s.Open) > 0 {
		args = args[:max(0, s.Open[0].At-1)] // what comes then is not known
	}
	if at := s.Command - 1; at > 0 && at < len(args) {
		args = args[at:]
	}
	n := command.CommandWords(append([]string{s.Argv[0]}, args...))
	behind, named := targets[name]
	switch {
	case named && behind == strings.Join(args[:n], " ") && n < len(args) && isCommandWord(args[n]):
		n++
	case s.Kind == approval.KindInterpreter && s.Profiled && n == 0 && len(args) > 0 && strings.ContainsAny(args[0], "./") && args[0][0] != '-':
		if n = 1; len(args) > 1 && isCommandWord(args[1]) {
			n = 2
		}
	case s.Kind == approval.KindOther && !s.Profiled && len(args) > 0 && isCommandWord(args[0]):
		n = 1
	}
	return args[:n]
}

// behindOptions is a command without the flags and folders before the command of its
// program.
func behindOptions(s *approval.Segment) []string {
	if s.Command <= 1 || s.Command >= len(s.Argv) {
		return s.Argv
	}
	return append([]string{s.Argv[0]}, s.Argv[s.Command:]...)
}

// isCommandWord reports whether an argument can be the command of a program.
func isCommandWord(arg string) bool {
	return arg != "" && len(arg) <= 24 && strings.Trim(arg, "abcdefghijklmnopqrstuvwxyz0123456789-:_") == "" && arg[0] >= 'a' && arg[0] <= 'z'
}
