package command

import (
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// clears judges find -delete. What it deletes lies below the folders that it is given,
// whatever its tests say: so it counts as rm -r of these, and an entry with exactly
// these words covers it. Without a folder, or with all of the project, none does.
func (a *arguments) clears(p *profile) {
	if a.cleared == 0 {
		return
	}
	roots := a.said[:findRoots(a.said)]
	roots = slices.DeleteFunc(slices.Clone(roots), func(s said) bool { return s.option != "" })
	below := len(roots) > 0 && !a.gave("-L", "-H", "-follow") && a.plan.Folder.Holds(a.start) // links may lead anywhere
	for _, s := range roots {
		below = below && s.value.open == nil && !a.spent() && strictlyBelow(a, use{p, "it", p.name, s.value.text})
	}
	if !below {
		a.targets = append(a.targets, approval.Target{Op: approval.TargetWrites})
		return
	}
	for _, s := range roots {
		goes(a, use{p, "it", p.name, s.value.text})
		a.targets = append(a.targets, targetAt(approval.TargetChanges, a.start, s.value.text, true))
	}
	if a.emptied() {
		return
	}
	about := &a.findings[a.cleared-1]
	*about = finding(approval.ReasonDeletes, "%s deletes what it finds below %q", p.name, roots[0].value.text)
	about.Allowed = approval.AllowRemovals
}
