package toolpolicy

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// ArgsOf takes the arguments of a call apart.
func ArgsOf(t *approval.Tool) []Arg {
	var value any
	d := json.NewDecoder(strings.NewReader(string(t.Args)))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil
	}
	return flatten(nil, "", value)
}

func flatten(list []Arg, at string, value any) []Arg {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 && at != "" {
			return append(list, Arg{at, "{}", false})
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = flatten(list, join(at, key), v[key])
		}
	case []any:
		if len(v) == 0 {
			return append(list, Arg{at, "[]", false})
		}
		for i, sub := range v {
			list = flatten(list, join(at, strconv.Itoa(i)), sub)
		}
	case string:
		list = append(list, Arg{at, v, true})
	default:
		list = append(list, Arg{at, text(v), false})
	}
	return list
}

// Evaluate judges one call by the layers, the entries and what is known of the
// tool. What the words of the agent (security, ask, askFallback) make of that is
// for package policy. The order is that of commands: refusals first, then
// protected state, then entries, then what the tool does.
func (r *Rules) Evaluate(in Input) approval.Judgement {
	j := approval.Judgement{}
	one := r.verdict(in, &j)
	j.Verdict, j.Finding, j.Segments = one.Verdict, one.Finding, []approval.SegmentJudgement{one}
	risk, sort := r.declared(in)
	j.Risk = weigh(in, risk, sort, one)
	if one.Verdict == approval.VerdictAsk && !in.Tool.NoAlways {
		j.Offers = offers(in, one.Finding.Reason)
		if len(j.Offers) > 0 {
			j.Writes = j.Offers[0].Writes
		}
	}
	return j
}

func (r *Rules) verdict(in Input, j *approval.Judgement) approval.SegmentJudgement {
	t := in.Tool
	full, listed := false, false
	for _, d := range r.denied {
		if refuses(d.Pattern, t) {
			return verdict(approval.VerdictDeny, say(approval.ReasonDenylisted, because("the denylist names tool:"+d.Pattern, d.Reason)), approval.ToolMark+d.Pattern)
		}
	}
	for i := range r.layers {
		l := &r.layers[i]
		if !l.holds(in.SessionKey) {
			continue
		}
		if why, rule := l.refuses(in); why != "" {
			return verdict(approval.VerdictDeny, say(approval.ReasonDenylisted, t.FullName()+" "+why+" (rule "+rule+" of "+l.Origin+")"), rule)
		}
		for _, one := range l.rules {
			if !refuses(one.name, t) {
				continue
			}
			j.Ask, j.Escalate = approval.StricterAsk(j.Ask, one.Ask), j.Escalate || one.Escalate
			full = full || one.Security == approval.SecurityFull && names(one.name, t)
			if one.Security == approval.SecurityList {
				listed, j.Security = true, approval.SecurityList // also where the agent's is full
			}
		}
	}
	if f := protectedFinding(t); f.verdict != "" {
		return verdict(f.verdict, f.Finding, "")
	}
	base := known(in)
	switch {
	case base.Verdict == approval.VerdictAllow:
		return base
	case full && !listed && !t.Command:
		return verdict(approval.VerdictAllow, approval.Finding{}, "security full of "+t.FullName())
	}
	return r.covered(in, base)
}

// holds reports whether a layer is about a session.
func (l *layer) holds(session string) bool { return l.Session == "" || wild(l.Session, session) }

// refuses says why a layer refuses a call, and by which of its rules.
func (l *layer) refuses(in Input) (why, rule string) {
	if why, rule = l.refusesName(in.Tool); why != "" {
		return why, rule
	}
	for i := range l.rules {
		if refuses(l.rules[i].name, in.Tool) {
			if why := l.rules[i].refuses(in); why != "" {
				return why, l.rules[i].name
			}
		}
	}
	return "", ""
}

func (l *layer) refusesName(t *approval.Tool) (why, rule string) {
	is := func(pattern string) bool { return names(pattern, t) }
	if i := slices.IndexFunc(l.Deny, func(pattern string) bool { return refuses(pattern, t) }); i >= 0 {
		return "is denied", l.Deny[i]
	}
	if l.Allow != nil && !slices.ContainsFunc(l.Allow, is) {
		return "is not among the tools that are allowed", "allow"
	}
	return "", ""
}

// Denies reports whether rules refuse a tool in a session whatever it is told.
func (r *Rules) Denies(session, server, tool string) bool {
	in := Input{Tool: &approval.Tool{Name: canonical(tool, server), Server: server}}
	for _, d := range r.denied {
		if refuses(d.Pattern, in.Tool) {
			return true
		}
	}
	for i := range r.layers {
		l := &r.layers[i]
		if !l.holds(session) {
			continue
		}
		if why, _ := l.refusesName(in.Tool); why != "" || slices.ContainsFunc(l.rules, func(one rule) bool {
			return one.Security == approval.SecurityDeny && refuses(one.name, in.Tool)
		}) {
			return true
		}
	}
	return false
}

type protected struct {
	verdict approval.Verdict
	approval.Finding
}

// protectedFinding says what holds for the protected state that a call names:
// secrets and our own files are denied, whatever policy says, and what may hold
// secrets asks, as do start-up files before they are written. Listing passes.
func protectedFinding(t *approval.Tool) (p protected) {
	for _, f := range t.Files {
		name := path.Clean(f.Path)
		switch {
		case f.Protected == approval.ProtectedNot || t.Server == "" && t.Name == fileList:
		case f.Protected == approval.ProtectedOurs:
			return protected{approval.VerdictDeny, say(approval.ReasonProtectedState, name+" belongs to Countersign itself")}
		case f.Protected == approval.ProtectedKeys:
			return protected{approval.VerdictDeny, say(approval.ReasonProtectedState, name+" holds secrets, which no tool may be told")}
		case f.Protected == approval.ProtectedPrivate && f.Arg == searchedArg:
			p = protected{approval.VerdictAsk, say(approval.ReasonProtectedState, "it searches "+name+", too, which may hold secrets: a narrower folder, or a glob such as !"+path.Base(name)+", leaves it out")}
		case f.Protected == approval.ProtectedPrivate:
			p = protected{approval.VerdictAsk, say(approval.ReasonProtectedState, name+" may hold secrets, by its name or where it lies")}
		default:
			p = protected{approval.VerdictAsk, say(approval.ReasonProtectedState, name+" is read when programs start")}
		}
	}
	return p
}

// known is what holds without any rule: it goes by what is known of the tool.
func known(in Input) approval.SegmentJudgement {
	t := in.Tool
	ask := func(reason approval.Reason, sentence string) approval.SegmentJudgement {
		return verdict(approval.VerdictAsk, say(reason, sentence), "")
	}
	pass := func(why string) approval.SegmentJudgement {
		return verdict(approval.VerdictAllow, approval.Finding{}, why)
	}
	if t.Server != "" {
		return ask(approval.ReasonAllowlistMiss, "no entry allows "+t.Name+" of "+t.Server)
	}
	outside := slices.IndexFunc(t.Files, func(f approval.ToolFile) bool { return !f.Inside })
	switch t.Name {
	case bashExecute:
		return pass("its command is judged by itself")
	case fileList, webSearch:
		return pass(t.Name)
	case fileRead, fileSearch:
		if len(t.Files) == 0 || outside < 0 {
			return pass(t.Name + " in the session's folder")
		}
		return ask(approval.ReasonOutsideFolder, path.Clean(t.Files[outside].Path)+" lies outside the session's folder")
	case fileWrite, fileEdit:
		if outside >= 0 {
			return ask(approval.ReasonOutsideFolder, path.Clean(t.Files[outside].Path)+" lies outside the session's folder")
		}
		return ask(approval.ReasonWritesFile, "it writes "+path.Clean(t.Files[0].Path))
	case fileDelete:
		return ask(approval.ReasonDeletes, "it deletes "+path.Clean(t.Files[0].Path))
	case webFetch:
		for _, a := range t.Addresses {
			if a.Why != "" {
				return ask(approval.ReasonApprovalRequired, a.Host+" is not surely public: "+a.Why)
			}
		}
		return pass("a public address")
	}
	return ask(approval.ReasonAllowlistMiss, "nothing is known of what "+t.Name+" does, and no entry allows it")
}

// covered lets a call pass that an entry covers.
func (r *Rules) covered(in Input, base approval.SegmentJudgement) approval.SegmentJudgement {
	ended := false
	for i := range r.entries {
		e := &r.entries[i]
		if !e.covers(in) {
			continue
		}
		if e.over(in) {
			ended = true
			continue
		}
		one := verdict(approval.VerdictAllow, approval.Finding{}, e.Pattern)
		one.EntryID, one.Counted = e.ID, e.UsesLeft != nil
		return one
	}
	if ended {
		base.Finding = say(approval.ReasonLeaseEnded, "what allowed it has ended; "+base.Sentence)
	}
	return base
}

func verdict(v approval.Verdict, f approval.Finding, entry string) approval.SegmentJudgement {
	return approval.SegmentJudgement{Verdict: v, Finding: f, Entry: entry}
}

func say(reason approval.Reason, sentence string) approval.Finding {
	return approval.Finding{Reason: reason, Sentence: sentence}
}

func because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}
