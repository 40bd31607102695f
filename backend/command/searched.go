package command

import (
	"context"

	"github.com/countersign-app/countersign/backend/protected"
)

// Searched returns a file with secrets that a search of an agent would open in a
// folder, as it is called from there, or "", and whether all names were looked at.
// It opens the files that the patterns in only stand for, all if there are none, but
// for those in not; hidden ones, too. It follows no links, as the tools of agents do
// not that search. ignores tells that it leaves out what .gitignore names.
func (a *Analyzer) Searched(ctx context.Context, folder string, only, not []string, ignores bool) (found string, whole bool) {
	j := &job{Analyzer: a, effort: newEffort(ctx)}
	if protected.OfFolder(folder, a.Home).Has(protected.Secret | protected.Private) {
		return ".", true
	}
	return j.secretIn(folder, ".", &walk{hidden: true, ignores: ignores, only: only, not: leaves(not...)})
}
