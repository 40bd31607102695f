package command

import (
	"context"

	"github.com/countersign-app/countersign/backend/approval"
)

// Measured analyses a request and tells how many steps that took.
func (a *Analyzer) Measured(req *approval.Request, folder approval.Folder) (plan approval.Plan, steps int) {
	j := a.analyze(context.Background(), req, folder)
	return j.plan, j.work
}

// Cold returns an analyzer of the same machine that remembers nothing.
func (a *Analyzer) Cold() *Analyzer {
	return &Analyzer{World: a.World, Home: a.Home, UID: a.UID, Ours: a.Ours, IsOurs: a.IsOurs, Inherited: a.Inherited, Secrets: a.Secrets, path: a.path}
}

// MaxWork bounds these steps, but for those that the names of files cost
// which patterns stand for.
const MaxWork = maxWork

// Archived returns the names in an archive, and whether they are all.
func Archived(data []byte) ([]string, bool) {
	names, _, err := archived(data)
	return names, err == nil
}

// Patched returns the names in a patch as git apply, git am and patch read it.
func Patched(text []byte) (names []string) {
	for _, by := range []patchReader{byGit, byMail, byPatch} {
		list, _ := patched(text, by)
		names = append(names, list...)
	}
	return names
}
