package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/corpus"
)

// How many cases a run makes, and from which number. The number is printed,
// and is another one in each run.
const (
	opinionCases    = "COUNTERSIGN_OPINION_CASES"
	opinionSeed     = "COUNTERSIGN_RANDOM_SEED"
	opinionFailures = 32   // kinds of failures that are shrunk and printed
	opinionTries    = 1500 // to make one of them simpler
)

// TestOpinion makes commands at random and knows the answer from how each was
// made: of harmless parts only, or with exactly one that must not pass. What
// is harmless is said in testdata/opinion*.txt and below, from the manuals of
// the programs; nothing is read from the profiles.
func TestOpinion(t *testing.T) {
	seed, cases := rand.Uint64(), approvaltest.Rounds(t, 50_000, 5_000)
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
