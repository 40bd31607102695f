package policy

import (
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/glob"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/programs"
)

// covered judges a segment by the entries. Where none lets it pass, the finding
// says what came closest: a changed file and an ended lease are told apart from
// a plain miss. An entry that knows nothing of a file lets it pass only if no
// other one knows it as another file.
func (r *Rules) covered(in Input, s *approval.Segment) approval.SegmentJudgement {
	res := s.Program
	env := in.reaching(s)
	miss := verdict(approval.VerdictAsk, say(approval.ReasonAllowlistMiss, "no entry covers "+res.File.Path), "")
	if len(env) > 0 {
		miss.Sentence += ", and it sets " + variables(env)
	}
	if len(s.Findings) > 0 {
		miss.Finding = s.Findings[0]
	}
	var passed, changed approval.SegmentJudgement
	for _, one := range r.candidates(res, s.Kind, s.Kind == approval.KindReader || s.Profiled) {
		if !one.narrowed(in, s) {
			continue
		}
		if one.ended(in) {
			miss.Finding = say(approval.ReasonLeaseEnded, "the permission for "+res.File.Path+" has ended")
			continue
		}
		if missing := one.without(env); len(missing) > 0 {
			if miss.Reason == approval.ReasonAllowlistMiss {
				miss.Finding = say(approval.ReasonEnvAsks, "it sets "+variables(missing))
			}
			continue
		}
		if about, ok := one.Covers(s.Findings); !ok {
			if miss.Reason != approval.ReasonLeaseEnded {
				miss.Finding = about
			}
			continue
		}
		v := verdict(approval.VerdictAllow, approval.Finding{}, one.Pattern)
		v.EntryID, v.Counted = one.ID, one.UsesLeft != nil
		other := ""
		v.Learn, other = one.compare(in, res)
		switch {
		case other != "":
			v.Verdict, v.Finding = approval.VerdictAsk, say(approval.ReasonBinaryChanged, other+" is not the file that was allowed")
			changed = v
		case len(v.Learn) == 0:
			return v
		case passed.Verdict == approval.VerdictUnset:
			passed = v
		}
	}
	switch {
	case changed.Verdict != approval.VerdictUnset:
		return changed
	case passed.Verdict != approval.VerdictUnset:
		return passed
	}
	return miss
}

// ended reports whether the lease is over for this request.
func (one *rule) ended(in Input) bool {
	e := one.Entry
	if slices.Contains(in.Paid, e.ID) {
		e.UsesLeft = nil
	}
	return e.Ended(in.Now)
}

// candidates returns the entries whose pattern means this program. read tells
// that what it does is known: it only reads, or its arguments were read.
func (r *Rules) candidates(res *approval.Resolution, kind approval.ProgramKind, read bool) []*rule {
	found := slices.Clone(r.literal[res.File.Path])
	if res.Link != "" && byLink(res, kind) {
		found = append(found, r.literal[res.Link]...)
	}
	// There are hundreds of programs of the system that can start others or
	// write, and no list of them ever ends: a pattern covers only those among
	// them of which more is known, and the others need an entry with their name.
	if paths.OfSystem(res.File.Path) && !read {
		if res.Link != "" && !byLink(res, kind) {
			return found
		}
		return append(found, r.bareLiteral(res)...)
	}
	var at hits
	r.patterns.index.Match(res.File.Path, at.add)
	if res.Link != "" && sameStore(res.Link, res.File.Path) {
		r.patterns.index.Match(res.Link, at.add)
	}
	for _, i := range at.sorted() {
		found = append(found, r.patterns.rules[i])
	}
	if !runsAny[kind] {
		found = append(found, r.any...)
	}
	if !res.Bare || res.Link != "" && !byLink(res, kind) {
		return found
	}
	var named hits
	r.bare.index.MatchName(res.Word, named.add)
	for _, i := range named.sorted() {
		if one := r.bare.rules[i]; one.meansLink(res) {
			found = append(found, one)
		}
	}
	return found
}

// runsAny are the kinds that a lone * does not stand for.
var runsAny = map[approval.ProgramKind]bool{approval.KindShell: true, approval.KindInterpreter: true, approval.KindMultiplexer: true}

// bareLiteral returns the entries that are exactly this name.
func (r *Rules) bareLiteral(res *approval.Resolution) (found []*rule) {
	if !res.Bare {
		return nil
	}
	var named hits
	r.bare.index.MatchName(res.Word, named.add)
	for _, i := range named.sorted() {
		if one := r.bare.rules[i]; one.Pattern == res.Word {
			found = append(found, one)
		}
	}
	return found
}

// narrowed reports whether the entry's narrowing fits: session, folder and
// arguments.
func (one *rule) narrowed(in Input, s *approval.Segment) bool {
	return (len(one.Args) > 0 || !programs.Raises(path.Base(s.Program.File.Path))) && one.fits(in, s)
}

// fits is the same without what counts for some programs only.
func (one *rule) fits(in Input, s *approval.Segment) bool {
	args := s.Argv[1:]
	if one.SessionKey != "" && one.SessionKey != in.SessionKey {
		return false
	}
	if dir := workingFolder(s, one.ArgsExact); len(one.cwd) > 0 && (s.Dir == "" || !below(one, dir)) {
		return false
	}
	if one.ArgsExact && len(one.Args) != len(args) {
		return false
	}
	if !leading(one.Args, args) {
		if args = behindOptions(s)[1:]; one.ArgsExact || !leading(one.Args, args) {
			return false // nor is it "git -C sub log", which is "git log"
		}
	}
	if one.Source == "allow-always" && !one.ArgsExact && len(one.Args) > 0 && unknownWords(s) && !further(in.Plan.Folder, args[len(one.Args):]) {
		return false
	}
	return one.args == nil || one.argsMatch(s.Dir, args) // the same words, so that no folder counts as one of them
}

// workingFolder is where a command works. Of exactly these words it is where they were
// given: they say the rest.
func workingFolder(s *approval.Segment, exact bool) string {
	if s.At == "" || exact {
		return s.Dir
	}
	return s.At
}

// boundArgs begins an argPattern that is no pattern but the hash of one folder
// and the arguments given there.
const boundArgs = "sha256:cwd-argv:v1:"

// argsMatch applies argPattern as the protocol does: to the arguments joined
// by a space, or ended by NUL each (two for no arguments) if the pattern holds
// a NUL. Entries that allow-always wrote count only with the exact hash form.
func (one *rule) argsMatch(dir string, args []string) bool {
	if want, bound := strings.CutPrefix(one.ArgPattern, boundArgs); bound {
		return dir != "" && want == argsHash(dir, args)
	}
	if one.Source == "allow-always" {
		return false
	}
	if strings.Contains(one.ArgPattern, "\x00") || strings.Contains(one.ArgPattern, `\x00`) {
		if len(args) == 0 {
			args = []string{"", ""}
		}
		return one.args.MatchString(strings.Join(args, "\x00") + "\x00")
	}
	return one.args.MatchString(strings.Join(args, " "))
}

// argsHash is the hash that OpenClaw's allow-always writes: of the folder and
// of the arguments, each behind its length in bytes, so that no two lists
// give the same text.
func argsHash(dir string, args []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d\x00%s\x00%d\x00", len(dir), dir, len(args))
	for _, arg := range args {
		fmt.Fprintf(&b, "%d\x00%s\x00", len(arg), arg)
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(b.String())))
}

// below reports whether dir is the entry's folder or lies in it.
func below(one *rule, dir string) bool {
	for at := path.Clean(dir); ; at = path.Dir(at) {
		if slices.ContainsFunc(one.cwd, func(cwd glob.Pattern) bool { return cwd.Match(at) }) {
			return true
		}
		if at == "/" || at == "." {
			return false
		}
	}
}
