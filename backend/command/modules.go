package command

import (
	"bytes"
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
)

//go:embed modules.txt
var modulesText string

// ofPython are the modules that Python brings along.
var ofPython = sync.OnceValue(func() map[string]bool {
	_, names, _ := strings.Cut(modulesText, "\n")
	set := map[string]bool{}
	for _, name := range strings.Fields(strings.ToLower(names)) {
		set[name] = true
	}
	return set
})

// ownModules reports whether a module that Python brings along, started by -m, and all
// that it needs are Python's own. With -m the folder where it runs comes first: a
// file in it that has the name of one would run instead. What the same request writes
// before may be such a file.
func ownModules(a *arguments, _ use) bool {
	if a.start == "" || a.wrote() {
		return false
	}
	names, err := a.list(a.start)
	if err != nil {
		return false
	}
	for _, name := range names {
		base, kind, _ := strings.Cut(strings.ToLower(name), ".")
		if strings.HasPrefix(kind, "so") {
			base = strings.TrimSuffix(base, "module") // Python 2 loads jsonmodule.so as json
		}
		private := strings.HasPrefix(base, "_") && !strings.HasPrefix(base, "__") || base == "__future__"
		if !ofPython()[base] && !private {
			continue
		}
		at := path.Join(a.start, name)
		file, err := a.look(at)
		if err != nil || !file.IsFolder() {
			if kind == "" || !noModule(kind) {
				return false
			}
			continue
		}
		in, err := a.list(at)
		if err != nil || kind == "" && packs(in) || (private || mayMiss(base)) && a.holdsModules(at, in) {
			return false
		}
	}
	return !a.spent()
}

// noModule reports whether no file whose name ends so is a module.
func noModule(kind string) bool {
	return strings.Contains(" md txt json yml yaml toml cfg ini lock rst html css js ts sh ", " "+kind+" ")
}

// mayMiss reports whether what Python brings along imports a module that is not there in
// all versions: then a folder of the name is one, also where it is no package by itself.
func mayMiss(name string) bool { return name == "org" || name == "tomllib" || name == "zlib" }

// holdsModules reports whether a folder with some names in it holds a module.
func (a *arguments) holdsModules(at string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if _, kind, dotted := strings.Cut(strings.ToLower(name), "."); dotted {
			return !noModule(kind)
		}
		in, err := a.list(path.Join(at, name))
		return err == nil && slices.ContainsFunc(in, func(name string) bool {
			_, kind, dotted := strings.Cut(strings.ToLower(name), ".")
			return !dotted || !noModule(kind)
		})
	})
}

// packs reports whether a folder is a package of Python by the names in it.
func packs(names []string) bool {
	for _, name := range names {
		if strings.HasPrefix(strings.ToLower(name), "__init__.") {
			return true
		}
	}
	return false
}

// wrote reports whether the same request names something that it changes before.
func (a *arguments) wrote() bool {
	return len(a.plan.Targets) > 0 || slices.ContainsFunc(a.plan.Segments, func(s approval.Segment) bool { return len(s.Targets) > 0 })
}

// moduleFile is the file of the folder that Python runs for a module by -m, "" where
// it is not one for certain: a name of its own modules may lead to these.
func (a *arguments) moduleFile(word argument) (file string) {
	parts := strings.Split(word.text, ".")
	plain := strings.Trim(word.text, wordLetters+".") == "" && !slices.Contains(parts, "") && word.text[0] != '_'
	if !plain || word.open != nil || a.start == "" || ofPython()[strings.ToLower(parts[0])] {
		return ""
	}
	at := path.Join(parts...)
	for _, name := range []string{at + "/__main__.py", at + ".py"} {
		switch {
		case !a.isFile(name):
		case file != "":
			return ""
		default:
			file = name
		}
	}
	return file
}

// toolModule is the module behind the first -m that stands for a tool in a profile of
// Python, "" for none.
func toolModule(p *profile, argv []string) string {
	at := slices.Index(argv, "-m") + 1
	if at == 0 || at == len(argv) || p.subs["-m"] == nil || p.subs["-m"].subs[argv[at]] == nil || strings.Contains(argv[at], ".") {
		return ""
	}
	return argv[at]
}

// shadowed reports whether the folder where Python runs has, or may have by then, a file
// or a folder that is a module of a name: that comes first.
func (a *arguments) shadowed(name string) bool {
	is := func(at string) bool {
		base, kind, _ := strings.Cut(strings.ToLower(path.Base(at)), ".")
		return base == name && (kind == "" || !noModule(kind))
	}
	for _, seg := range append(slices.Clone(a.plan.Segments), approval.Segment{Targets: a.plan.Targets}) {
		if slices.ContainsFunc(seg.Targets, func(to approval.Target) bool { return is(to.Path) }) {
			return true
		}
	}
	names, err := a.list(a.start)
	return err != nil || slices.ContainsFunc(names, is)
}

// finishTelling asks about a program that only tells about itself where a file of the
// folder, or of one above it, may choose another one for that.
func (a *arguments) finishTelling(p *profile) {
	for _, c := range p.chosen {
		a.looked = true
		if a.has["alone"] && a.chosenBy(c) {
			a.unknown(p, "the file %s, which may name another program,", c.file)
		}
	}
}

// chosenBy reports whether such a file is there, and has the word in it, or may.
func (a *arguments) chosenBy(c chosen) bool {
	brings := func(to approval.Target) bool {
		return path.Base(to.Path) == c.file || to.Path == a.dir || strings.HasPrefix(a.dir, to.Path+"/")
	}
	for _, seg := range append(slices.Clone(a.plan.Segments), approval.Segment{Targets: a.plan.Targets}) {
		if slices.ContainsFunc(seg.Targets, brings) {
			return true
		}
	}
	if a.dir == "" {
		return true
	}
	for dir := a.dir; ; dir = path.Dir(dir) {
		file, err := a.look(path.Join(dir, c.file))
		if err == nil {
			text, err := a.World.Head(file, maxIgnore+1)
			if err != nil || len(text) > maxIgnore || !a.spend(reading) || bytes.Contains(text, []byte(c.word)) || bytes.ContainsRune(text, '\\') {
				return true
			}
		}
		if dir == "/" || a.spent() {
			return a.spent()
		}
	}
}

// pipTries are the modules that pip imports where they are there.
func pipTries() []string {
	return []string{"attr", "certifi", "cpickle", "socks", "urllib3_secure_extra"}
}
