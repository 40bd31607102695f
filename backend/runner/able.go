//go:build linux || darwin

package runner

import (
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// Able reports whether the runner can run this plan without a shell, on this
// platform.
func Able(plan *approval.Plan) bool {
	return plan.Root != nil && (tellsUsage || !takesTime(plan, plan.Root))
}

func takesTime(plan *approval.Plan, n *approval.Node) bool {
	takes := func(part *approval.Node) bool { return takesTime(plan, part) }
	return n.Op == approval.OpTime || slices.ContainsFunc(substitutions(plan, n), takes) ||
		slices.ContainsFunc(n.Kids, func(kid approval.Node) bool { return takes(&kid) })
}
