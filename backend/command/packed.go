package command

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/protected"
)

// packWalk: a package holds all of its folder but what .gitignore names, or
// .npmignore where there is one. What package.json names is in it whatever they say.
func packWalk(r walker) *walk {
	if r.read == nil || r.read.sub != "npm pack" && r.read.sub != "pnpm pack" || len(r.read.given("--dry-run")) > 0 {
		return nil
	}
	w := &walk{roots: r.read.operandsBehind(0), here: true, hidden: true, ignores: true, not: leaves(".git", ".npmrc")}
	if _, err := r.look(join(r.read.dir, ".npmignore")); err == nil {
		w.ignores = false
	}
	names, bundles, ok := r.packed(r.read.dir)
	switch {
	case !ok, bundles:
		w.ignores = false
	case names != nil && len(w.roots) == 0:
		w.ignores, w.here, w.roots = false, false, names
	}
	if ok && !bundles {
		w.not = append(w.not, leaves("node_modules")...)
	}
	return w
}

// packed reads which names in its folder a package.json says are packed, nil for all,
// and whether there are other packages among them. It reports false where that is not
// sure, or where one of them has secrets.
func (j *job) packed(dir string) (names []string, bundles, ok bool) {
	file, err := j.look(join(dir, "package.json"))
	if err != nil {
		return nil, false, true
	}
	text, err := j.World.Head(file, maxIgnore+1)
	if err != nil || len(text) > maxIgnore || !j.bytes(len(text)) {
		return nil, true, false
	}
	var parts map[string]json.RawMessage
	var files []string
	if json.Unmarshal(text, &parts) != nil || parts["files"] != nil && json.Unmarshal(parts["files"], &files) != nil {
		return nil, true, false
	}
	bundles = parts["bundleDependencies"] != nil || parts["bundledDependencies"] != nil
	for _, word := range jsonText().FindAllString(string(text), -1) { // what is its main file is in it
		var name string
		if json.Unmarshal([]byte(word), &name) != nil || protected.Of(path.Clean(join(dir, name)), j.Home).Has(protected.Secret|protected.Private) {
			return nil, bundles, false
		}
	}
	if parts["files"] == nil {
		return nil, bundles, true
	}
	there, err := j.World.List(dir)
	names = []string{}
	for _, name := range files {
		if strings.HasPrefix(name, "!") {
			continue
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(path.Clean("/"+name), "/"), "/")
		other := func(there string) bool { return there != first && strings.EqualFold(there, first) } // small letters mean capital ones
		if err != nil || !plainPattern().MatchString(first) || strings.ContainsAny(first, "*?") || slices.ContainsFunc(there, other) {
			return nil, bundles, false
		}
		names = append(names, first)
	}
	return names, bundles, true
}

// jsonText is a text in a file of JSON.
var jsonText = expression(`"([^"\\]|\\.)*"`)
