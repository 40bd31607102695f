package glob

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The three questions, asked of one pattern and of an index.
var questions = []struct {
	name string
	one  func(Pattern, string) bool
	all  func(*Index, string, func(int) bool) bool
}{
	{"Match", Pattern.Match, (*Index).Match},
	{"MatchName", Pattern.MatchName, (*Index).MatchName},
	{"MatchFold", Pattern.MatchFold, (*Index).MatchFold},
}

// compare asks the index and each pattern by itself, and returns the number
// of hits.
func compare(t *testing.T, x *Index, patterns []Pattern, text string) (hits int) {
	t.Helper()
	for _, q := range questions {
		var got, want []int
		if !q.all(x, text, func(i int) bool { got = append(got, i); return true }) {
			t.Fatalf("%s(%.80q) left patterns untried", q.name, text)
		}
		for i, p := range patterns {
			if q.one(p, text) {
				want = append(want, i)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%s(%.80q) of %.2000q: %v, want %v", q.name, text, patterns, got, want)
		}
		hits += len(want)
	}
	return hits
}

// dice makes patterns and texts of the same few pieces, so that they meet.
type dice struct{ *rand.Rand }

func (d dice) one(of ...string) string { return of[d.IntN(len(of))] }

func (d dice) name() string {
	name := ""
	for range 1 + d.IntN(1+d.IntN(4)) {
		name += d.one("a", "b", "ab", "bin", "tool", "longer-name", "A", "K", "\u212a", "ſ", "é", "É", "Ⱥ", "0", "17", "[", "*", `\`)
	}
	return name
}

// names are the folders and the file of a path.
func (d dice) names() []string {
	names := make([]string, 1+d.IntN(1+d.IntN(6)))
	for i := range names {
		names[i] = d.name()
	}
	return names
}

func (d dice) text() string {
	text := "/" + strings.Join(d.names(), "/")
	switch d.IntN(12) {
	case 0:
		return d.name()
	case 1:
		return home + text
	case 2:
		return d.one("", "/", "*", ".", "..", "a//b", "./a", "a/b", text+"/", text+"/..", "/"+text, "?", home)
	case 3:
		return text + d.one("\xff", "\xe2\x84", "\x00", "\n", "\ufffd")
	}
	return text
}

// pattern makes a pattern that covers text, as far as it is a path or a name,
// by putting wildcards in its place here and there.
func (d dice) pattern(text string) string {
	if !strings.Contains(text, "/") {
		return d.blur(text)
	}
	names := strings.Split(path.Clean("/" + text)[1:], "/")
	pattern := ""
	for i := 0; i < len(names); i++ {
		switch d.IntN(8) {
		case 0:
			i += d.IntN(len(names) - i)
			pattern += "/**"
		case 1:
			pattern += "/**/" + d.blur(names[i])
		case 2:
			pattern += "/" + d.blur(names[i])
		default:
			pattern += "/" + escape(names[i])
		}
	}
	if d.IntN(8) == 0 {
		pattern += "/**"
	}
	switch d.IntN(8) {
	case 0:
		return d.blur(names[len(names)-1])
	case 1:
		return "*"
	}
	if rest, ok := strings.CutPrefix(pattern, home); ok {
		return "~" + rest
	}
	if strings.HasPrefix(pattern, "/**/") && d.IntN(2) == 0 {
		return pattern[1:]
	}
	return pattern
}

func (d dice) blur(name string) string {
	runes := []rune(name)
	at := d.IntN(len(runes) + 1)
	head, tail := escape(string(runes[:at])), escape(string(runes[at:]))
	switch d.IntN(6) {
	case 0:
		return escape(name)
	case 4:
		return head + "*"
	case 1:
		return "*" + tail
	case 2:
		return "*"
	case 3:
		if at < len(runes) {
			return head + "?" + escape(string(runes[at+1:]))
		}
	}
	return head + "*" + tail
}

func escape(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "[", `\[`).Replace(name)
}

func TestIndexEqualsPatterns(t *testing.T) {
	d := dice{rand.New(rand.NewPCG(4, 1))}
	pairs, hits := 0, 0
	for round := range 120 {
		texts := make([]string, 60)
		for i := range texts {
			texts[i] = d.text()
		}
		patterns := make([]Pattern, 0, 1+round)
		for len(patterns) < cap(patterns) {
			from := d.text()
			if d.IntN(2) == 0 {
				from = d.one(texts...)
			}
			if p, err := Parse(d.pattern(from), home); err == nil {
				patterns = append(patterns, p)
			}
		}
		patterns[d.IntN(len(patterns))] = Pattern{}
		x := NewIndex(patterns)
		for _, text := range texts {
			hits += compare(t, x, patterns, text)
			pairs += len(patterns)
		}
	}
	if pairs < 200_000 || hits < pairs/50 {
		t.Errorf("only %d pairs and %d hits", pairs, hits)
	}
	t.Log(pairs, "pairs,", hits, "hits")
}

// TestIndexOfTables asks all paths of the tables of all their patterns.
func TestIndexOfTables(t *testing.T) {
	var patterns []Pattern
	texts := map[string]bool{}
	for _, c := range matchTests {
		patterns = append(patterns, mustParse(t, c.pattern))
		texts[c.path], texts[path.Base(c.path)] = true, true
	}
	for _, c := range vectors(t).Cases {
		if p, err := Parse(c.Pattern, home); err == nil {
			patterns = append(patterns, p)
		}
		texts[c.Raw], texts[c.Resolved] = true, true
	}
	x := NewIndex(patterns)
	for text := range texts {
		compare(t, x, patterns, text)
	}
	for _, few := range [][]Pattern{nil, {{}}, {mustParse(t, "*")}, {mustParse(t, "/")}, {mustParse(t, "/**")}} {
		x := NewIndex(few)
		for text := range texts {
			compare(t, x, few, text)
		}
	}
}

func FuzzIndex(f *testing.F) {
	for _, c := range matchTests {
		f.Add(c.pattern+"\n/usr/*\nrg", c.path)
	}
	f.Add("**/a\nA\n/*/**\n?\n/a/?/**/b*", "/a/\xff/b")
	f.Fuzz(func(t *testing.T, list, text string) {
		var patterns []Pattern
		for line := range strings.Lines(list) {
			if p, err := Parse(line, home); err == nil && len(patterns) < 8 {
				patterns = append(patterns, p)
			}
		}
		if len(text) > 100 {
			return // so that even what grows when folded is tried
		}
		compare(t, NewIndex(patterns), patterns, text)
	})
}

func TestIndexStops(t *testing.T) {
	patterns := make([]Pattern, 100)
	for i := range patterns {
		patterns[i] = mustParse(t, []string{"*", "/a", "/**", "a", "**/a"}[i%5])
	}
	x := NewIndex(patterns)
	for _, q := range questions {
		for _, text := range []string{"/a", "a", "/" + strings.Repeat("a", maxPath)} {
			all := 0
			q.all(x, text, func(int) bool { all++; return true })
			for stop := 1; stop <= all; stop++ {
				calls := 0
				if !q.all(x, text, func(int) bool { calls++; return calls < stop }) || calls != stop {
					t.Fatalf("%s(%.9q) called %d times, want %d of %d", q.name, text, calls, stop, all)
				}
			}
		}
	}
}

func TestIndexByMany(t *testing.T) {
	patterns := everyday(t, 500)["mixed"]
	x := NewIndex(patterns)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 50 {
				text := sample(i)
				for _, q := range questions {
					var got, want int
					q.all(x, text, func(int) bool { got++; return true })
					for _, p := range patterns {
						if q.one(p, text) {
							want++
						}
					}
					if got != want {
						t.Errorf("%s(%q): %d hits, want %d", q.name, text, got, want)
					}
				}
			}
		})
	}
	all.Wait()
}

// everyday makes n patterns of each kind.
func everyday(t testing.TB, n int) map[string][]Pattern {
	kinds := []struct {
		kind    string
		formats []string
	}{
		{"literal", []string{"/usr/bin/tool%d"}},
		{"anchored", []string{"/usr/lib/pkg%d/bin/*", "~/Projects/p%d/**/bin/*", "/opt/pkg%d/**"}},
		{"unanchored", []string{"**/bin/x%d", "**/tools%d/*/bin", "/opt/*/bin/tool%d", "**/*x%d", "**/x%d*", "**/*-%d.sh"}},
		{"bare", []string{"tool%d", "x%d*", "*x%d", "*-%d-*"}},
	}
	made := map[string][]Pattern{}
	var mixed []string
	for _, k := range kinds {
		mixed = append(mixed, k.formats...)
	}
	kinds = append(kinds, struct {
		kind    string
		formats []string
	}{"mixed", mixed})
	for _, k := range kinds {
		for i := range n {
			made[k.kind] = append(made[k.kind], mustParse(t, fmt.Sprintf(k.formats[i%len(k.formats)], i)))
		}
	}
	return made
}

// sample is a path that everyday patterns are about.
func sample(i int) string {
	i %= 10_000
	formats := []string{"/usr/bin/tool%d", "/usr/lib/pkg%d/bin/x", "/home/me/Projects/p%d/a/bin/b", "/usr/bin/x%d", "/srv/tools%d/a/bin", "/opt/p/bin/tool%d", "tool%d", "/usr/local/bin/a-%d.sh", "/usr/bin/git"}
	text := formats[i%len(formats)]
	if strings.Contains(text, "%") {
		return fmt.Sprintf(text, i)
	}
	return text
}

// TestIndexLooksAtFew counts the patterns that a look-up among 10 000 tries.
func TestIndexLooksAtFew(t *testing.T) {
	for kind, patterns := range everyday(t, 10_000) {
		x := NewIndex(patterns)
		most := 0
		for i := range 1000 {
			text := appendFold(nil, "/"+strings.TrimPrefix(sample(i*7), "/"))
			tried := len(x.rest)
			for _, b := range x.find(nil, text, true) {
				tried += len(x.bucket(b))
			}
			most = max(most, tried)
		}
		t.Logf("%s: at most %d of 10000", kind, most)
		if most > 20 {
			t.Errorf("%s: a look-up tries %d patterns", kind, most)
		}
	}
}

// alike returns sets of n patterns that an index cannot tell apart, with a
// text that fits their literal text.
func alike(t testing.TB, n int) map[string]struct {
	patterns []Pattern
	text     string
} {
	type set = struct {
		patterns []Pattern
		text     string
	}
	sets := map[string]set{}
	for i, c := range hostile() {
		p, start := mustParse(t, c[0]+"?"), "/aaaaaaaab/b"
		if p.bare {
			start = "aaaaaaaab"
		}
		sets[fmt.Sprintf("hostile%d", i)] = set{slices.Repeat([]Pattern{p}, n), start + c[1][:maxPath-len(start)-100] + "aaa"}
	}
	long := "/" + strings.Repeat("x", maxPattern-20)
	sets["long"] = set{slices.Repeat([]Pattern{mustParse(t, long+"/*/b")}, n), long + "/a/c"}
	sets["wild"] = set{slices.Repeat([]Pattern{mustParse(t, "/**"), mustParse(t, "/*/*"), mustParse(t, "**/?")}, n/3), "/ab/cd"}
	sets["same"] = set{slices.Repeat([]Pattern{mustParse(t, "**/bin/*")}, n), "/usr/local/bin/a-tool"}
	return sets
}

// TestIndexGivesUpSafely asks sets of dear patterns: what is left untried is a
// hit for a deny rule and none for an entry, and the others are answered.
func TestIndexGivesUpSafely(t *testing.T) {
	gaveUp := 0
	for name, set := range alike(t, 60) {
		x := NewIndex(set.patterns)
		for _, q := range questions {
			got := map[int]bool{}
			complete := q.all(x, set.text, func(i int) bool {
				if got[i] {
					t.Fatalf("%s: %s yields %d twice", name, q.name, i)
				}
				got[i] = true
				return true
			})
			for i, p := range set.patterns {
				want := q.one(p, set.text)
				if got[i] != want && (complete || got[i] != (q.name == "MatchFold")) {
					t.Fatalf("%s: %s: pattern %d %v, want %v; complete %v", name, q.name, i, got[i], want, complete)
				}
			}
			if !complete {
				gaveUp++
			}
		}
	}
	if gaveUp == 0 {
		t.Error("none was given up")
	}
}

func TestIndexTriesOneAlways(t *testing.T) {
	for _, c := range hostile() {
		p := []Pattern{mustParse(t, c[0])}
		compare(t, NewIndex(p), p, c[1])
	}
	p := []Pattern{mustParse(t, "/"+strings.Repeat("?", maxGlob-5)+"*/**")}
	compare(t, NewIndex(p), p, "/"+strings.Repeat("a", maxPath-1))
}

func TestAppendFoldIsFold(t *testing.T) {
	for r := range rune(0x20000) {
		s := "a" + string(r) + "\xff"
		if got := string(appendFold(nil, s)); got != fold(s) {
			t.Fatalf("%q: %q, want %q", s, got, fold(s))
		}
	}
}

func BenchmarkIndex(b *testing.B) {
	for _, kind := range []string{"literal", "anchored", "unanchored", "bare", "mixed"} {
		for _, n := range []int{10, 1000, 10_000} {
			patterns := everyday(b, n)[kind]
			texts := make([]string, 100)
			for i := range texts {
				texts[i] = sample(i % 10) // what all sizes have a pattern for
			}
			x := NewIndex(patterns)
			for _, q := range questions {
				if q.name == "MatchName" != (kind == "bare") {
					continue
				}
				b.Run(fmt.Sprintf("%s/%s/%d", kind, q.name, n), func(b *testing.B) {
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						q.all(x, texts[i%len(texts)], func(int) bool { return true })
					}
				})
			}
		}
	}
}

func BenchmarkNewIndex(b *testing.B) {
	for kind, patterns := range everyday(b, 10_000) {
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				NewIndex(patterns)
			}
		})
	}
}

func BenchmarkIndexHostile(b *testing.B) {
	for name, set := range alike(b, 10_000) {
		x := NewIndex(set.patterns)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, q := range questions {
					q.all(x, set.text, func(int) bool { return true })
				}
			}
		})
	}
}
