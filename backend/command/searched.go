package command

import (
	"context"

	"github.com/countersign-app/countersign/backend/protected"
)

// Searcher looks for files with secrets in the folders that one call of a search
// names, with one effort for all of them.
type Searcher struct{ job *job }

// Searcher begins with nothing looked at; ctx ends it.
func (a *Analyzer) Searcher(ctx context.Context) Searcher {
	return Searcher{&job{Analyzer: a, effort: newEffort(ctx)}}
}

// Searched returns a file with secrets that a search of an agent would open in a
// folder, as it is called from there, or "", and whether all names were looked at.
// It opens the files that the patterns in only stand for, all if there are none, but
// for those in not; hidden ones, too. It follows no links, as the tools of agents do
// not that search. ignores tells that it leaves out what .gitignore names.
func (s Searcher) Searched(folder string, only, not []string, ignores bool) (found string, whole bool) {
	if protected.OfFolder(folder, s.job.Home).Has(protected.Secret | protected.Private) {
		return ".", true
	}
	return s.job.secretIn(folder, ".", &walk{hidden: true, ignores: ignores, only: only, not: leaves(not...)})
}
