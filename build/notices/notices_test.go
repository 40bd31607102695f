package main

import (
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// stored returns what is written, cut where the page begins.
func stored(t *testing.T) (programs, page string) {
	t.Helper()
	f, err := os.Open(filepath.Join(root, written))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.LastIndex(string(text), thick+ofPage+"\n"+thick)
	if at < 0 {
		t.Fatalf("%s says nothing of the page", written)
	}
	return string(text[:at]), string(text[at:])
}

// differ tells the first line that is not as it should be.
func differ(t *testing.T, got, want string) {
	t.Helper()
	have, should := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(have), len(should)) {
		if i == len(have) || i == len(should) || have[i] != should[i] {
			t.Fatalf("%s is not what is built from now, from line %d of this part on (run make notices):\n%q\nwant:\n%q",
				written, i+1, have[i:min(i+1, len(have))], should[i:min(i+1, len(should))])
		}
	}
}

// TestPrograms fails for a module that is linked and has no text, and for a
// text that is not written.
func TestPrograms(t *testing.T) {
	want, err := inPrograms(root)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := stored(t)
	differ(t, got, want)
	for name, is := range map[string]bool{
		"Go": true, "Countersign": true, "github.com/wailsapp/wails/v2": true, "github.com/progrium/macdriver": true, "modernc.org/sqlite": true,
		"github.com/godbus/dbus/v5": true, "github.com/wailsapp/go-webview2": true, // of one system alone
		"github.com/google/go-cmp": false, "github.com/labstack/echo/v4": false, // of tests, and of builds while the page is written
	} {
		if strings.Contains(got, "\n"+name+" ") != is {
			t.Errorf("%s: is in the programs: %v, want %v", name, !is, is)
		}
	}
}

// TestPage is the same for packages of npm, which vite counts.
func TestPage(t *testing.T) {
	_, noNode := exec.LookPath("node")
	_, noVite := os.Stat(filepath.Join(root, "frontend/node_modules/vite"))
	switch {
	case noNode == nil && noVite == nil:
	case os.Getenv("COUNTERSIGN_TEST") == "all":
		t.Fatal("the packages of the page are not installed: run `make setup`")
	default:
		t.Skip("skipped: the packages of the page are not installed (`make test` has them)")
	}
	want, err := inPage(root)
	if err != nil {
		t.Fatal(err)
	}
	_, got := stored(t)
	differ(t, got, want)
	for name, is := range map[string]bool{"svelte": true, "@ark-ui/svelte": true, "@zag-js/core": true, "clsx": true, "vite": false, "typescript": false} {
		if strings.Contains(got, "\n"+name+" ") != is {
			t.Errorf("%s: is in the page: %v, want %v", name, !is, is)
		}
	}
}

// TestBuilds holds the tags against those that we build with.
func TestBuilds(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var want []string
	for _, found := range regexp.MustCompile(`tags :?= (?:"\d", )?"([a-z,]+)"`).FindAllStringSubmatch(read("build/bundle/build.go"), -1) {
		want = append(want, found[1])
	}
	makefile := read("Makefile")
	for _, line := range []string{`(?m)^CLITAGS  := ([a-z0-9]+)$`, `(?m)^TAGS     := ([a-z,]+)\$\(if \$\(filter Linux,\$\(SYSTEM\)\),\$\(comma\)webkit2_41\)$`} {
		found := regexp.MustCompile(line).FindStringSubmatch(makefile)
		if found == nil {
			t.Fatalf("the Makefile has no line %s", line)
		}
		want = append(want, found[1])
	}
	want = append(want, want[len(want)-1]+",webkit2_41")
	var got []string
	for _, p := range programs {
		got = append(got, p.tags)
	}
	sorted := func(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
	if !slices.Equal(sorted(got), sorted(want)) {
		t.Errorf("asked for with the tags %q, built with %q", got, want)
	}
}

// TestTexts makes parts and looks at what is found.
func TestTexts(t *testing.T) {
	const mit, isc = "MIT\n", "ISC\n"
	tests := []struct {
		name  string
		files map[string]string
		uses  string // a folder
		want  []string
	}{
		{"a licence", map[string]string{"LICENSE": mit, "a.go": "package a"}, ".", []string{"LICENSE"}},
		{"other names", map[string]string{"licence.md": mit, "COPYING": mit, "NOTICE.txt": mit, "PATENTS": mit, "LICENSE-3RD-PARTY.md": mit}, ".", []string{"COPYING", "LICENSE-3RD-PARTY.md", "NOTICE.txt", "PATENTS", "licence.md"}},
		{"code by such a name", map[string]string{"LICENSE": mit, "notice.go": "package a", "license.d.ts": "x", "copying_test.go": "package a"}, ".", []string{"LICENSE"}},
		{"a folder that is used", map[string]string{"LICENSE": mit, "x/LICENSE": isc, "x/y/a.go": ""}, "x/y", []string{"LICENSE", "x/LICENSE"}},
		{"a folder that is not used", map[string]string{"LICENSE": mit, "x/LICENSE": isc, "z/a.go": ""}, "z", []string{"LICENSE"}},
		{"none, but a kept one", map[string]string{"../kept/it/LICENSE": mit, "a.go": ""}, ".", []string{"LICENSE"}},
		{"its own before a kept one", map[string]string{"../kept/it/COPYING": mit, "LICENSE": mit}, ".", []string{"LICENSE"}},
		{"none", map[string]string{"a.go": "", "README.md": "MIT"}, ".", nil},
		{"none for the whole", map[string]string{"x/LICENSE": isc}, "x", nil},
	}
	for _, test := range tests {
		dir := t.TempDir()
		for name, text := range test.files {
			name = filepath.Join(dir, "it", name)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		p := part{"it", "v1", filepath.Join(dir, "it"), map[string]bool{filepath.Join(dir, "it", test.uses): true}}
		found, err := p.texts(filepath.Join(dir, "kept"))
		var got []string
		for name := range found {
			got = append(got, name)
		}
		slices.Sort(got)
		if (err != nil) != (test.want == nil) || err == nil && !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, %v, want %q", test.name, got, err, test.want)
		}
	}
}

// TestKept holds the texts in the folder kept: each is needed, or the same where
// its part comes from. Go comes without its terms from some distributions.
func TestKept(t *testing.T) {
	goroot, err := ask(root, nil, "go", "env", "GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]string{"Go": strings.TrimSpace(string(goroot)), "@ark-ui/svelte": filepath.Join(root, "frontend/node_modules/@ark-ui/svelte")} {
		kept, own := map[string]string{}, map[string]string{}
		if err := read(filepath.Join("kept", name), filepath.Join("kept", name), kept); err != nil || len(kept) == 0 {
			t.Errorf("%s: %d texts are kept, %v", name, len(kept), err)
		}
		if err := read(from, from, own); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if len(own) > 0 && !maps.Equal(own, kept) {
			t.Errorf("%s comes with other terms than are kept", name)
		}
	}
}

// TestPartsOf reads paths of files as vite tells them.
func TestPartsOf(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	lock := write("package-lock.json", `{"packages": {"": {"version": "0.0.0"}, "node_modules/a": {"version": "1.0.0"}, "node_modules/@b/c": {"version": "2.0.0"},
		"node_modules/a/node_modules/d": {"version": "3.0.0"}, "node_modules/old": {"version": "4.0.0"}}}`)
	for name, version := range map[string]string{"a": "1.0.0", "@b/c": "2.0.0", "a/node_modules/d": "3.0.0", "old": "3.9.9", "stray": "1.0.0"} {
		write("node_modules/"+name+"/package.json", `{"version": "`+version+`"}`)
	}
	for file, want := range map[string]string{
		"src/main.ts": "", "src/App.svelte?svelte&type=style&lang.css": "",
		"node_modules/a/dist/x.js": "a 1.0.0", "node_modules/a/x.svelte?svelte&type=style&lang.css": "a 1.0.0",
		"node_modules/@b/c/x.js": "@b/c 2.0.0", "node_modules/a/node_modules/d/x.js": "d 3.0.0",
		"node_modules/old/x.js": "fails", "node_modules/stray/x.js": "fails", "../elsewhere.js": "fails",
	} {
		got := ""
		parts, err := partsOf([]string{filepath.Join(dir, file)}, dir, lock)
		if err != nil {
			got = "fails"
		}
		for _, p := range parts {
			got += p.name + " " + p.version
		}
		if got != want {
			t.Errorf("%s: %q, %v, want %q", file, got, err, want)
		}
	}
}
