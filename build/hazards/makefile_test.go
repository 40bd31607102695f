package hazards

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// makefile is what make would do: of each target what it needs and runs, of all
// branches of its conditions.
type makefile struct {
	variables map[string]string
	needs     map[string][]string
	recipes   map[string][]string
}

var (
	assigned = regexp.MustCompile(`^(\w+) *[:?]?= *(.*)$`)
	ruled    = regexp.MustCompile(`^([\w./ $()-]+):([^=]*)$`)
	used     = regexp.MustCompile(`\$[({](\w+)[)}]`)
	output   = regexp.MustCompile(`(?:^| )-o +(\S+)|\bln +-s\w* +\S+ +(\S+)|>>? *([\w$./(){}-]+)`)
	called   = regexp.MustCompile(`\$\(MAKE\) +([\w-]+)`)
	// tools are what setup sees to: what is started from the folder of the
	// project, and what compiles it.
	tools = regexp.MustCompile(`\b(npm|npx|node)\b|\$\(GO\) +(run|build|test|vet|list)\b`)
)

func parse(text string) makefile {
	m := makefile{map[string]string{}, map[string][]string{}, map[string][]string{}}
	var targets []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimRight(line, "\n")
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			for _, target := range targets {
				m.recipes[target] = append(m.recipes[target], recipe)
			}
			continue
		}
		line, _, _ = strings.Cut(line, "#")
		if f := assigned.FindStringSubmatch(line); f != nil {
			m.variables[f[1]] = f[2]
		} else if f := ruled.FindStringSubmatch(line); f != nil {
			targets = strings.Fields(f[1])
			for _, target := range targets {
				m.needs[target] = append(m.needs[target], strings.Fields(f[2])...)
			}
		}
	}
	return m
}

// outputs are the files that recipes and targets make, without variables.
func (m makefile) outputs() (list []string) {
	add := func(word string) {
		for range 5 {
			word = used.ReplaceAllStringFunc(word, func(v string) string {
				if value, ok := m.variables[used.FindStringSubmatch(v)[1]]; ok {
					return value
				}
				return v
			})
		}
		if strings.Contains(word, "/") && !strings.HasPrefix(word, "/dev/") {
			list = append(list, filepath.Clean(word))
		}
	}
	for target, recipes := range m.recipes {
		add(target)
		for _, f := range output.FindAllStringSubmatch(strings.Join(recipes, "\n"), -1) {
			add(f[1] + f[2] + f[3])
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// sameOnAMac are the outputs that differ only in case.
func (m makefile) sameOnAMac() (list []string) {
	list = m.outputs()
	return slices.DeleteFunc(slices.Clone(list), func(a string) bool {
		return !slices.ContainsFunc(list, func(b string) bool { return a != b && strings.EqualFold(a, b) })
	})
}

// unset are the targets that use a tool before setup has run.
func (m makefile) unset() (list []string) {
	for target := range m.needs {
		if _, early := m.run(target, false, nil); early && target != ".PHONY" {
			list = append(list, target)
		}
	}
	slices.Sort(list)
	return list
}

// run follows what make does for a target, in its order. It tells whether setup
// has run then, and whether a tool was used before.
func (m makefile) run(target string, set bool, above []string) (nowSet, early bool) {
	if target == "setup" || slices.Contains(above, target) {
		return set || target == "setup", false
	}
	above = append(above, target)
	follow := func(next string) {
		var tooEarly bool
		set, tooEarly = m.run(next, set, above)
		early = early || tooEarly
	}
	for _, next := range m.needs[target] {
		follow(next)
	}
	for _, line := range m.recipes[target] {
		early = early || !set && tools.MatchString(line)
		for _, f := range called.FindAllStringSubmatch(line, -1) {
			follow(f[1])
		}
	}
	return set, early
}

func TestMakefile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	m := parse(string(text))
	if len(m.recipes) < 10 || len(m.outputs()) == 0 {
		t.Fatalf("read %d recipes and the outputs %v: is it another kind of Makefile?", len(m.recipes), m.outputs())
	}
	for _, at := range m.sameOnAMac() {
		t.Errorf("%s differs from another output only in case: on a Mac they are one file", at)
	}
	for _, target := range m.unset() {
		t.Errorf("%s uses what only setup installs, before or without it: on a fresh clone it fails", target)
	}
}

func TestMakefileIsUnderstood(t *testing.T) {
	for _, c := range []struct{ text, same, unset string }{
		{"B := out\na:\n\tgo build -o $(B)/tool\nb:\n\tgo build -o $(B)/Tool\n", "out/Tool out/tool", ""},
		{"B := out\na:\n\tgo build -o $(B)/tool\nb:\n\tgo build -o $(B)/app/Tool\n", "", ""},
		{"out/A:\n\tx\nb:\n\techo >out/a\n", "out/A out/a", ""},
		{"out/A:\n\tx\nb:\n\tln -sfn x out/a\n", "out/A out/a", ""},
		{"a:\n\techo >/dev/null\n\techo >/dev/NULL\n", "", ""},
		{"setup:\n\tsh setup.sh\na:\n\t$(GO) run ./build/x\n", "", "a"},
		{"a: setup\n\t$(GO) run ./build/x\n", "", ""},
		{"a: page\n\techo\npage: setup\n\tcd f && npm run build\n", "", ""},
		{"a: page\n\techo\npage:\n\tcd f && npm run build\n", "", "a page"},
		{"a: page setup\npage:\n\tnode x.mjs\n", "", "a page"},
		{"a: setup page\npage:\n\tnode x.mjs\n", "", "page"},
		{"a: setup\n\t$(MAKE) b\nb:\n\tnpm ci\n", "", "b"},
		{"a:\n\t$(MAKE) b\nb: setup\n\tnpm ci\n", "", ""},
		{"a:\n\t@if x; then \\\n\t\t$(GO) test ./x; \\\n\tfi\n", "", "a"},
		{"a:\n\techo going nodeless\n", "", ""},
		{"ifeq ($(S),Darwin)\na: setup\n\t$(GO) build\nelse\na:\n\tnpm x\nendif\n", "", ""},
	} {
		m := parse(c.text)
		if got := strings.Join(m.sameOnAMac(), " "); got != c.same {
			t.Errorf("%q: the same are %q, want %q", c.text, got, c.same)
		}
		if got := strings.Join(m.unset(), " "); got != c.unset {
			t.Errorf("%q: without setup are %q, want %q", c.text, got, c.unset)
		}
	}
}
