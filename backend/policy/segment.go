package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/paths"
)

// segment judges one simple command.
func (r *Rules) segment(in Input, s *approval.Segment, security approval.Security) approval.SegmentJudgement {
	if s.Floor != "" {
		return verdict(approval.VerdictDeny, say(approval.ReasonFloor, s.Floor), "")
	}
	if rule := r.denies(s); rule != nil {
		return verdict(approval.VerdictDeny, rule.finding(), rule.text())
	}
	if rule := r.confirm.meets(s); rule != nil {
		one := verdict(approval.VerdictAsk, rule.confirms(), "")
		one.Escalate = rule.Escalate
		return one
	}
	if s.Named {
		return verdict(approval.VerdictAllow, approval.Finding{}, "only named")
	}
	if i := slices.IndexFunc(s.Findings, func(f approval.Finding) bool { return f.Reason == approval.ReasonEnvRefused }); i >= 0 {
		return verdict(approval.VerdictDeny, s.Findings[i], "")
	}
	if s.Approved != "" && (in.Waits == nil || !in.Waits(s.Approved)) {
		return verdict(approval.VerdictDeny, say(approval.ReasonReplay, "nothing that was allowed waits for this agent under this id"), "")
	}
	if security == approval.SecurityFull {
		return r.full(s)
	}
	if f := protectedFirst(approval.Lasting(s.Findings)); f.Reason != approval.ReasonNone {
		if f.Reason == approval.ReasonNotFound && in.Plan.Shell == "" && len(in.Plan.Argv) > 0 && in.Who == approval.Ours {
			return verdict(approval.VerdictDeny, f, "") // a yes could start nothing
		}
		return verdict(approval.VerdictAsk, f, "")
	}
	env := in.reaching(s)
	if s.Builtin != "" && s.Program != nil && slices.ContainsFunc(env, steersAll) {
		return verdict(approval.VerdictAsk, say(approval.ReasonEnvAsks, "it sets "+variables(env)), "")
	}
	if s.Builtin != "" && len(s.Findings) > 0 {
		return r.builtin(in, s)
	}
	if s.Builtin != "" {
		return verdict(approval.VerdictAllow, approval.Finding{}, "builtin")
	}
	if s.Asks && len(env) > 0 {
		return verdict(approval.VerdictAsk, say(approval.ReasonEnvAsks, "it sets "+variables(env)+" for Countersign itself"), "")
	}
	if s.Asks && len(s.Findings) > 0 {
		return verdict(approval.VerdictAsk, s.Findings[0], "")
	}
	if s.Asks {
		return verdict(approval.VerdictAllow, approval.Finding{}, "it asks Countersign")
	}
	if s.Program == nil {
		return verdict(approval.VerdictAsk, say(approval.ReasonNotFound, "it leads to no program"), "")
	}
	if len(env) == 0 && len(s.Findings) == 0 && r.safeBin(s) {
		return verdict(approval.VerdictAllow, approval.Finding{}, "safe bin "+path.Base(s.Program.File.Path))
	}
	if f := kindFinding(s); f.Reason != approval.ReasonNone {
		return verdict(approval.VerdictAsk, f, "")
	}
	v := r.covered(in, s)
	if v.Verdict == approval.VerdictAllow {
		return v
	}
	if v.Reason != approval.ReasonBinaryChanged && len(s.Findings) == 0 { // an entry knows more of it
		if of := r.skill(in, s); of.Verdict != approval.VerdictUnset && (len(env) == 0 || of.Verdict != approval.VerdictAllow) {
			return of
		}
	}
	return v
}

func verdict(v approval.Verdict, f approval.Finding, entry string) approval.SegmentJudgement {
	return approval.SegmentJudgement{Verdict: v, Finding: f, Entry: entry}
}

// full lets everything pass but what touches Countersign itself, which would
// be a way to be asked never again.
func (r *Rules) full(s *approval.Segment) approval.SegmentJudgement {
	if s.Ours {
		return verdict(approval.VerdictAsk, protectedFirst(s.Findings), "")
	}
	return verdict(approval.VerdictAllow, approval.Finding{}, "security full")
}

// builtin judges a builtin with an effect that entries of its name can cover, or those
// for the system's program of the name, which does the same.
func (r *Rules) builtin(in Input, s *approval.Segment) approval.SegmentJudgement {
	var named hits
	r.bare.index.MatchName(s.Builtin, named.add)
	list := slices.Concat(r.literal["/bin/"+s.Builtin], r.literal["/usr/bin/"+s.Builtin])
	for _, i := range named.sorted() {
		list = append(list, r.bare.rules[i])
	}
	v := verdict(approval.VerdictAsk, s.Findings[0], "")
	for _, one := range list {
		if !one.fits(in, s) || one.ended(in) || len(one.without(in.reaching(s))) > 0 {
			continue
		}
		about, covered := one.Covers(s.Findings)
		if covered {
			v = verdict(approval.VerdictAllow, approval.Finding{}, one.Pattern)
			v.EntryID, v.Counted = one.ID, one.UsesLeft != nil
			return v
		}
		v.Finding = about
	}
	return v
}

// protectedFirst returns the finding to show: protected state before others.
func protectedFirst(findings []approval.Finding) approval.Finding {
	for _, f := range findings {
		if f.Reason == approval.ReasonProtectedState {
			return f
		}
	}
	if len(findings) > 0 {
		return findings[0]
	}
	return approval.Finding{}
}

// kindFinding says why a path entry does not cover a kind of program: what it
// does depends on its arguments in ways that are not read one by one.
func kindFinding(s *approval.Segment) approval.Finding {
	name := path.Base(s.Program.File.Path)
	if s.Profiled && s.Kind != approval.KindShell {
		return approval.Finding{} // its arguments were read one by one
	}
	if slices.ContainsFunc(s.Findings, func(f approval.Finding) bool { return f.Allowed == approval.AllowUnknown }) {
		return approval.Finding{} // an entry for exactly these words can
	}
	switch s.Kind {
	case approval.KindOther, approval.KindReader:
		return approval.Finding{}
	case approval.KindShell, approval.KindInterpreter:
		return say(approval.ReasonInlineCode, name+" runs code that no entry for it can vouch for")
	case approval.KindStarter:
		return say(approval.ReasonStartsProgram, name+" can start other programs or change files by its arguments")
	case approval.KindChanger:
		return say(approval.ReasonWritesFile, name+" changes files or the machine")
	}
	return say(approval.ReasonWrapperUnclear, name+" starts other programs")
}

// denies returns the deny rule that a segment meets: by the word, the link or
// the real file, of the program itself or of a script's interpreter, in any
// case.
func (r *Rules) denies(s *approval.Segment) *denyRule { return r.denied.meets(s) }

// meets returns the rule of a list that a segment meets, nil for none.
func (r *denyRules) meets(s *approval.Segment) *denyRule {
	if len(r.list) == 0 {
		return nil
	}
	if len(s.Argv) == 0 {
		return nil
	}
	var at hits
	names := s.Argv[:1]
	if len(s.Open) > 0 && s.Open[0].At == 0 { // what the word may be, as far as the text tells
		names = append(slices.Clone(names), s.Open[0].Maybe...)
	}
	named := func(name string) {
		r.index.MatchFold(name, at.add)
		r.index.MatchFold("/bin/"+name, at.add)
		r.index.MatchFold("/usr/bin/"+name, at.add)
	}
	if s.Program == nil {
		for _, name := range names {
			named(name)
		}
	}
	for res := s.Program; res != nil; res = res.Interpreter {
		for _, word := range strings.Fields(res.InterpreterArg) { // busybox sh, env -S sh
			named(word)
		}
		for _, path := range []string{res.Path, res.Link, res.File.Path} {
			if path != "" {
				r.index.MatchFold(path, at.add)
			}
		}
	}
	for _, i := range at.sorted() {
		d := &r.list[i]
		if d.meansWords(s.Argv[1:]) && (s.Program != nil || slices.ContainsFunc(names, d.meansName)) {
			return d
		}
	}
	return nil
}

// meansName reports whether a rule means a command that has no file: a name
// that was not found, or a builtin, which stands for the system's program.
func (d *denyRule) meansName(name string) bool {
	if d.pattern.Bare() {
		return d.pattern.MatchFold(name)
	}
	return d.pattern.MatchFold("/bin/"+name) || d.pattern.MatchFold("/usr/bin/"+name)
}

// text is a rule as a person wrote it.
func (d *denyRule) text() string {
	return strings.Join(append([]string{d.Pattern}, d.Args...), " ")
}

// confirms is the reason to ask about what is asked about each time.
func (d *denyRule) confirms() approval.Finding {
	return say(approval.ReasonAskAlways, d.text()+" is asked about each time: "+approval.CharterSource(d.Charter))
}

func (d *denyRule) finding() approval.Finding {
	if d.Charter != "" {
		return say(approval.ReasonDenylisted, "the charter "+d.Charter+" forbids "+d.text())
	}
	why := "the denylist names " + d.text()
	if d.Reason != "" {
		why += ": " + d.Reason
	}
	return say(approval.ReasonDenylisted, why)
}

// safeBin reports whether the segment is a filter that can only read its
// input, in a folder that is trusted for them.
func (r *Rules) safeBin(s *approval.Segment) bool {
	at := s.Program.File.Path
	name := path.Base(at)
	readsFile := slices.ContainsFunc(s.Redirects, func(re approval.Redirect) bool { return re.FD == 0 })
	if len(s.Open) > 0 || s.Words != nil || len(s.Assigns) > 0 {
		return false // what it is told is not all of it literal
	}
	if !r.safeBins[name] || !r.trusted[path.Dir(at)] || path.Base(s.Program.Path) != name || readsFile {
		return false
	}
	own, named := r.policy.SafeBinProfiles[name]
	filter := s.Kind == approval.KindReader || s.Kind == approval.KindOther
	return command.SafeBin(s.Argv) || named && filter && command.OwnSafeBin(own, s.Argv)
}

// skill judges a program by the skills that it belongs to; without a verdict for
// one that belongs to none. A skill holds what it holds of a program's own file
// only, so who interprets it must be the system's.
func (r *Rules) skill(in Input, s *approval.Segment) (v approval.SegmentJudgement) {
	if !r.policy.AutoAllowSkills {
		return v
	}
	for _, k := range r.policy.Skills {
		if k.Path != s.Program.File.Path || path.Base(s.Program.Path) != k.Name {
			continue
		}
		asks := func(reason approval.Reason, why string) approval.SegmentJudgement {
			one := verdict(approval.VerdictAsk, say(reason, "the skill "+k.Name+" "+why), approval.SkillMark+k.Name)
			one.Skill = k.Name
			return one
		}
		switch by := interpretedByOthers(s.Program); {
		case by != "":
			v = asks(approval.ReasonAllowlistMiss, "is run by "+by+", which is not the system's: it needs an entry")
			v.Skill = "" // which holds what runs it, too
		case k.SHA256 == "":
			if v.Verdict == approval.VerdictUnset {
				v = asks(approval.ReasonAllowlistMiss, "was not accepted yet")
			}
		case sum(in, s.Program.File) == strings.ToLower(k.SHA256):
			return verdict(approval.VerdictAllow, approval.Finding{}, approval.SkillMark+k.Name)
		default:
			v = asks(approval.ReasonBinaryChanged, "changed since it was accepted")
		}
	}
	return v
}

// interpretedByOthers is the first that interprets a program and is not the
// system's, "" for none.
func interpretedByOthers(res *approval.Resolution) string {
	for by := res.Interpreter; by != nil; by = by.Interpreter {
		if !paths.OfSystem(by.Path) || !command.Kept(by.File) {
			return by.Path
		}
	}
	return ""
}
