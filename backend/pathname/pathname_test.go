package pathname

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// tree is an invented disk: the paths of its files.
type tree struct {
	files []string
	steps int
}

func (d *tree) List(folder string) (names []string) {
	for _, file := range d.files {
		if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(path.Clean("/"+folder), "/")+"/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func (d *tree) Exists(name string) bool {
	folder := strings.HasSuffix(name, "/")
	name = path.Clean(name)
	return slices.ContainsFunc(d.files, func(file string) bool {
		return file == name && !folder || strings.HasPrefix(file, strings.TrimSuffix(name, "/")+"/")
	})
}

func (d *tree) Spend(n int) bool { d.steps -= n; return d.steps >= 0 }

func machine() *tree {
	return &tree{[]string{"/p/a", "/p/b", "/p/ab", "/p/.hidden", "/p/x y", "/p/-rf", "/p/sub/a", "/p/sub/.b", "/p/sub/deep/c", "/p/A", "/p/[", "/p/a*", "/etc/passwd"}, 1000}
}

func TestExpand(t *testing.T) {
	tests := []struct{ glob, want string }{
		{"*", "-rf|A|[|a|a*|ab|b|sub|x y"},
		{"a*", "a|a*|ab"},
		{`a\*`, "a*"},
		{"?", "A|[|a|b"},
		{"[ab]", "a|b"},
		{"[!a]", "A|[|b"},
		{"[a-c]b", "ab"},
		{".*", ".hidden"},
		{`\.*`, ".hidden"},
		{"*/a", "sub/a"},
		{"*/", "sub/"},
		{"sub/*", "sub/a|sub/deep"},
		{"./su*", "./sub"},
		{"*/*/*", "sub/deep/c"},
		{"**", "-rf|A|[|a|a*|ab|b|sub|x y"},
		{"/etc/pass*", "/etc/passwd"},
		{"/*", "/etc|/p"},
		{"nothing*", ""},
		{`no\thing*`, ""},
		{"[", "["},
		{"[[:alpha:]]", "?"},
		{"a//*", "?"},
	}
	for _, test := range tests {
		got := "?"
		if names, ok := Expand(machine(), test.glob, "/p"); ok {
			got = strings.Join(names, "|")
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.glob, got, test.want)
		}
	}
	if _, ok := Expand(machine(), "a*", ""); ok {
		t.Error("a name in no folder stands for something")
	}
	if _, ok := Expand(&tree{machine().files, 0}, "a*", "/p"); ok {
		t.Error("it goes on when nothing may be spent")
	}
}

// What a pattern stands for is there, in order, and the same twice.
func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"*", "a*", `\*`, "[a-c]*", "*/*", "/*/?", "[!a]", "**a**a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, glob string) {
		names, ok := Expand(machine(), glob, "/p")
		again, _ := Expand(machine(), glob, "/p")
		if !slices.Equal(names, again) {
			t.Fatalf("%q, then %q", names, again)
		}
		if !ok {
			return
		}
		if !slices.IsSorted(names) {
			t.Errorf("%q", names)
		}
		for _, name := range names {
			if !machine().Exists(join("/p", name)) {
				t.Errorf("%q stands for %q, which is not there", glob, name)
			}
		}
	})
}
