// Package environ makes the environment of a run: what the person's login
// shell would give, with what the request may change. It may start that
// shell, once, and nothing else. A requested name that steers programs never
// gets in, also when nobody asked Check before.
package environ

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/envnames"
	"github.com/countersign-app/countersign/backend/paths"
)

// Base is the environment that Countersign would use by itself. It is
// immutable; the zero value holds nothing but a PATH.
type Base struct{ vars map[string]string }

// FromProcess returns a base of NAME=value texts, such as os.Environ gives.
// Loaders and start-up files of shells are left out, and so is what a shell
// notes about itself.
func FromProcess(environ []string) Base {
	vars := map[string]string{}
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" || strings.Contains(kv, "\x00") || envnames.StripInherited(name) {
			continue
		}
		switch name {
		case "_", "PWD", "OLDPWD", "SHLVL":
			continue
		}
		// Where a name is there twice, C programs read the first.
		if _, twice := vars[name]; !twice {
			vars[name] = value
		}
	}
	return Base{vars}
}

// Path returns the folders of PATH, in order. An empty one is the working
// directory and is given as ".".
func (b Base) Path() []string {
	folders := filepath.SplitList(b.path())
	for i, folder := range folders {
		if folder == "" {
			folders[i] = "."
		}
	}
	return folders
}

func (b Base) path() string {
	if path := b.vars["PATH"]; path != "" {
		return path
	}
	return paths.DefaultPath()
}

// Get returns the value of a variable, and whether there is one.
func (b Base) Get(name string) (string, bool) {
	if name == "PATH" {
		return b.path(), true
	}
	value, ok := b.vars[name]
	return value, ok
}

// Has reports whether any variable is so.
func (b Base) Has(so func(name, value string) bool) bool {
	for name, value := range b.vars {
		if so(name, value) {
			return true
		}
	}
	return false
}

// With returns the whole environment of one run in the folder dir: the base,
// what the request may set, and the marks by which a program sees that
// Countersign runs it. It is sorted, and no name is in it twice. What Check
// refuses is not in it.
func (b Base) With(requested map[string]string, runID, dir string) []string {
	vars := map[string]string{}
	maps.Copy(vars, b.vars)
	settings, _ := sift(requested)
	for _, s := range settings {
		vars[s.name] = s.value
	}
	vars["PATH"] = b.path()
	vars["PWD"] = dir
	vars["COUNTERSIGN"] = "1"
	vars[approval.RunMark] = runID
	vars["OPENCLAW_SHELL"] = "exec"

	list := make([]string, 0, len(vars))
	for name, value := range vars {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// Diff returns what a request changes, sorted by name, to be shown with the
// question. Values of secrets are left out. A variable that keeps its value
// is listed only if setting it asks. What Check refuses is not listed.
func (b Base) Diff(requested map[string]string) []approval.EnvChange {
	var changes []approval.EnvChange
	settings, _ := sift(requested)
	for _, s := range settings {
		old, was := b.vars[s.name]
		if was && old == s.value && !s.asks {
			continue
		}
		c := approval.EnvChange{Name: s.name, Value: s.value, Old: old, Was: was, Asks: s.asks}
		if envnames.Secret(s.name) {
			c.Value, c.Old, c.Secret = "", "", true
		}
		changes = append(changes, c)
	}
	return changes
}
