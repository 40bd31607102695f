package runner

import (
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// Able reports whether the runner can run this plan without a shell. It knows
// ring 1 of plan-runner.md without input from files and texts, groups, time,
// and assignments, and of ring 2 nothing yet: such texts need a person's yes.
func Able(plan *approval.Plan) bool {
	if plan.Root == nil || len(plan.Options) > 0 || !ableNode(plan, plan.Root) {
		return false
	}
	for i := range plan.Segments {
		// Names of files were looked up when it was judged. A command before
		// may change them.
		if plan.Segments[i].Words != nil && len(plan.Segments) > 1 {
			return false
		}
	}
	return true
}

func ableNode(plan *approval.Plan, n *approval.Node) bool {
	if len(n.Redirects) > 0 {
		return false
	}
	switch n.Op {
	case approval.OpSeq, approval.OpAnd, approval.OpOr, approval.OpPipe, approval.OpNot:
		return !slices.ContainsFunc(n.Kids, func(kid approval.Node) bool { return !ableNode(plan, &kid) })
	case approval.OpRun:
		s := &plan.Segments[n.Seg]
		return len(s.Open) == 0 && len(s.Assigns) == 0 && s.Builtin != "set" && s.Builtin != "command" &&
			!slices.ContainsFunc(s.Redirects, func(r approval.Redirect) bool { return r.To < approval.ToNull })
	}
	return false
}
