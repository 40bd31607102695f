package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/corpus"
)

// How many cases a run makes, and from which number. The number is printed,
// and is another one in each run.
const (
	opinionCases    = "COUNTERSIGN_OPINION_CASES"
	opinionSeed     = "COUNTERSIGN_OPINION_SEED"
	opinionFailures = 32   // kinds of failures that are shrunk and printed
	opinionTries    = 1500 // to make one of them simpler
)

// TestOpinion makes commands at random and knows the answer from how each was
// made: of harmless parts only, or with exactly one that must not pass. What
// is harmless is said in testdata/opinion*.txt and below, from the manuals of
// the programs; nothing is read from the profiles.
func TestOpinion(t *testing.T) {
	seed, cases := rand.Uint64(), 50_000
	if text := os.Getenv(opinionSeed); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", opinionSeed, err)
		}
		seed = n
	}
	if text := os.Getenv(opinionCases); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("%s=%s: not a number of cases", opinionCases, text)
		}
		cases = n
	}
	t.Logf("%s=%d %s=%d", opinionSeed, seed, opinionCases, cases)

	known := truth{readTools(t), readTexts(t)}
	judge := opinionJudge(t, known.tools)
	var mu sync.Mutex
	made := map[wanted]int{}
	failed, kinds := 0, map[string]*failure{}
	workers := runtime.GOMAXPROCS(0)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			mine := map[wanted]int{}
			for i := w; i < cases; i += workers {
				d := draws{rng: rand.New(rand.NewPCG(seed, uint64(i)))}
				o := makeOpinion(&d, known)
				mine[o.want]++
				if got := judge(o); !o.want.meets(got.Verdict) {
					mu.Lock()
					failed++
					kind := string(o.want) + "\x00" + o.because + "\x00" + got.Sentence
					if have := kinds[kind]; have == nil {
						kinds[kind] = &failure{o.want, i, 1, d.list}
					} else if have.count++; i < have.index {
						have.index, have.list = i, d.list
					}
					mu.Unlock()
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for want, n := range mine {
				made[want] += n
			}
		})
	}
	all.Wait()

	t.Logf("made: %v", made)
	for _, want := range []wanted{mustAllow, mustNotAllow, mustDeny} {
		if made[want] < cases/50 {
			t.Errorf("%d of %d cases are %q: too few to tell anything", made[want], cases, want)
		}
	}
	if failed > 0 {
		t.Errorf("%d of %d cases are not judged as they must be, in %d ways; the first of each, shrunk:", failed, cases, len(kinds))
	}
	// What passes and must not comes first.
	first := slices.SortedFunc(maps.Values(kinds), func(a, b *failure) int {
		return cmp.Or(strings.Compare(string(b.want), string(a.want)), a.index-b.index)
	})
	seen := map[string]bool{}
	for _, f := range first[:min(len(first), opinionFailures)] {
		o, got := shrink(draws{list: f.list}, known, judge)
		if text := o.String(); !seen[text] {
			seen[text] = true
			t.Errorf("%s\n    want %s (%q), got %s: %s; %d like it", text, o.want, o.because, got.Verdict, got.Sentence, f.count)
		}
	}
}

// failure is the first of those that were answered wrong in the same way.
type failure struct {
	want         wanted
	index, count int
	list         []int
}

// wanted is what a verdict must be.
type wanted string

const (
	mustAllow    wanted = "allow"
	mustNotAllow wanted = "ask or deny"
	mustDeny     wanted = "deny"
)

func (w wanted) meets(v approval.Verdict) bool {
	switch w {
	case mustAllow:
		return v == approval.VerdictAllow
	case mustDeny:
		return v == approval.VerdictDeny
	}
	return v == approval.VerdictAsk || v == approval.VerdictDeny
}

// opinion is a command and what must be said of it.
type opinion struct {
	argv    []string // or
	text    string
	env     string // a requested NAME=VALUE, or empty
	want    wanted
	because string // the part that must not pass
}

func (o opinion) String() string {
	text := inputOf(o.asCase())
	if o.env != "" {
		text += "    with " + o.env
	}
	return text
}

func (o opinion) asCase() corpus.Case {
	c := corpus.Case{Argv: o.argv, Text: o.text}
	if name, value, ok := strings.Cut(o.env, "="); ok {
		c.Env = map[string]string{name: value}
	}
	return c
}

// opinionJudge judges on an invented machine where every program of the table
// is allowed, some others exist that are not, and some are denied.
func opinionJudge(t *testing.T, tools []tool) func(opinion) approval.Judgement {
	t.Helper()
	allowed := []string{"env", "nice", "nohup", "timeout", "stdbuf", "xargs", "test", "[", "true", "false", "pwd"}
	for _, tool := range tools {
		allowed = append(allowed, tool.name)
	}
	slices.Sort(allowed)
	allowed = slices.Compact(allowed)
	var allow, deny []string
	for _, name := range allowed {
		allow = append(allow, "/usr/bin/"+name)
	}
	for _, name := range deniedPrograms {
		deny = append(deny, "/usr/bin/"+name)
	}
	text, err := json.Marshal(map[string]any{
		"world": map[string]any{
			"home": "/Users/dev", "cwd": "/Users/dev/project", "path": []string{"/opt/bin", "/usr/bin", "/bin"},
			"executables": map[string]any{
				"/usr/bin": slices.Concat(allowed, deniedPrograms, unlistedPrograms),
				"/bin":     []string{"sh", "bash", "zsh", "dash"}, "/tmp/evil": []string{"ls", "git"},
				"/Users/dev/project": []string{"payload", "ls"}, "/Users/dev/project/src": []string{"run.sh"},
			},
			"symlinks": map[string]any{"/opt/bin/linked": "/usr/bin/wget"},
			"files": []string{
				"/Users/dev/project/.git/HEAD", "/Users/dev/project/.env", "/Users/dev/project/README.md", "/Users/dev/project/data.json",
				"/Users/dev/project/src/main.go", "/Users/dev/project/script.py", "/Users/dev/project/script.js", "/Users/dev/project/src/tool.py",
				"/Users/dev/project/Makefile", "/Users/dev/project/package.json", "/Users/dev/project/go.mod", "/Users/dev/project/dash/-o",
				"/Users/dev/project/dash/--output=x", "/Users/dev/.ssh/id_rsa", "/etc/passwd", "/etc/hosts",
			},
		},
		"policies": map[string]any{"all": map[string]any{"allow": allow, "deny": deny}},
		"cases": []any{map[string]any{
			"id": "x", "class": "x", "origin": "x", "input": "ls", "policy": map[string]any{"base": "all"}, "expect": "allow",
			"accept": []string{"allow"}, "tier": "must",
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	cases, err := corpus.Parse("opinion", text)
	if err != nil {
		t.Fatal(err)
	}
	trial := newTrial(cases)
	rules := trial.rulesOf(cases.Cases[0])
	return func(o opinion) approval.Judgement {
		c := o.asCase()
		plan := trial.plan(c)
		return trial.judge(c, &plan, rules)
	}
}

// draws are the choices that a command is made of. Played again, with some of
// them left out or smaller, they make a simpler command of the same kind.
type draws struct {
	rng  *rand.Rand // nil: the list is played
	list []int
	at   int
}

// n draws a number from 0, the simplest choice, to k-1.
func (d *draws) n(k int) int {
	if d.rng != nil {
		d.list = append(d.list, d.rng.IntN(k))
	}
	d.at++
	if d.at > len(d.list) {
		return 0
	}
	return d.list[d.at-1] % k
}

func (d *draws) one(in int) bool { return d.n(in) == in-1 }

func pick[T any](d *draws, list []T) T { return list[d.n(len(list))] }

// shrink leaves out and lowers choices while the answer stays wrong in the
// same way.
func shrink(d draws, known truth, judge func(opinion) approval.Judgement) (opinion, approval.Judgement) {
	play := func(list []int) (opinion, approval.Judgement) {
		o := makeOpinion(&draws{list: list}, known)
		return o, judge(o)
	}
	o, got := play(d.list)
	if o.want.meets(got.Verdict) {
		panic("the same choices make another command: " + o.String())
	}
	tries := 0
	try := func(list []int) bool {
		if tries++; tries > opinionTries {
			return false
		}
		next, verdict := play(list)
		if next.because != o.because || next.want != o.want || next.want.meets(verdict.Verdict) || verdict.Reason != got.Reason {
			return false
		}
		d.list, o, got = list, next, verdict
		return true
	}
	for again := true; again && tries < opinionTries; {
		again = false
		for size := min(48, len(d.list)); size > 0; size-- {
			for at := 0; at+size <= len(d.list); {
				if try(slices.Concat(d.list[:at], d.list[at+size:])) {
					again = true
				} else {
					at++
				}
			}
		}
		for at := range d.list {
			for _, value := range []int{0, d.list[at] / 2, d.list[at] - 1} {
				list := slices.Clone(d.list)
				if list[at] = value; value >= 0 && value < d.list[at] && try(list) {
					again = true
					break
				}
			}
		}
	}
	return o, got
}

// tool is one use of a program, as testdata/opinion.txt describes it.
type tool struct {
	name                  string
	sub                   []string
	how                   map[string]bool
	safe, harm            []option
	operands, wrong, deny [][]word
}

// option is an option under all its names.
type option struct {
	short, long string // "-o", "--o^utput"; single ones are short
	maybe       bool   // its value is attached or not there
	values      []word // examples; none: it takes none
}

// word is a word of a command by its value, or as it stands.
type word struct {
	text string
	raw  bool
	path bool // may be spelled in other ways
}

func plainWords(texts ...string) (list []word) {
	for _, text := range texts {
		list = append(list, word{text: text})
	}
	return list
}

func readTools(t *testing.T) (list []tool) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "opinion.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		key, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if key == "" || key == "#" {
			continue
		}
		if key == "program" {
			words := strings.Fields(rest)
			list = append(list, tool{name: words[0], sub: words[1:], how: map[string]bool{}})
			continue
		}
		tool := &list[len(list)-1]
		switch key {
		case "how":
			for _, how := range strings.Fields(rest) {
				if !slices.Contains([]string{"abbreviates", "bundles", "next", "single", "go", "permutes", "plain"}, how) {
					t.Fatalf("opinion.txt: %q says nothing", line)
				}
				tool.how[how] = true
			}
		case "safe":
			tool.safe = append(tool.safe, readOption(t, rest))
		case "harm":
			tool.harm = append(tool.harm, readOption(t, rest))
		case "operands":
			tool.operands = append(tool.operands, readLists(t, rest)...)
		case "wrong":
			tool.wrong = append(tool.wrong, readLists(t, rest)...)
		case "deny":
			tool.deny = append(tool.deny, readLists(t, rest)...)
		default:
			t.Fatalf("opinion.txt: %q says nothing", line)
		}
	}
	for _, tool := range list {
		if len(tool.operands) == 0 {
			t.Fatalf("opinion.txt: %s has no operands", tool.name)
		}
	}
	return list
}

var optionNames = regexp.MustCompile(`^(-[^ ]+)( --[^ ]+)?( .*)?$`)

func readOption(t *testing.T, text string) (o option) {
	t.Helper()
	m := optionNames.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("opinion.txt: %q is no option", text)
	}
	for _, name := range []string{m[1], strings.TrimSpace(m[2])} {
		name, o.maybe = strings.TrimSuffix(name, "?"), o.maybe || strings.HasSuffix(name, "?")
		if strings.HasPrefix(name, "--") {
			o.long = name
		} else if name != "" {
			o.short = name
		}
	}
	for _, value := range readLists(t, m[3]) {
		if len(value) != 1 {
			t.Fatalf("opinion.txt: a value of %q is not one word", text)
		}
		o.values = append(o.values, value[0])
	}
	return o
}

var wordPattern = regexp.MustCompile(`^[%@]?(?:'[^']*'|[^ '|][^ ]*|\|[^ ]+)(?: |$)`)

// readLists reads lists of words, parted by " | ".
func readLists(t *testing.T, text string) (lists [][]word) {
	t.Helper()
	var list []word
	text = strings.ReplaceAll(strings.TrimSpace(text), "⏎", "\n")
	for rest := text; rest != ""; {
		if after, ok := strings.CutPrefix(rest, "| "); ok {
			lists, list, rest = append(lists, list), nil, after
			continue
		}
		m := wordPattern.FindString(rest)
		if m == "" {
			t.Fatalf("opinion.txt: cannot read %q", rest)
		}
		rest = strings.TrimLeft(rest[len(m):], " ")
		w := word{text: strings.TrimSuffix(m, " ")}
		w.raw, w.path = w.text[0] == '%' && len(w.text) > 1, w.text[0] == '@'
		if w.raw || w.path {
			w.text = w.text[1:]
		}
		if !w.raw {
			w.text = strings.Trim(w.text, "'")
			if m[0] != '\'' && strings.Contains(m, "'") {
				w.text = strings.TrimSuffix(m, " ") // it's
			}
		}
		list = append(list, w)
	}
	if text != "" {
		lists = append(lists, list)
	}
	for i, list := range lists {
		if len(list) == 1 && list[0].text == "-" {
			lists[i] = nil
		}
	}
	return lists
}

var (
	deniedPrograms = []string{"wget", "nc", "dd", "sudo"}
	// unlistedPrograms are there, and nobody allowed them.
	unlistedPrograms = []string{"id", "whoami", "openssl", "perl", "frob", "time"}
)

// readTexts reads testdata/opinion-texts.txt: texts by their first word.
func readTexts(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "opinion-texts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		key, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if key != "" && key != "#" {
			texts[key] = append(texts[key], strings.ReplaceAll(rest, "⏎", "\n"))
		}
	}
	for _, key := range []string{"program", "wrong", "deny", "redirect-wrong", "redirect-deny", "redirect", "redirect-bash", "env", "env-wrong", "sh-wrong"} {
		if len(texts[key]) == 0 {
			t.Fatalf("opinion-texts.txt: no line begins with %s", key)
		}
	}
	if len(texts) != 10 {
		t.Fatal("opinion-texts.txt: a line begins with a word that nobody knows")
	}
	return texts
}

// truth is all that is known.
type truth struct {
	tools []tool
	texts map[string][]string
}

// maker makes one command.
type maker struct {
	*draws
	truth
	harm     bool // a part that must not pass is still to come
	o        opinion
	layers   int
	depth    int
	bashOnly bool // bash and sh read it differently
	moved    bool // behind a cd
	vars     bool // X is set
	secrets  bool // names of secret files may be shown: nothing can take them as arguments
}

// makeOpinion makes a command of these choices, and says what it must be
// answered.
func makeOpinion(d *draws, known truth) opinion {
	m := maker{draws: d, truth: known, o: opinion{want: mustAllow}}
	m.harm = m.one(2)
	m.secrets = m.one(4)
	switch {
	case m.hurt(30):
		m.o.env = pick(d, m.texts["env-wrong"])
		m.because(mustNotAllow, "requested "+m.o.env, 0)
	case m.one(10):
		m.o.env = pick(d, m.texts["env"])
	}
	switch m.n(6) {
	case 5: // a plain command, as words
		words := m.command()
		if slices.ContainsFunc(words, func(w word) bool { return w.raw }) {
			m.o.text = m.render(words)
			return m.o
		}
		for _, w := range words {
			m.o.argv = append(m.o.argv, w.text)
		}
		return m.o
	case 4:
		text := m.list()
		m.o.argv = []string{pick(d, []string{"bash", "/bin/bash"}), pick(d, []string{"-c", "-lc"}), text}
		return m.o
	case 3:
		var text string
		if m.hurt(10) {
			text = pick(d, m.texts["sh-wrong"])
			m.because(mustNotAllow, "sh and bash differ: "+text, 0)
		} else {
			text = m.list()
		}
		if !m.bashOnly {
			m.o.argv = []string{pick(d, []string{"sh", "/bin/sh"}), pick(d, []string{"-c", "-lc"}), text}
			return m.o
		}
		m.o.text = text
		return m.o
	}
	m.o.text = m.list()
	return m.o
}

// hurt says, once, that the next part must not pass.
func (m *maker) hurt(in int) bool {
	if !m.harm || !m.one(in) {
		return false
	}
	m.harm = false
	return true
}

// because notes what must be said of the command, and why. The part has so
// many wrappers of its own.
func (m *maker) because(want wanted, part string, layers int) {
	if want == mustDeny && m.layers+layers > 4 {
		want = mustNotAllow // nobody looks into so many wrappers
	}
	m.o.want, m.o.because = want, part
}

// list is a list of statements. Its end is a newline or the end of a word.
func (m *maker) list() string {
	text := ""
	for i := range 1 + m.n(3) {
		if i > 0 && !strings.HasSuffix(text, "\n") {
			text += pick(m.draws, []string{"; ", " && ", " || ", "\n", " &&\n"})
		}
		text += m.statement()
		if m.one(16) {
			text += pick(m.draws, []string{" # wget x\n", " #\n", "\n# $(id) > x\n\n", " # it's `\n"})
		}
	}
	return text
}

// closed ends a list so that a closing word may follow.
func closed(list string) string {
	if strings.HasSuffix(list, "\n") {
		return list
	}
	return list + "; "
}

func (m *maker) statement() string {
	if m.hurt(10) {
		return m.wrongStatement()
	}
	if m.depth >= 2 {
		return m.pipeline()
	}
	m.depth++
	defer func() { m.depth-- }()
	vars := m.vars
	switch m.n(24) {
	default:
		return m.pipeline()
	case 23:
		return "! " + m.pipeline()
	case 22:
		return "{ " + closed(m.list()) + "}" + m.redirect(6)
	case 21:
		text := "( " + m.list() + ")" + m.redirect(6)
		m.vars = vars
		return text
	case 20:
		return "if " + closed(m.pipeline()) + "then " + closed(m.list()) + "fi"
	case 19:
		return "if " + closed(m.pipeline()) + "then " + closed(m.list()) + "else " + closed(m.list()) + "fi"
	case 18:
		return "for i in a 'b c' d; do " + closed(m.list()) + "done" + m.redirect(8)
	case 17:
		return pick(m.draws, []string{"while ", "until "}) + closed(m.pipeline()) + "do " + closed(m.list()) + "done"
	case 16:
		if m.secrets {
			return m.pipeline()
		}
		m.bashOnly = true // what it prints may hold a backslash
		text := "echo \"a $( " + m.list() + ") b\""
		m.vars = vars
		return text
	case 15:
		m.vars = true
		return pick(m.draws, []string{"X=README.md", "X='a b'", "export X=x", "X=\"$(ls)\""})
	case 14:
		text := pick(m.draws, []string{":", "true", "false", "pwd", "test -f README.md", "[ -d src ]", "[ a '=' b ]", "set -e", "set -euo pipefail", "echo `ls`", "echo \"$?\"", "time ls", "time -p wc README.md", "true wget"})
		m.bashOnly = m.bashOnly || strings.HasPrefix(text, "time ") // a program for sh
		return text
	case 13:
		// Behind anything but && nobody knows whether the cd took place.
		moved := m.moved
		m.moved = true
		text := "(" + pick(m.draws, []string{"cd src", "cd ./src", "cd 'src'", "cd -- src", "cd /Users/dev/project"}) + " && " + m.pipeline() + ")"
		m.moved = moved
		return text
	case 12:
		body := pick(m.draws, []string{"hello\n", "$(wget x)\nrm -rf /\n", "", "`id` > x\n", "EO\n"})
		text := m.readerCommand() + " <<'EOF'"
		if m.one(2) {
			text += " | " + m.simple()
		}
		return text + "\n" + body + "EOF\n"
	case 11:
		if !m.vars {
			return "X=src; ls \"$X\" $X"
		}
		return pick(m.draws, []string{"ls \"$X\"", "cat $X", "wc -l \"${X}\"", "echo $X", "head -n 3 -- \"$X\"", "test -f \"$X\""})
	}
}

func (m *maker) wrongStatement() string {
	m.bashOnly = true
	if m.one(4) {
		text := pick(m.draws, m.texts["deny"])
		m.because(mustDeny, "denied: "+text, 0)
		return text
	}
	text := pick(m.draws, m.texts["wrong"])
	m.because(mustNotAllow, "construct: "+text, 0)
	return text
}

func (m *maker) pipeline() string {
	text := m.simple()
	for m.one(4) {
		bar := " | "
		if m.one(8) {
			bar, m.bashOnly = " |& ", true
		}
		text += bar + m.simple()
	}
	return text
}

// simple is a command with its assignments and redirections.
func (m *maker) simple() string {
	text := ""
	if m.one(12) {
		text = pick(m.draws, []string{"FOO=bar ", "LANG=C ", "A=1 B='x y' ", "NO_COLOR=1 ", "LC_ALL=C FOO= "})
	}
	if m.one(16) {
		text += strings.TrimPrefix(m.redirect(1), " ") + " "
	}
	return text + m.render(m.command()) + m.redirect(6)
}

// redirect is a redirection, one time in so many.
func (m *maker) redirect(in int) string {
	switch {
	case m.hurt(8):
		if m.one(4) {
			text := pick(m.draws, m.texts["redirect-deny"])
			m.because(mustDeny, "redirection "+text, 0)
			return " " + text
		}
		text := pick(m.draws, m.texts["redirect-wrong"])
		m.bashOnly = true
		m.because(mustNotAllow, "redirection "+text, 0)
		return " " + text
	case in > 1 && !m.one(in):
		return ""
	case m.one(5):
		m.bashOnly = true
		return " " + pick(m.draws, m.texts["redirect-bash"])
	}
	if text := pick(m.draws, m.texts["redirect"]); !m.moved || !strings.Contains(text, "README") {
		return " " + text
	}
	return " </dev/null"
}

// command is a program with its words, behind wrappers or not.
func (m *maker) command() (words []word) {
	layers := m.layers
	defer func() { m.layers = layers }()
	for m.one(4) {
		if m.layers == 4 {
			if !m.hurt(1) {
				break
			}
			m.because(mustNotAllow, "five wrappers", 0)
		}
		m.layers++
		prefix, last := m.wrapper()
		words = append(words, prefix...)
		if last {
			leaf := m.reader()
			words = append(words, leaf...)
			if prefix[0].text == "find" {
				words = append(words, word{text: "{}"}, word{text: pick(m.draws, []string{";", "+"})})
			}
			return words
		}
	}
	return append(words, m.leaf()...)
}

// wrapper is what stands before another command; last says that only a reader
// may follow.
func (m *maker) wrapper() (words []word, last bool) {
	env := []string{"env", "env -i", "env A=b", "env -u FOO", "env A=b B=c", "env -i A=b", "env --", "env -u FOO A=b", "/usr/bin/env", "env --ignore-environment", "env --unset=FOO"}
	others := []string{
		"nice", "nice -n 5", "nice -n5", "nice --adjustment=5", "nohup", "timeout 5", "timeout 1m", "timeout -k 1 5", "timeout -s KILL 5", "timeout --signal=TERM 5", "timeout --foreground 5",
		"timeout -k5 5", "stdbuf -oL", "stdbuf -o L", "stdbuf --output=L", "stdbuf -i0 -oL", "timeout --preserve-status 5s", "nice --", "nohup --", "timeout -- 5",
	}
	readers := []string{
		"xargs", "xargs -0", "xargs -n 1", "xargs -n1", "xargs -0 -n1", "xargs -r", "xargs -P 4", "xargs -L 1", "find . -exec", "find src -name *.go -exec", "find . -type f -print -execdir", "xargs -0n1", "xargs --null", "xargs --max-args=1", "xargs -I {}",
	}
	var line string
	switch m.n(4) {
	case 0:
		line = pick(m.draws, env)
	case 3:
		if line, last = pick(m.draws, readers), true; m.secrets {
			line = "find . -exec"
		}
	default:
		line = pick(m.draws, others)
	}
	return plainWords(strings.Fields(line)...), last
}

// leaf is a program with its words.
func (m *maker) leaf() []word {
	if m.hurt(3) {
		return m.wrongLeaf()
	}
	tool := m.tool(func(t tool) bool { return !m.moved || !t.how["plain"] && t.name != "go" && t.name != "git" })
	return m.use(tool, false)
}

// tool picks one of the programs of which this is true.
func (m *maker) tool(ok func(tool) bool) tool {
	list := slices.DeleteFunc(slices.Clone(m.tools), func(t tool) bool { return !ok(t) })
	return pick(m.draws, list)
}

// reader is a program that may follow xargs: one that only reads what it is
// told, with options that are complete.
func (m *maker) reader() []word {
	if m.hurt(2) {
		if m.one(2) {
			text := pick(m.draws, deniedPrograms)
			m.because(mustDeny, "denied: "+text, 0)
			return plainWords(text, "x")
		}
		text := pick(m.draws, []string{"id", "rm -f", "git log", "sort", "python3 script.py", "tee", "cp", "awk 1", "sed p", "find", "sh", "./payload", "nothere", "make", "tar -tf", "curl -s", "node", "touch", "grep -f", "wc --files0-from"})
		m.because(mustNotAllow, "fed: "+text, 0)
		return plainWords(strings.Fields(text)...)
	}
	return plainWords(strings.Fields(pick(m.draws, []string{"ls", "cat", "wc -l", "cat -n", "head -n 5", "ls -l -a", "grep -l foo", "grep -n -e foo", "echo", "stat", "du -h", "basename", "tail -n5"}))...)
}

func (m *maker) readerCommand() string {
	return m.render(plainWords(strings.Fields(pick(m.draws, []string{"cat", "wc -l", "head -n 2", "cat -n"}))...))
}

func (m *maker) wrongLeaf() []word {
	switch m.n(8) {
	case 0:
		line := pick(m.draws, m.texts["program"])
		m.because(mustNotAllow, "not allowed: "+line, 0)
		return plainWords(strings.Fields(line)...)
	case 1:
		name := pick(m.draws, deniedPrograms)
		m.because(mustDeny, "denied: "+name, 0)
		name = pick(m.draws, []string{name, "/usr/bin/" + name, "/usr/bin/../bin/" + name, strings.ToUpper(name), "//usr//bin/" + name})
		return plainWords(name, pick(m.draws, []string{"x", "--version", "-q"}))
	}
	return m.use(m.tool(func(t tool) bool { return len(t.harm)+len(t.wrong)+len(t.deny) > 0 }), true)
}

// use is a program with harmless options and operands, and with one harmful
// part if asked for.
func (m *maker) use(t tool, harmful bool) []word {
	name := t.name
	if m.one(8) {
		name = "/usr/bin/" + name
	}
	words := plainWords(append([]string{name}, t.sub...)...)
	var before [][]word
	if len(t.safe) > 0 {
		for range m.n(4) {
			before = append(before, m.spell(t, pick(m.draws, t.safe)))
		}
	}
	operands := pick(m.draws, t.operands)
	if m.moved && slices.ContainsFunc(operands, func(w word) bool { return w.raw }) {
		operands = t.operands[0] // other names match there
	}
	if harmful {
		switch n := m.n(len(t.harm) + len(t.wrong) + len(t.deny)); {
		case n < len(t.harm):
			o := t.harm[n]
			m.because(mustNotAllow, strings.Join(append([]string{t.name}, t.sub...), " ")+" "+o.short+o.long, 0)
			before = slices.Insert(before, m.n(len(before)+1), m.spell(t, o))
		case n < len(t.harm)+len(t.wrong):
			operands = t.wrong[n-len(t.harm)]
			if m.moved && slices.ContainsFunc(operands, func(w word) bool { return w.raw || path.Clean(w.text) == "." }) {
				operands = t.wrong[0]
			}
			m.because(mustNotAllow, t.name+" "+lineOf(operands), 0)
		default:
			operands = t.deny[n-len(t.harm)-len(t.wrong)]
			m.because(mustDeny, t.name+" "+lineOf(operands), 3) // find -exec env nice
		}
	}
	operands = slices.Clone(operands)
	for i, w := range operands {
		switch {
		case w.path && !harmful && !m.secrets:
			operands[i].text = "README.md"
		case w.path:
			operands[i].text = m.path(w.text)
		}
		m.bashOnly = m.bashOnly || w.raw && strings.Contains(w.text, "{") || t.name == "echo" && strings.Contains(w.text, `\`)
	}
	if t.how["single"] { // find: paths first
		return slices.Concat(words, operands, slices.Concat(before...))
	}
	if t.how["permutes"] && len(operands) > 0 && !strings.HasPrefix(operands[0].text, "-") && m.one(4) {
		return slices.Concat(words, operands[:1], slices.Concat(before...), operands[1:])
	}
	return slices.Concat(words, slices.Concat(before...), operands)
}

func lineOf(words []word) string {
	var list []string
	for _, w := range words {
		list = append(list, w.text)
	}
	return strings.Join(list, " ")
}

// spell writes an option in one of its spellings.
func (m *maker) spell(t tool, o option) []word {
	value, has := word{}, len(o.values) > 0
	if has {
		value = pick(m.draws, o.values)
		if value.path {
			value.text = m.path(value.text)
		}
	}
	if o.long != "" && (o.short == "" || m.one(2)) {
		return m.spellLong(t, o, value, has)
	}
	switch {
	case t.how["go"] && has && m.one(2):
		return plainWords(pick(m.draws, []string{"", "-"}) + o.short + "=" + value.text)
	case t.how["single"] || t.how["go"]:
		if has {
			return []word{{text: o.short}, value}
		}
		return plainWords(o.short)
	}
	name := o.short
	if t.how["bundles"] && len(name) == 2 && m.one(3) {
		for _, other := range t.safe {
			if len(other.short) == 2 && len(other.values) == 0 && !other.maybe && other.short[1] > '9' && m.one(3) {
				name = other.short + name[1:]
			}
		}
	}
	switch {
	case !has, o.maybe && m.one(2):
		return plainWords(name)
	case o.maybe, len(o.short) == 2 && value.text != "" && m.one(3):
		return plainWords(name + value.text)
	}
	return []word{{text: name}, value}
}

func (m *maker) spellLong(t tool, o option, value word, has bool) []word {
	start, rest, _ := strings.Cut(o.long, "^")
	name := start + rest
	if t.how["abbreviates"] && rest != "" && m.one(3) {
		name = start + rest[:m.n(len(rest)+1)]
	}
	switch {
	case !has, o.maybe && m.one(2):
		return plainWords(name)
	case t.how["next"], !o.maybe && m.one(2):
		return []word{{text: name}, value}
	}
	return plainWords(name + "=" + value.text)
}

// path spells a path in another way that leads to the same place.
func (m *maker) path(text string) string {
	if !strings.HasPrefix(text, "/") {
		switch m.n(6) {
		case 1:
			return "./" + text
		case 2:
			return ".//" + text
		case 3:
			return "./src/../" + text
		case 4:
			return "/Users/dev/project/" + text
		case 5:
			return "../project/" + text
		}
		return text
	}
	switch m.n(5) {
	case 1:
		return "/" + text
	case 2:
		return "/etc/.." + text
	case 3:
		return "/." + text
	case 4:
		if rest, ok := strings.CutPrefix(text, "/Users/dev/"); ok {
			return "/Users/dev/project/../" + rest
		}
	}
	return text
}

// render writes words so that a shell reads these values.
func (m *maker) render(words []word) string {
	var list []string
	for i, w := range words {
		switch {
		case w.raw:
			list = append(list, w.text)
		case w.text == "{}" && m.one(2):
			list = append(list, w.text)
		default:
			list = append(list, m.quote(w.text, i == 0))
		}
	}
	sep := " "
	if m.one(20) {
		sep = pick(m.draws, []string{"  ", "\t", " \\\n "})
	}
	return strings.Join(list, sep)
}

var bare = regexp.MustCompile(`^[A-Za-z0-9_./:,@%+-][A-Za-z0-9_./:,@%+=-]*$`)

// quote writes a word in any quotes, or in several. A bare NAME=VALUE in front
// would be an assignment.
func (m *maker) quote(text string, first bool) string {
	if bare.MatchString(text) && !(first && strings.Contains(text, "=")) && !m.one(4) {
		return text
	}
	if text == "" {
		return "''"
	}
	parts := []string{text}
	if r := []rune(text); len(r) > 1 && m.one(3) {
		at := 1 + m.n(len(r)-1)
		parts = []string{string(r[:at]), string(r[at:])}
	}
	out := ""
	for _, part := range parts {
		out += m.quotePart(part, out == "" && first)
	}
	return out
}

var inDouble = strings.NewReplacer("\\", "\\\\", "$", "\\$", "`", "\\`", "\"", "\\\"")

func (m *maker) quotePart(part string, first bool) string {
	switch m.n(5) {
	case 1:
		return `"` + inDouble.Replace(part) + `"`
	case 2:
		if !strings.Contains(part, "\n") {
			var b strings.Builder
			for _, r := range part {
				b.WriteString("\\" + string(r))
			}
			return b.String()
		}
	case 3:
		m.bashOnly = true
		var b strings.Builder
		for i := range len(part) {
			fmt.Fprintf(&b, `\x%02x`, part[i])
		}
		return "$'" + b.String() + "'"
	case 4:
		if bare.MatchString(part) && !strings.Contains(part, "=") && !first {
			return part
		}
	}
	return "'" + strings.ReplaceAll(part, "'", `'\''`) + "'"
}
