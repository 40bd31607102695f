package command

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/protected"
)

// remade are folders that tools make, and make again: what they hold came with
// packages and builds, and no program is started there by a person.
var remade = words(`node_modules bower_components jspm_packages .pnpm-store vendor third_party .venv venv .virtualenv
	virtualenv .tox .nox __pypackages__ site-packages __pycache__ .eggs target build dist out _build .build .gradle
	.next .nuxt .svelte-kit .output .turbo .cache .parcel-cache .vite .expo .angular .terraform .serverless .aws-sam
	Pods Carthage DerivedData .dart_tool coverage htmlcov tmp temp .tmp .pytest_cache .mypy_cache .ruff_cache obj
	dist-newstyle .stack-work elm-stuff _site test-results playwright-report`)

// removed asks for a folder that is deleted, overwritten or closed as a whole, where a
// file in it starts programs: gone, it guards nothing any more (a hook, what an agent may
// do without a question), and one further up may hold in its place. That is so of
// folders in which somebody starts something: the name of each file in it is looked
// at, but for what lies in a folder that tools make again, or in an environment of
// Python. What cannot be looked at to its end asks.
func (a *arguments) removed(u use) {
	at := path.Clean(join(a.dir, u.value))
	if a.dir == "" && !path.IsAbs(u.value) {
		return
	}
	if !remade()[path.Base(at)] && a.above(at) {
		a.find(approval.ReasonProtectedState, "%s changes %q, where files are from which programs start", u.who, u.value)
		return
	}
	ground := a.plan.Folder.Path // where the session is, whatever that is called
	if within(at, a.plan.Cwd.Path) {
		ground = a.plan.Cwd.Path
	}
	if slices.ContainsFunc(strings.Split(strings.TrimPrefix(at, ground), "/"), func(name string) bool { return remade()[name] }) {
		return
	}
	folder, err := a.look(at)
	if err != nil || !folder.IsFolder() || a.whole(folder.Path) { // that asks by itself
		return
	}
	switch found, err := a.guards(folder.Path, func(string) bool { return true }); {
	case err != nil:
		a.find(approval.ReasonProtectedState, "%s changes %q, which %v", u.who, u.value, err)
	case found != "":
		a.find(approval.ReasonProtectedState, "%s changes %q with %s in it, from which programs start", u.who, u.value, found)
	}
}

// guards returns a file in a folder from which programs start, as it is called from
// there, or "", as far as it counts.
func (j *job) guards(root string, counts func(sub string) bool) (found string, err error) {
	folders, count := []string{""}, 0
	for len(folders) > 0 {
		rel := folders[len(folders)-1]
		folders = folders[:len(folders)-1]
		names, err := j.World.List(path.Join(root, rel))
		if err != nil || slices.Contains(names, "pyvenv.cfg") {
			continue
		}
		in := protected.In(path.Join(root, rel), j.Home)
		for _, name := range names {
			if count++; !j.walk() || count > maxWalked {
				return "", errors.New("has more names in it than are looked at")
			}
			sub := path.Join(rel, name)
			at := path.Join(root, sub)
			folder := j.isFolder(at)
			switch {
			case (in.Of(name).Has(protected.Startup) || !folder && protected.Above(at, j.Home)) && counts(sub):
				return sub, nil
			case folder && !remade()[name]:
				folders = append(folders, sub)
			}
		}
	}
	return "", nil
}
