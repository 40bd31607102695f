package policy

import (
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
)

// asking turns the verdict of the segments into that of the request: ask=off
// denies what would ask, ask=always asks also where everything passes, and
// askFallback holds where nobody can be asked.
func (r *Rules) asking(in Input, j approval.Judgement) approval.Judgement {
	if j.Verdict == approval.VerdictDeny {
		return j
	}
	passed := j.Verdict == approval.VerdictAllow
	switch {
	case j.Ask == approval.AskOff && !passed:
		j.Verdict = approval.VerdictDeny
		return j
	case j.Ask != approval.AskOff && j.Ask != approval.AskOnMiss && passed:
		j.Verdict, j.Finding = approval.VerdictAsk, say(approval.ReasonAskAlways, "this agent is asked about every command")
	case passed:
		return j
	}
	if in.Nobody {
		return r.fallback(in, j, passed)
	}
	j.Choices = []approval.Decision{approval.AllowOnce, approval.DecisionDeny}
	if j.Ask == approval.AskOff || j.Ask == approval.AskOnMiss {
		r.remembered(in, &j)
	}
	return j
}

// fallback applies askFallback, as far as the caller's own claim does not
// tighten it: allowlist lets through what only ask=always asked about, full
// what no floor, denylist or protected state stands against.
func (r *Rules) fallback(in Input, j approval.Judgement, passed bool) approval.Judgement {
	held := r.policy.AskFallback
	if held != approval.SecurityUnset {
		held = approval.StricterSecurity(held, in.Claim.Security)
	}
	switch {
	case passed && (held == approval.SecurityList || held == approval.SecurityFull):
		j.Verdict = approval.VerdictAllow
	case held == approval.SecurityFull && !HoldsProtected(j) && len(r.hidden(in)) == 0:
		j.Verdict = approval.VerdictAllow
	case in.Who == approval.Ours && onlyNotFound(j):
		j.Verdict = approval.VerdictDeny // nobody is missed: there is nothing to run
	default:
		j.Verdict = approval.VerdictDeny
		j.Finding = say(approval.ReasonAskFallback, "nobody can be asked; "+j.Sentence)
	}
	return j
}

// onlyNotFound reports whether no command asks but those of programs that are not there.
func onlyNotFound(j approval.Judgement) bool {
	other := func(s approval.SegmentJudgement) bool {
		return s.Verdict == approval.VerdictAsk && s.Reason != approval.ReasonNotFound
	}
	return j.Reason == approval.ReasonNotFound && !slices.ContainsFunc(j.Segments, other)
}

// HoldsProtected reports whether a judgement is about what nobody but a person
// here may let through: our own files and programs.
func HoldsProtected(j approval.Judgement) bool {
	for _, s := range j.Segments {
		if s.Reason == approval.ReasonProtectedState {
			return true
		}
	}
	return j.Reason == approval.ReasonProtectedState
}

// remembered puts the ways to remember a yes into a judgement that asks. Where a
// change of files or of a skill is among what asks, accepting that is the only one.
func (r *Rules) remembered(in Input, j *approval.Judgement) {
	asked, stays := r.parts(in, *j)
	switch {
	case r.policy.AgentID == "", in.Plan.Tool != nil && len(in.Plan.Segments) == 0:
		return // an agent without a name has no list of its own, and tools are for package toolpolicy
	case in.Plan.Root == nil:
		if j.StillAsks = stays; len(stays) == 0 {
			j.StillAsks = r.whole(in, j.Security)
		}
	case changed(*j):
		j.Writes = r.accepting(in, *j)
	default:
		j.StillAsks = stays
		j.Offers = offers(in.Plan, asked)
		j.Writes = always(asked)
		if j.Writes == nil && len(j.Offers) > 0 {
			j.Writes = j.Offers[0].Writes
		}
	}
	if len(j.Writes) == 0 {
		return
	}
	j.Choices = []approval.Decision{approval.AllowOnce, approval.AllowAlways, approval.DecisionDeny}
}

// changed reports whether a judgement asks about files that changed under an entry,
// or about those of a skill.
func changed(j approval.Judgement) bool {
	return slices.ContainsFunc(j.Segments, func(s approval.SegmentJudgement) bool {
		return s.Verdict == approval.VerdictAsk && (s.Reason == approval.ReasonBinaryChanged && s.EntryID != "" || s.Skill != "")
	})
}

// accepting returns what allow-always writes where files changed: for each command
// that asks the entry under which they did, with the id of that one and the files as
// they are now, a skill with its file, or an entry for its program. Nothing, if one
// command asks for another reason.
func (r *Rules) accepting(in Input, j approval.Judgement) []approval.Entry {
	var entries []approval.Entry
	seen := map[string]bool{}
	var asked []part
	for i, s := range j.Segments {
		seg := &in.Plan.Segments[i]
		switch {
		case s.Verdict != approval.VerdictAsk:
		case s.Reason == approval.ReasonBinaryChanged && s.EntryID != "":
			entries = append(entries, accepting(s))
		case s.Skill != "" && len(in.reaching(seg)) > 0:
			return nil // it would ask for these then
		case s.Skill != "":
			if key := s.Skill + " at " + seg.Program.File.Path; !seen[key] {
				seen[key] = true
				entries = append(entries, acceptingSkill(s.Skill, seg.Program))
			}
		default:
			one, ok := newPart(in, seg, s)
			if !ok {
				return nil
			}
			asked = append(asked, one)
		}
	}
	if len(asked) == 0 {
		return entries
	}
	if more := always(asked); more != nil && !j.Whole {
		return append(entries, more...)
	}
	return nil
}

// always is what allow-always writes for callers that know no widths: for each
// command its program or, where its arguments were read, just these. nil where one of
// them cannot be written so.
func always(asked []part) []approval.Entry {
	var entries distinct
	for _, p := range asked {
		if len(p.Open) > 0 {
			return nil
		}
		width := approval.WidthProgram
		if p.Profiled || p.Builtin != "" || len(p.Findings) > 0 { // these words passed, and others may not
			width = approval.WidthExact
		}
		e, ok := p.at(width)
		if !ok {
			return nil
		}
		if len(p.Findings) == 0 && command.OnlyReads(behindOptions(p.Segment)) {
			e.Cwd = "" // what else does something is remembered for this folder alone
		}
		entries.add(e)
	}
	return slices.DeleteFunc(slices.Clone(entries.list), func(e approval.Entry) bool {
		return slices.ContainsFunc(entries.list, func(o approval.Entry) bool { return coversBare(o, e) })
	})
}

// coversBare reports whether an entry is the same as one without variables, and names
// some.
func coversBare(o, e approval.Entry) bool {
	if len(o.Env) == 0 || len(e.Env) > 0 {
		return false
	}
	o.Env = nil
	return sameEntries([]approval.Entry{o}, []approval.Entry{e})
}

// accepting is an entry that is there, with the files that changed under it.
func accepting(s approval.SegmentJudgement) approval.Entry {
	e := approval.Entry{ID: s.EntryID, Pattern: s.Entry}
	for _, l := range s.Learn {
		to := &e.Identity
		if l.Interprets {
			to = &e.Interpreters
		}
		*to = append(*to, seenAs(l.File, l.By))
		if l.Link != "" {
			e.Links = append(e.Links, approval.Link{Path: l.Link, Target: l.File.Path})
		}
	}
	return e
}

// acceptingSkill is no entry: it accepts the file of a skill as it is now.
func acceptingSkill(name string, res *approval.Resolution) approval.Entry {
	id := approval.SkillMark + name
	return approval.Entry{ID: id, Pattern: id, Identity: []approval.Identity{seenAs(res.File, "")}}
}

func seenAs(f approval.File, by string) approval.Identity {
	return approval.Identity{Path: f.Path, Size: f.Size, MTime: f.Mod / 1_000_000, Interpreter: by}
}

// PatternFor is the path by which an entry covers a program: that of the real file, or
// of the link to it where entries may mean it so.
func PatternFor(res *approval.Resolution, kind approval.ProgramKind) string {
	if res.Link != "" && byLink(res, kind) {
		return res.Link
	}
	return res.File.Path
}

// entryFor is the narrowest entry by path that covers this program: the real
// file, or the link to it together with what it leads to now.
func entryFor(res *approval.Resolution, kind approval.ProgramKind) approval.Entry {
	e := approval.Entry{Pattern: PatternFor(res, kind), Source: "allow-always"}
	e.Identity = []approval.Identity{seenAs(res.File, interpreterOf(res))}
	for at := res.Interpreter; at != nil; at = at.Interpreter {
		if by := interpreterOf(at); !command.Kept(at.File) || by != "" {
			e.Interpreters = append(e.Interpreters, seenAs(at.File, by))
		}
	}
	return e
}

// interpreterOf is the path of what interprets a file, "" for nothing.
func interpreterOf(res *approval.Resolution) string {
	if res.Interpreter == nil {
		return ""
	}
	return res.Interpreter.File.Path
}

func list(names []string) string { return strings.Join(names, ", ") }
