package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/envnames"
	"github.com/countersign-app/countersign/backend/programs"
)

// reasonRisk says how high the risk is that a reason to ask stands for, and
// why. A reason that is in neither list is high.
var reasonRisk = []struct {
	level  approval.Risk
	reason approval.Reason
	why    string
}{
	{approval.RiskHigh, approval.ReasonBinaryChanged, "another program by the name that was allowed"},
	{approval.RiskHigh, approval.ReasonChangesConfig, "it stays, and later commands follow it"},
	{approval.RiskHigh, approval.ReasonChangesSystem, "the machine, not the project"},
	{approval.RiskHigh, approval.ReasonDeletes, "more than literal targets in the folder"},
	{approval.RiskHigh, approval.ReasonDenylisted, "the person's own rule"},
	{approval.RiskHigh, approval.ReasonEnvAsks, "what is not known to be harmless"},
	{approval.RiskHigh, approval.ReasonEnvRefused, "loaders and helpers of programs"},
	{approval.RiskHigh, approval.ReasonEvaluates, "a builtin that evaluates its words"},
	{approval.RiskHigh, approval.ReasonFloor, "it never runs, whatever policy says"},
	{approval.RiskHigh, approval.ReasonOutsideFolder, "outside the working directory"},
	{approval.RiskHigh, approval.ReasonProtectedState, "keys, start-up files, our own state"},
	{approval.RiskHigh, approval.ReasonSteersScreen, "it could press our button"},
	{approval.RiskHigh, approval.ReasonTooComplex, "not all of it was looked at"},
	{approval.RiskHigh, approval.ReasonUnreadable, "it may read as something else"},
	{approval.RiskHigh, approval.ReasonUntrustedPath, "others choose the program"},
	{approval.RiskHigh, approval.ReasonUploads, "what is sent does not come back"},
	{approval.RiskHigh, approval.ReasonWrapperUnclear, "what it starts is not known"},

	{approval.RiskMedium, approval.ReasonApprovalRequired, "a shell reads it, not the runner"},
	{approval.RiskMedium, approval.ReasonInlineCode, "code that is in the question; else see Unseen"},
	{approval.RiskMedium, approval.ReasonNotFound, "the shell may find another"},
	{approval.RiskMedium, approval.ReasonRuntimeValue, "an argument; a command word is Unseen"},
	{approval.RiskMedium, approval.ReasonStartsProgram, "the request names what starts"},
	{approval.RiskMedium, approval.ReasonNetwork, "a host that nobody allowed"},
	{approval.RiskMedium, approval.ReasonWritesFile, "a file of the working directory"},

	{approval.RiskLow, approval.ReasonAllowlistMiss, "nobody allowed it yet; what it is counts below"},
	{approval.RiskLow, approval.ReasonAskAlways, "about the agent, not the command"},
	{approval.RiskLow, approval.ReasonAskFallback, "about who can be asked"},
	{approval.RiskLow, approval.ReasonCwdUnavailable, "it does not run"},
	{approval.RiskLow, approval.ReasonLeaseEnded, "it was allowed before"},
	{approval.RiskLow, approval.ReasonSecurityDeny, "about the agent, not the command"},
	{approval.RiskLow, approval.ReasonUserDenied, "about the caller's person"},
}

// programRisk says the same of what a program is and does when no reason to
// ask is about it: an entry may let it pass beside a part that asks.
var programRisk = []struct {
	level  approval.Risk
	reason approval.Reason // none: what is told and never asks
	says   string          // of its name
	why    string
	of     func(s *approval.Segment) bool
}{
	{approval.RiskHigh, approval.ReasonInlineCode, "%s runs what is not in the question", "it runs what it is sent", (*approval.Segment).Unseen},
	{approval.RiskHigh, approval.ReasonChangesSystem, "%s gives more rights than yours", "sudo and doas", raises},
	{approval.RiskHigh, approval.ReasonUploads, "%s publishes for others", "it cannot be taken back", publishes},
	{approval.RiskHigh, approval.ReasonDeletes, "%s deletes or overwrites what a pattern stands for", "only literal targets pass", deletesMany},
	{approval.RiskHigh, approval.ReasonRuntimeValue, "%s changes what only the run can tell", "its target is a value of the run", changesUnknown},
	{approval.RiskMedium, approval.ReasonDeletes, "%s deletes or overwrites files here", "it passes, and is shown", has(approval.EffectDeletes)},
	{approval.RiskMedium, approval.ReasonNone, "%s uses the network", "it passes, and is shown", has(approval.EffectNetwork)},
	{approval.RiskMedium, approval.ReasonStartsProgram, "%s starts what the project names", "it passes, and is shown", has(approval.EffectProject)},
	{approval.RiskMedium, approval.ReasonWritesFile, "%s changes files", "that is its purpose", changes},
	{approval.RiskMedium, approval.ReasonNone, "nothing is known of what %s does", "it has no profile", unknown},
}

func has(e approval.Effect) func(*approval.Segment) bool {
	return func(s *approval.Segment) bool { return slices.Contains(s.Effects, e) }
}

func changes(s *approval.Segment) bool {
	return s.Kind == approval.KindChanger && !slices.Contains(s.Effects, approval.EffectDeletes)
}

func raises(s *approval.Segment) bool { return programs.Raises(nameOf(s)) }

func deletesMany(s *approval.Segment) bool {
	return slices.Contains(s.Effects, approval.EffectDeletes) && (len(s.Made) > 0 || s.Words != nil)
}

func changesUnknown(s *approval.Segment) bool {
	return s.Kind == approval.KindChanger && len(s.Open) > 0
}

func unknown(s *approval.Segment) bool {
	return s.Kind == approval.KindOther && !s.Profiled && s.Program != nil
}

// publishing are the first words after a program that give something to others.
var publishing = map[string][]string{
	"cargo": {"publish", "yank"}, "docker": {"push", "image push"}, "gem": {"push"}, "gh": {"release create", "release upload"},
	"git": {"push"}, "helm": {"push"}, "npm": {"publish", "unpublish"}, "pnpm": {"publish"}, "podman": {"push", "image push"},
	"poetry": {"publish"}, "twine": {"upload"}, "uv": {"publish"}, "yarn": {"publish", "npm publish"},
}

// publishes errs to the risky side: before these words only options stand, each
// of which may take a value.
func publishes(s *approval.Segment) bool {
	known := publishing[nameOf(s)]
	if known == nil {
		return false
	}
	option := false
	for i, arg := range s.Argv {
		begins := func(w string) bool { return strings.HasPrefix(strings.Join(s.Argv[i:], " ")+" ", w+" ") }
		switch was := option; {
		case i == 0:
		case slices.ContainsFunc(known, begins):
			return true
		default:
			if option = strings.HasPrefix(arg, "-"); !option && !was {
				return false
			}
		}
	}
	return false
}

func nameOf(s *approval.Segment) string {
	if s.Program != nil {
		return path.Base(s.Program.Path)
	}
	if len(s.Argv) == 0 {
		return ""
	}
	return path.Base(s.Argv[0])
}

// maxReasons is how many reasons a person is told. Each is as high as the rest.
const maxReasons = 6

// weigh says how high the risk of a request is: as high as the highest of its
// parts, so that adding one never lowers it. about are the reasons that are
// about the whole.
func weigh(in Input, j approval.Judgement, about []approval.Finding) approval.Weighed {
	w := weighing{}
	w.finding(j.Finding)
	for _, list := range [][]approval.Finding{about, in.Plan.Findings} {
		for _, f := range list {
			w.finding(f)
		}
	}
	if in.Plan.Invalid != "" {
		w.add(approval.RiskHigh, say(approval.ReasonInvalid, in.Plan.Invalid))
	}
	read := !slices.ContainsFunc(w.Reasons, func(f approval.Finding) bool { return f.Reason == approval.ReasonUnreadable })
	if read && display.Veils(in.Plan.Text) {
		w.add(approval.RiskHigh, say(approval.ReasonUnreadable, "it holds characters that cannot be seen"))
	}
	known := slices.Clone(in.Env)
	for i := range in.Plan.Segments {
		known = append(known, in.Plan.Segments[i].Env...)
	}
	known = slices.DeleteFunc(known, func(v approval.Variable) bool { return envnames.Requested(v.Name) == envnames.Other })
	if len(known) > 0 { // also where nobody is asked about them
		w.add(approval.RiskHigh, say(approval.ReasonEnvAsks, "it sets "+variables(known)))
	}
	if in.Who != approval.Ours {
		w.add(approval.RiskMedium, say(approval.ReasonApprovalRequired, "the caller runs it, not Countersign"))
	}
	network, shell := false, false
	for i := range in.Plan.Segments {
		s := &in.Plan.Segments[i]
		w.segment(s)
		if i < len(j.Segments) {
			w.finding(j.Segments[i].Finding)
		}
		network = network || slices.Contains(s.Effects, approval.EffectNetwork)
		shell = shell || s.Kind == approval.KindShell
	}
	if network && shell {
		w.add(approval.RiskHigh, say(approval.ReasonInlineCode, "it uses the network and runs a shell"))
	}
	level := approval.HigherRisk(w.Level, approval.RiskLow)
	return approval.Weighed{Score: score(level, len(w.Reasons)), Level: level, Reasons: w.Reasons}
}

// score is the number for a level: further reasons of the same level add to it,
// as far as the level goes.
func score(level approval.Risk, reasons int) int {
	more := max(0, reasons-1)
	switch {
	case level.High():
		return min(70+6*more, approval.MostScore)
	case level == approval.RiskMedium:
		return min(40+4*more, approval.HighFrom-1)
	}
	return min(10*reasons, approval.MediumFrom-1)
}

// weighing is what was weighed so far.
type weighing struct{ approval.Weighed }

// add counts one reason. Those of a lower level are forgotten.
func (w *weighing) add(level approval.Risk, f approval.Finding) {
	if level == approval.RiskLow {
		return
	}
	if approval.HigherRisk(w.Level, level) != w.Level {
		w.Weighed = approval.Weighed{Level: level}
	}
	if level == w.Level && len(w.Reasons) < maxReasons && !slices.Contains(w.Reasons, f) {
		w.Reasons = append(w.Reasons, f)
	}
}

func (w *weighing) finding(f approval.Finding) {
	if f.Reason == approval.ReasonNone {
		return
	}
	level, ok := levels[f.Reason]
	if !ok {
		level = approval.RiskHigh
	}
	w.add(level, f)
}

// levels are those of reasonRisk.
var levels = func() map[approval.Reason]approval.Risk {
	m := map[approval.Reason]approval.Risk{}
	for _, row := range reasonRisk {
		m[row.reason] = row.level
	}
	return m
}()

func (w *weighing) segment(s *approval.Segment) {
	if s.Named {
		return // it may mean anything; what it means for the denylist is judged
	}
	if s.Floor != "" {
		w.finding(say(approval.ReasonFloor, s.Floor))
	}
	for _, f := range s.Findings {
		w.finding(f)
	}
	for _, row := range programRisk {
		if row.of(s) {
			w.add(row.level, say(row.reason, fmt.Sprintf(row.says, display.Escape(nameOf(s)))))
		}
	}
}
