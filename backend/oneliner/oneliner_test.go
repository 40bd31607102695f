package oneliner

import (
	"strings"
	"testing"
)

// refused is a program that must not pass, and the reason that it gets.
type refused struct{ reason, program string }

// checkPassing wants no reason against any program, and no program twice.
func checkPassing(t *testing.T, judge func(string) string, programs []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, p := range programs {
		if seen[p] {
			t.Errorf("%q stands in the table twice", p)
		}
		seen[p] = true
		if reason := judge(p); reason != "" {
			t.Errorf("%q %s; it is harmless", p, reason)
		}
	}
}

// checkRefused wants the reason of each row.
func checkRefused(t *testing.T, judge func(string) string, rows []refused) {
	t.Helper()
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.program] {
			t.Errorf("%q stands in the table twice", r.program)
		}
		seen[r.program] = true
		if got := judge(r.program); got != r.reason {
			t.Errorf("%q: got %q, want %q", r.program, got, r.reason)
		}
	}
}

// checkLimits wants that what is too long, too deep or not legible is refused
// by all three, and that what is just short and shallow enough is not.
func checkLimits(t *testing.T, judge func(string) string, comment, open, inner, shut string) {
	t.Helper()
	nested := func(n int) string { return strings.Repeat(open, n) + inner + strings.Repeat(shut, n) }
	full := comment + strings.Repeat("x", maxText-len(comment))
	for _, row := range []refused{
		{"", full},
		{long, full + "x"},
		{"", nested(maxDepth)},
		{deep, nested(maxDepth + 1)},
		{unclear, nested(maxDepth) + shut},
		{unclear, open + nested(maxDepth-1)},
		{unclear, inner + "\r\n"},
		{unclear, inner + "\x00"},
		{unclear, inner + "\x7f"},
		{unclear, inner + "\v"},
		{unclear, inner + "\f"},
		{unclear, comment + "\xff"},
		{unclear, comment + "\xe2\x80"},
		{unclear, comment + `é\`},
	} {
		if got := judge(row.program); got != row.reason {
			t.Errorf("%.40q of %d bytes: got %q, want %q", row.program, len(row.program), got, row.reason)
		}
	}
}

// clauses are all the answers there are.
var clauses = map[string]bool{
	"": true, starts: true, writes: true, reads: true, environment: true, operands: true,
	indirect: true, calls: true, long: true, deep: true, unclear: true,
}

// checkAny wants of any text at all that it is judged without a panic, twice
// the same, with a known answer, and not passed beyond the limits.
func checkAny(t *testing.T, judge func(string) string, text string) {
	first := judge(text)
	if second := judge(text); second != first {
		t.Errorf("%q: %q, then %q", text, first, second)
	}
	if !clauses[first] {
		t.Errorf("%q: %q is no reason", text, first)
	}
	if len(text) > maxText && first != long {
		t.Errorf("%d bytes: got %q, want %q", len(text), first, long)
	}
}

// addSeeds gives a fuzz target every program of its tables.
func addSeeds(f *testing.F, passing []string, rows []refused) {
	for _, p := range passing {
		f.Add(p)
	}
	for _, r := range rows {
		f.Add(r.program)
	}
}

func TestRegexEnd(t *testing.T) {
	for _, row := range []struct {
		text string
		end  byte
		want int // -1: the end is not sure
	}{
		{`a/b`, '/', 1},
		{`/`, '/', 0},
		{`a\/b/`, '/', 4},
		{`a\\/b/`, '/', 3},
		{`[a]/`, '/', 3},
		{`[^a]/`, '/', 4},
		{`[]a]/`, '/', 4},
		{`[^]a]/`, '/', 5},
		{`[[]/`, '/', 3},
		{`[a[]/`, '/', 4},
		{`[[:alpha:]]/`, '/', 11},
		{`[[:alpha:][:digit:]_]/`, '/', 21},
		{`[^[:space:]]*/`, '/', 13},
		{`[a-z]|[0-9]|x/`, '/', 13},
		{`[\\]/`, '/', 4},
		{`[,]|`, '|', 3},
		{`[][]/`, '/', 4},
		{`[^]^[]/`, '/', 6},
		{`[]]/`, '/', 3},
		{`[a\[:b:]]/`, '/', 9},
		{`]/`, '/', 1},

		{``, '/', -1},
		{`a`, '/', -1},
		{"a\n/", '/', -1},
		{"a\\\n/", '/', -1},
		{`a\`, '/', -1},
		{`[/]/`, '/', -1},
		{`[]/`, '/', -1},
		{`[^]/`, '/', -1},
		{`[a\]/`, '/', -1},
		{`[a\]b/]/`, '/', -1},
		{`[[:alpha:]/]/`, '/', -1},
		{`[[:alpha:][]/`, '/', -1}, // busybox ends the first bracket at :]
		{`[[:alpha:]x[^]/`, '/', -1},
		{`[[.-.]]/`, '/', -1},
		{`[[=a=]]/`, '/', -1},
		{`[a[:b]/`, '/', -1},
		{`[a\[:b:]/`, '/', -1},
		{`[a\[:]/`, '/', -1},
	} {
		got, ok := regexEnd(row.text, 0, row.end, true)
		if ok != (row.want >= 0) || ok && got != row.want {
			t.Errorf("%q to %q: got %d, %v, want %d", row.text, row.end, got, ok, row.want)
		}
	}
	for text, want := range map[string]int{`[/]/`: 3, `[^/]/`: 4, `[[:alpha:]/]/`: -1, `[]/`: -1, `[\]/`: -1, `[]/]/`: -1, `a[/`: -1} {
		got, ok := regexEnd(text, 0, '/', false)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q, by all that look at brackets: got %d, %v, want %d", text, got, ok, want)
		}
	}
}
