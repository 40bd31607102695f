package command

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// settings are files that are there for the examples that name them.
var settings = strings.Fields(`.eslintrc.json .golangci.yml .mocharc.yml .pre-commit-config.yaml .prettierrc .pylintrc .rubocop.yml
	biome.json eslint.config.mjs jest.config.ts mypy.ini pyproject.toml pytest.ini setup.cfg vite.config.ts vitest.config.ts`)

// examined judges one command by its profile, in a folder of its own.
func examined(argv []string) approval.Segment {
	world := "/home/ann/p/README.md /home/ann/p/src/a.c"
	if slices.Contains(argv, "here") || slices.Contains(argv, "away") { // "here" is a tool of the project, "away" leads to another program
		world = "/home/ann/p/node_modules/.bin/away -> /usr/bin/x\n/usr/bin/x /home/ann/p/node_modules/.bin/here " + world
	}
	for _, word := range argv {
		if name := word[strings.LastIndexByte(word, '=')+1:]; slices.Contains(settings, name) {
			world += " /home/ann/p/" + name
		}
	}
	a := &Analyzer{World: approvaltest.NewWorld(world), Home: "/home/ann", UID: 1000}
	j := &job{Analyzer: a, effort: newEffort(context.Background())}
	j.plan.Cwd.Path, j.plan.Folder = "/home/ann/p", approvaltest.Named("/home/ann/p")
	seg := approval.Segment{Argv: argv, Dir: "/home/ann/p"}
	if args := j.profiled(&seg); args != nil {
		seg.Profiled, seg.Findings = true, args.findings
	}
	return seg
}

// TestProfiles reads every profile and judges the examples in it.
func TestProfiles(t *testing.T) {
	l, err := readProfiles(profileFiles, "profiles/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(l.examples) < 50 {
		t.Fatalf("only %d examples", len(l.examples))
	}
	tryExamples(t, l, false, func(argv []string) []approval.Finding { return examined(argv).Findings })
}

// TestSafeBinExamples does so with the filters that need no entry.
func TestSafeBinExamples(t *testing.T) {
	l, err := readProfiles(profileFiles, "safebins.txt")
	if err != nil {
		t.Fatal(err)
	}
	tryExamples(t, l, false, func(argv []string) []approval.Finding {
		if SafeBin(argv) {
			return nil
		}
		return []approval.Finding{finding(approval.ReasonStartsProgram, "it is none")}
	})
}

// TestReaders does so with the programs that only read. Many of them have no
// option that asks.
func TestReaders(t *testing.T) {
	l, err := readProfiles(profileFiles, "readers.txt")
	if err != nil {
		t.Fatal(err)
	}
	tryExamples(t, l, true, func(argv []string) []approval.Finding { return asReader(argv[0], argv).findings })
	for _, test := range []struct {
		words              string
		walks, names, open bool
	}{
		{"grep foo a", false, false, false},
		{"grep -inR foo", true, false, false},
		{"grep --recu foo", true, false, false},
		{"grep --regexp=foo a", false, false, false},
		{"grep foo -- -r", false, false, false},
		{"grep -A -- -r foo", true, false, false},
		{"grep -f", false, false, true},
		{"grep --file", false, false, true},
		{"grep --file=x", false, false, false},
		{"grep foo -", false, false, false},
		{"grep foo --", false, false, false},
		{"du -sX a", false, true, false},
		{"du --files0=a", false, true, false},
		{"tree a", false, false, true},
		{"cat -n", false, false, false},
		{"cat --number", false, false, true},
	} {
		argv := strings.Fields(test.words)
		if r := asReader(argv[0], argv); r.walks != test.walks || r.names != test.names || r.open != test.open {
			t.Errorf("%s: %+v", test.words, r)
		}
	}
}

// tryExamples gives each example to a judge that says why it asks. Each program
// needs some of both kinds; a reader only if it has an option that asks.
func tryExamples(t *testing.T, l *library, reader bool, judge func(argv []string) []approval.Finding) {
	tried := map[string][2]int{}
	for _, e := range l.examples {
		findings := judge(e.argv)
		var reasons []approval.Reason
		for _, f := range findings {
			reasons = append(reasons, f.Reason)
		}
		n := tried[e.argv[0]]
		if e.reason == "" {
			n[0]++
			if len(reasons) > 0 {
				t.Errorf("%s:%d: %q must pass: %+v", e.file, e.line, e.argv, findings)
			}
		} else {
			n[1]++
			if !slices.Contains(reasons, e.reason) {
				t.Errorf("%s:%d: %q must ask, %s: %+v", e.file, e.line, e.argv, e.reason, findings)
			}
		}
		tried[e.argv[0]] = n
	}
	for _, p := range l.programs {
		may := slices.ContainsFunc(slices.Collect(maps.Values(p.options)), func(o option) bool { return o.effect != effectNone })
		if n := tried[p.name]; n[0] == 0 || n[1] == 0 && (may || !reader) {
			t.Errorf("%s has no example that passes, or none that asks", p.name)
		}
	}
}

// A folder is a repository by what is in it, unless that is only the folder of
// a project that has its own.
func TestRepositories(t *testing.T) {
	a := &Analyzer{World: approvaltest.NewWorld(`/home/ann/p/.git/HEAD /home/ann/p/src/HEAD
		/home/ann/p/x.git/HEAD /home/ann/p/x.git/objects/a /home/ann/p/x.git/refs/a /home/ann/p/x.git/hooks/a
		/home/ann/p/y/HEAD /home/ann/p/y/commondir
		/home/ann/p/d/HEAD -> refs/heads/main
		/home/ann/p/d/objects/a /home/ann/p/d/refs/a
		/home/ann/p/g/HEAD /home/ann/p/g/objects/a /home/ann/p/g/refs/a /home/ann/p/g/e/.git/sub/x
		/home/ann/q/HEAD /home/ann/q/objects/a /home/ann/q/refs/a /home/ann/q/main/.git`), Home: "/home/ann", UID: 1000}
	for _, tt := range []struct {
		dir, text string
		passes    bool
	}{
		{"/home/ann/p", "git -C src status", true},
		{"/home/ann/p", "touch src/x", true},
		{"/home/ann/p", "git fetch origin", true},
		{"/home/ann/p", "git -C x.git status", false},
		{"/home/ann/p", "git -C x.git/hooks status", false},
		{"/home/ann/p", "git -C y status", false},
		{"/home/ann/p", "touch x.git/hooks/post-update", false},
		{"/home/ann/p", "git -C d status", false}, // a branch without a commit
		{"/home/ann/p", "tee d/config", false},
		{"/home/ann/p", "git -C g/e status", false}, // its own .git holds nothing
		{"/home/ann/p", "mv src/HEAD x.git/b", false},
		{"/home/ann/p", "git push x.git main", false},
		{"/home/ann/p", "git fetch x", false},
		{"/home/ann/p", "git clone x z", false},
		{"/home/ann/q", "git log", false},
		{"/home/ann/q/main", "git log", true},
		{"/home/ann/q/main", "touch x", true},
	} {
		j := &job{Analyzer: a, effort: newEffort(t.Context())}
		j.plan.Cwd.Path, j.plan.Folder = tt.dir, approvaltest.Named(tt.dir)
		seg := approval.Segment{Argv: strings.Fields(tt.text), Dir: tt.dir}
		if args := j.profiled(&seg); len(args.findings) == 0 != tt.passes {
			t.Errorf("%s: %+v", tt.text, args.findings)
		}
	}
}

func TestBadProfiles(t *testing.T) {
	for _, text := range []string{
		"flag -a", "program", "program a\nprogram a", "program a\nflag a", "program a\nflag -a\nvalue -a", "program a\nhurts -a",
		"program a\nflag-often -a", "program a\noperands whatever", "program a\npass b", "program a\nask a -x", "program a\npass a 'b",
		"program a\nflag --x=y",
	} {
		if _, err := readProfiles(fstest.MapFS{"profiles/x.txt": {Data: []byte(text)}}, "profiles/*.txt"); err == nil || !strings.Contains(err.Error(), "profiles/x.txt:") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzProfiles gives every program any words: the same words give the same
// answer, and a command that passes does not pass with an option more that
// nobody knows.
func FuzzProfiles(f *testing.F) {
	l, err := readProfiles(profileFiles, "profiles/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range l.examples {
		f.Add(strings.Join(e.argv, "\x00"))
	}
	f.Fuzz(func(t *testing.T, words string) {
		t.Parallel()
		argv := strings.Split(words, "\x00")
		p := profiles().programs[argv[0]]
		seg, again := examined(argv), examined(argv)
		if !slices.Equal(seg.Findings, again.Findings) {
			t.Fatalf("%q: %+v, then %+v", argv, seg.Findings, again.Findings)
		}
		if seg.Profiled != (p != nil) || p == nil || len(seg.Findings) > 0 {
			return
		}
		if more := examined(slices.Insert(slices.Clone(argv), 1, "--zzz-not-an-option")); len(more.Findings) == 0 {
			t.Errorf("%q passes with an option that nobody knows", argv)
		}
	})
}
