package pathname

import (
	"strings"
	"testing"
)

func TestPattern(t *testing.T) {
	tests := []struct {
		pattern, text string
		want          string // what is left without the least and the most at the beginning, and at the end
	}{
		{"a", "aba", "ba ba ab ab"},
		{"*", "aba", "aba . aba ."},
		{"*b", "abba", "ba a abba abba"},
		{"b*", "abba", "abba abba ab a"},
		{"?", "", ". . . ."},
		{"?", "ab", "b b a a"},
		{"[a-c]", "cad", "ad ad cad cad"},
		{"[!a-c]", "cad", "cad cad ca ca"},
		{"[^c]", "cad", "cad cad ca ca"},
		{`\*`, "*a*", "a* a* *a *a"},
		{"*/", "a/b/c", "b/c c a/b/c a/b/c"},
		{"/*", "a/b/c", "a/b/c a/b/c a/b a"},
		{"[[:digit:]_-]", "1-_", "-_ -_ 1- 1-"},
		{"", "ab", "ab ab ab ab"},
		{"**a**", "bab", "b . b ."},
		{"é*", "éa", "a . . ."},
	}
	for _, test := range tests {
		p, ok := Read(test.pattern)
		var got []string
		for i := range 4 {
			rest := test.text
			if n := p.Begins(rest, i == 1); i < 2 && n >= 0 {
				rest = rest[n:]
			}
			if n := p.Ends(rest, i == 3); i > 1 && n >= 0 {
				rest = rest[:len(rest)-n]
			}
			if rest == "" {
				rest = "."
			}
			got = append(got, rest)
		}
		if !ok || strings.Join(got, " ") != test.want {
			t.Errorf("%q in %q: %q %v, want %q", test.pattern, test.text, got, ok, test.want)
		}
		if all := p.Begins(test.text, true) == len(test.text); p.Fits(test.text) != all {
			t.Errorf("%q fits %q: %v", test.pattern, test.text, !all)
		}
	}
}

// What shells may read in different ways is no pattern.
func TestUnclearPattern(t *testing.T) {
	for _, pattern := range []string{"[", "[a", "[]a]", "[!]a]", "[z-a]", "[a-Z]", "[0-z]", "[é]", "[a-é]", `[\]]`, `[a\-b]`, "[[:foo:]]", "[[.a.]]", "[[=a=]]", "[a!b]", "[*]", `a\`, strings.Repeat("a", 5000)} {
		if _, ok := Read(pattern); ok {
			t.Errorf("%q is read", pattern)
		}
	}
	for _, pattern := range []string{"?", "[a]", "*?", "[!a]*"} {
		if p, _ := Read(pattern); p.Clear("é") || !p.Clear("e") {
			t.Errorf("%q does not tell of letters with more than a byte", pattern)
		}
	}
}

func TestReplace(t *testing.T) {
	for _, test := range []struct{ pattern, with, first, all string }{
		{"a", "b", "bXaXa", "bXbXb"}, {"aX", "", "aXa", "a"}, {"[X]", "--", "a--aXa", "a--a--a"}, {"z", "b", "aXaXa", "aXaXa"},
		{"?", "b", "bXaXa", "bbbbb"}, {"*", "b", "aXaXa", "aXaXa"}, {"", "b", "aXaXa", "aXaXa"},
	} {
		p, _ := Read(test.pattern)
		if first, all := p.Replace("aXaXa", test.with, false), p.Replace("aXaXa", test.with, true); first != test.first || all != test.all {
			t.Errorf("%q: %q and %q", test.pattern, first, all)
		}
	}
}
