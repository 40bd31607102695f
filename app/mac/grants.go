package mac

import "strings"

// Install is what macOS makes of the app that runs. A grant of TCC is for who
// signed it, so Identity names that.
type Install struct {
	// Identity is who signed the app, or for an ad-hoc signature this very build;
	// "" where that cannot be told.
	Identity string
	// AdHoc tells that nobody signed it: each build is another app to TCC, which
	// loses what it was granted.
	AdHoc bool
	// Translocated tells that macOS runs a copy in a place that changes.
	Translocated bool
}

// Translocated reports whether an app at this path is a copy that macOS made
// because it was opened where it was downloaded to.
func Translocated(path string) bool { return strings.Contains(path, "/AppTranslocation/") }

// Grants are the permissions that were granted when somebody last looked, each
// with the Identity of the app at that time.
type Grants map[string]string

// Notice takes how things stand with a permission now. It reports whether
// System Settings still shows a row for an older signature, which looks as if
// it were granted and is not, and whether g changed.
func (g Grants) Notice(id string, now State, identity string) (stale, changed bool) {
	was, known := g[id]
	switch {
	case now == Granted && identity != "" && was != identity:
		g[id] = identity
		return false, true
	case !known || now != Missing && now != Denied:
		return false, false
	case was == identity: // it was taken back
		delete(g, id)
		return false, true
	}
	return identity != "", false
}
