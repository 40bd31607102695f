package policy

import (
	"fmt"
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
		if j.Writes = r.writes(in, j); len(j.Writes) > 0 {
			j.Choices = []approval.Decision{approval.AllowOnce, approval.AllowAlways, approval.DecisionDeny}
			j.Offers = offers(in, j)
		}
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

// writes returns the entries that allow-always would write: for each segment
// that asked, the program it names, or the entry under which its files changed,
// with the id of that one and the files as they are now, or a skill with its file.
// If one segment asks for
// another reason, no entry could have let the request pass, and nothing is
// offered.
func (r *Rules) writes(in Input, j approval.Judgement) []approval.Entry {
	if j.Reason != approval.ReasonAllowlistMiss && j.Reason != approval.ReasonBinaryChanged && j.Reason != approval.ReasonEnvAsks || in.Plan.Root == nil || r.policy.AgentID == "" {
		return nil // an agent without a name has no list of its own
	}
	var entries []approval.Entry
	seen := map[string]bool{}
	for i, s := range j.Segments {
		if s.Verdict != approval.VerdictAsk {
			continue
		}
		if s.Reason == approval.ReasonBinaryChanged && s.EntryID != "" {
			entries = append(entries, accepting(s))
			continue
		}
		res := in.Plan.Segments[i].Program
		if s.Skill != "" {
			if len(in.reaching(&in.Plan.Segments[i])) > 0 {
				return nil // it would ask for these then
			}
			if key := s.Skill + " at " + res.File.Path; !seen[key] {
				seen[key] = true
				entries = append(entries, acceptingSkill(s.Skill, res))
			}
			continue
		}
		if !coverable(&in.Plan.Segments[i], s) || res == nil || in.Plan.Segments[i].Kind == approval.KindWrapper || len(in.Plan.Segments[i].Open) > 0 {
			return nil
		}
		entry, ok := entryWith(in, &in.Plan.Segments[i])
		if !ok {
			return nil
		}
		if in.Plan.Segments[i].Profiled { // these words passed, and others may not
			entry.Args, entry.ArgsExact = in.Plan.Segments[i].Argv[1:], true
			if slices.Contains(entry.Args, "*") {
				return nil // it would stand for any word
			}
		}
		key := fmt.Sprintf("%q %q %q", entry.Pattern, entry.Args, entry.Env)
		if seen[key] {
			continue
		}
		if seen[key] = true; strings.ContainsAny(entry.Pattern, "*?[]{}\\") {
			return nil // the name itself would be read as a pattern
		}
		entries = append(entries, entry)
	}
	return entries
}

// coverable reports whether an entry could let a segment pass that asks: none covers
// it, or it is given variables that none carries.
func coverable(s *approval.Segment, j approval.SegmentJudgement) bool {
	return j.Reason == approval.ReasonAllowlistMiss || j.Reason == approval.ReasonEnvAsks && len(s.Findings) == 0 && s.Builtin == "" && !s.Asks
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
