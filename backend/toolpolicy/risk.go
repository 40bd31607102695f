package toolpolicy

import (
	"cmp"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// weights say how much each fact about a call adds to its score. They order and
// colour questions and never allow anything.
func weights() []weight {
	return []weight{
		{90, approval.ReasonProtectedState, "it names protected state", func(t *approval.Tool) bool {
			return slices.ContainsFunc(t.Files, func(f approval.ToolFile) bool { return f.Protected != approval.ProtectedNot })
		}},
		{60, approval.ReasonChangesSystem, "it administers something", has(approval.CategoryAdmin)},
		{40, approval.ReasonDeletes, "it deletes files", func(t *approval.Tool) bool { return t.Server == "" && t.Name == fileDelete }},
		{35, approval.ReasonStartsProgram, "it runs programs", has(approval.CategoryExecute)},
		{35, approval.ReasonOutsideFolder, "it goes outside the session's folder", func(t *approval.Tool) bool {
			return slices.ContainsFunc(t.Files, func(f approval.ToolFile) bool { return !f.Inside })
		}},
		{35, approval.ReasonApprovalRequired, "it goes to an address that is not surely public", func(t *approval.Tool) bool {
			return slices.ContainsFunc(t.Addresses, func(a approval.ToolAddress) bool { return a.Why != "" })
		}},
		{30, approval.ReasonAllowlistMiss, "nothing is known of what it does", has(approval.CategoryUnset)},
		{25, approval.ReasonWritesFile, "it writes files", func(t *approval.Tool) bool { return t.Category == approval.CategoryWrite && t.Name != fileDelete }},
		{20, approval.ReasonNone, "it steers sessions", has(approval.CategorySession)},
		{15, approval.ReasonNone, "it uses the network", has(approval.CategoryNetwork)},
		{5, approval.ReasonNone, "it reads files", has(approval.CategoryRead)},
	}
}

type weight struct {
	points int
	reason approval.Reason // none: what nobody is asked for
	says   string
	of     func(*approval.Tool) bool
}

func has(c approval.ToolCategory) func(*approval.Tool) bool {
	return func(t *approval.Tool) bool { return t.Category == c }
}

// declaredPoints is the least score of a tool that a person calls so risky.
func declaredPoints(r approval.ToolRisk) int {
	switch r {
	case approval.ToolRiskLow:
		return 10
	case approval.ToolRiskMedium:
		return approval.MediumFrom
	case approval.ToolRiskHigh:
		return approval.HighFrom
	case approval.ToolRiskCritical:
		return 90
	}
	return 0
}

// declared is the highest risk that rules declare for a tool, and the sort of
// thing that they say it does.
func (r *Rules) declared(in Input) (worst approval.ToolRisk, sort approval.ToolCategory) {
	for i := range r.layers {
		for _, one := range r.layers[i].rules {
			if !r.layers[i].holds(in.SessionKey) || !refuses(one.name, in.Tool) {
				continue
			}
			if declaredPoints(one.Risk) >= declaredPoints(worst) {
				worst = one.Risk
			}
			if names(one.name, in.Tool) { // it can lower what is not known
				sort = cmp.Or(sort, one.Category)
			}
		}
	}
	return worst, sort
}

// weigh scores a call. What rules say of its sort counts where we know nothing.
func weigh(in Input, declared approval.ToolRisk, sort approval.ToolCategory, j approval.SegmentJudgement) approval.Weighed {
	w := approval.Weighed{}
	t := *in.Tool
	t.Category = cmp.Or(t.Category, sort)
	for _, one := range weights() {
		if one.of(&t) {
			w.Score += one.points
			w.Reasons = append(w.Reasons, say(one.reason, one.says))
		}
	}
	if least := declaredPoints(declared); w.Score < least {
		w.Score = least
		w.Reasons = append(w.Reasons, say(approval.ReasonNone, "a rule calls it "+string(declared)))
	}
	if j.Verdict == approval.VerdictDeny {
		w.Score = max(w.Score, approval.HighFrom)
	}
	if in.Tool.DefaultToNo {
		w.Score = max(w.Score, approval.HighFrom)
		w.Reasons = append(w.Reasons, say(approval.ReasonNone, "the agent itself wants no quick yes"))
	}
	w.Score = min(w.Score, approval.MostScore)
	w.Level = approval.RiskOf(w.Score)
	return w
}
