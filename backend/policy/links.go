package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/paths"
)

// byLink reports whether an entry may mean a program by the link to it. What
// runs any code is never covered through a link, which may have a harmless
// name. Links that only root or a package manager makes are names like any
// other: python3 is one.
func byLink(res *approval.Resolution, kind approval.ProgramKind) bool {
	return !runsAny[kind] || res.Kept || sameStore(res.Link, res.File.Path)
}

// meansLink reports whether a bare name means a program that was found through a
// link: one with a wildcard only if it means the target's name as well.
func (one *rule) meansLink(res *approval.Resolution) bool {
	return res.Link == "" || !strings.ContainsAny(one.Pattern, "*?") || one.pattern.MatchName(path.Base(res.File.Path)) ||
		res.Kept || sameStore(res.Link, res.File.Path)
}

// led compares where a program was found with where the same path led before,
// if that was through a link. It returns the path if where it leads is to be
// recorded, and what a person is told if it leads elsewhere. What interprets a
// script is compared by its real path alone.
func (one *rule) led(res *approval.Resolution) (link, elsewhere string) {
	if one.at != "" {
		if one.elsewhere(res) {
			elsewhere = res.File.Path + ", to which " + one.at + " leads,"
		}
		return "", elsewhere
	}
	if !one.pattern.Bare() {
		return "", ""
	}
	i := slices.IndexFunc(one.Links, func(l approval.Link) bool { return l.Path == res.Path })
	same := true
	switch {
	case i < 0 && !linked(res):
		return "", ""
	case i < 0: // where a file was before, there is a link
		same = identityOf(one.Identity, path.Clean(res.Path)).Path == ""
	case one.Links[i].Target == res.File.Path:
		return "", ""
	default:
		same = res.Kept || samePackage(one.Links[i].Target, res.File.Path)
	}
	if !same {
		elsewhere = res.File.Path + ", to which " + res.Path + " leads,"
	}
	return res.Path, elsewhere
}

// elsewhere reports whether the path of an entry leads to another file than it
// did: through a link that was changed, that was put in the place of a file, or
// in the place of which a file was put.
func (one *rule) elsewhere(res *approval.Resolution) bool {
	if res.Kept || res.Link == "" && command.Kept(res.File) {
		return false
	}
	targets := []string{}
	if one.target != "" {
		targets = append(targets, one.target)
	}
	for _, id := range one.Identity {
		targets = append(targets, id.Path)
	}
	if len(targets) == 0 {
		return one.at != res.File.Path // it was a file when the entry was read
	}
	return !slices.ContainsFunc(targets, func(was string) bool { return was == res.File.Path || samePackage(was, res.File.Path) })
}

// linked reports whether a path leads through a link that more than root can
// change.
func linked(res *approval.Resolution) bool {
	return path.Clean(res.Path) != res.File.Path && !res.Kept
}

// storeOf returns the package store that a real path lies in, and the rest.
func storeOf(real string) (store, rest string) {
	for _, dir := range paths.PackageStores() {
		if rest, ok := strings.CutPrefix(real, dir+"/"); ok {
			return dir, rest
		}
	}
	return "", ""
}

// samePackage reports whether two files lie in the same store and, where the
// store keeps one folder a package, in the same package, under one name.
func samePackage(a, b string) bool {
	storeA, restA := storeOf(a)
	storeB, restB := storeOf(b)
	if storeA == "" || storeA != storeB || path.Base(a) != path.Base(b) {
		return false
	}
	nameA, _, _ := strings.Cut(restA, "/")
	nameB, _, _ := strings.Cut(restB, "/")
	return nameA == nameB || storeA == "/nix/store"
}

// sameStore reports whether a link lies beside the store that its target is
// in, where only the package manager puts links.
func sameStore(link, real string) bool {
	store, _ := storeOf(real)
	if store == "" {
		return false
	}
	return strings.HasPrefix(link, path.Dir(store)+"/")
}
