package command

import (
	"path"
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/protected"
)

// A program may write files that no word names: a.out, x.gz for x, xaa. What is
// written so goes through the links that are there, which the project brought. A
// link that is put there after the look, and before the write, is not seen.

// finishDerived looks for such links, as far as the profile tells the names. Of a
// word that only the run can tell, the name may be any.
func (a *arguments) finishDerived(p *profile) {
	if a.has["alone"] {
		return
	}
	for _, d := range p.derives {
		stems := []string{}
		for _, word := range a.named {
			if word.open != nil {
				stems = append(stems, "*")
			} else if s := stem(word.text); s != "" {
				stems = append(stems, s)
			}
		}
		for _, name := range d.names {
			switch before, after, each := strings.Cut(name, "%"); {
			case d.where == "it":
				for _, word := range a.named {
					a.derived(p.name, path.Dir(join(a.start, word.text)), before+stem(word.text)+after)
				}
			case d.where != "cwd":
				for _, folder := range a.places[d.where] {
					a.derived(p.name, join(a.start, folder), name)
				}
			case each:
				for _, s := range stems {
					a.derived(p.name, a.dir, before+s+after)
				}
			default:
				a.derived(p.name, a.dir, name)
			}
		}
	}
}

// derived asks where a name that a program makes up may be that of a link which
// leads out of the working directory, be it to nothing yet. A link to a folder is
// no file that can be written, unless the pattern ends with a slash. What exactly
// holds begins as the pattern does.
func (a *arguments) derived(who, folder, pattern string, exactly ...string) {
	if a.spent() || folder == "" {
		return // the request asks, or does for not knowing the folder
	}
	at, err := a.look(folder)
	if err != nil || !at.IsFolder() {
		return // nothing is there to write to
	}
	a.looked = true
	pattern, folders := strings.CutSuffix(strings.ToLower(pattern), "/")
	prefix, _, _ := strings.Cut(strings.Map(patternSign, pattern), "*")
	names, err := a.beginning(prefix, at.Path)
	for _, name := range names {
		small := strings.ToLower(name)
		if fits, bad := path.Match(pattern, small); !fits && bad == nil && !matches(exactly, small) {
			continue
		}
		file, failed := a.look(path.Join(at.Path, name))
		outside := failed != nil || !a.plan.Folder.Holds(file.Path) || ofGit(file.Path) && file.Path != path.Join(at.Path, name)
		if outside && (failed != nil || file.IsFolder() == folders) {
			a.written = append(a.written, finding(approval.ReasonOutsideFolder, "%s names files by itself, and %q in that folder is a link that leads out of the working directory", who, name))
			return
		}
	}
	if err != nil {
		a.written = append(a.written, finding(approval.ReasonOutsideFolder, "%s names files by itself, in a folder that cannot be listed", who))
	}
}

// patternSign makes one of the signs that mean something in patterns.
func patternSign(r rune) rune {
	if strings.ContainsRune("*?[\\", r) {
		return '*'
	}
	return r
}

// stem is what a file is called up to its last dot, dash or underline, as a
// pattern.
func stem(name string) string {
	name = path.Base(path.Clean("/" + name))
	if i := strings.LastIndexAny(name, ".-_"); i > 0 {
		name = name[:i]
	}
	return literally(name)
}

// literally is a pattern that stands for a name alone, or for more where systems
// write the name in several ways.
func literally(name string) string {
	if !ascii(name) {
		return "*"
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// nameEnds are how files are called from which programs start, behind the last dot.
var nameEnds = sync.OnceValue(func() []string {
	return strings.Fields("toml yaml yml json json5 jsonc js mjs cjs ts mts cts rc cfg conf ini xml lua el vim rb py pl sh bash zsh fish ps1 plist desktop service lock")
})

// completed asks where letters behind a beginning of a name may make it one from
// which programs start.
func (a *arguments) completed(u use) {
	dot := strings.LastIndexByte(u.value, '.')
	for _, end := range nameEnds() {
		rest, fits := strings.CutPrefix(end, strings.ToLower(u.value[dot+1:]))
		if dot < 0 || !fits || a.spent() {
			continue
		}
		if at := join(a.start, u.value+rest); a.kinds(at, a.look).Has(protected.Startup) {
			a.find(approval.ReasonProtectedState, "%s writes files whose names begin with %q, as that of %s does", u.who, u.value, path.Base(at))
			return
		}
	}
}
