package objc

import (
	"bytes"
	"debug/macho"
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

//go:embed frameworks.txt
var frameworks string

// index is what frameworks.txt says.
type index struct {
	has       map[string]string   // symbol to framework
	begins    map[string]string   // the same for beginnings of symbols
	reexports map[string][]string // framework to frameworks
}

func readIndex(t *testing.T) index {
	t.Helper()
	x := index{map[string]string{}, map[string]string{}, map[string][]string{}}
	for line := range strings.Lines(frameworks) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		beginning, several := strings.CutSuffix(words[0], "*")
		switch {
		case len(words) > 2 && words[1] == "re-exports":
			x.reexports[words[0]] = words[2:]
		case len(words) != 2:
			t.Fatal("frameworks.txt: no symbol and framework: ", line)
		case several:
			x.begins[beginning] = words[1]
		default:
			x.has[words[0]] = words[1]
		}
	}
	return x
}

// of returns the framework of a symbol, "" if the table does not say.
func (x index) of(symbol string) string {
	for begin, framework := range x.begins {
		if strings.HasPrefix(symbol, begin) {
			return framework
		}
	}
	return x.has[symbol]
}

// linked returns what the flags for the linker bring, with all it re-exports.
func (x index) linked(flags []string) map[string]bool {
	found := map[string]bool{"always": true}
	var add func(name string)
	add = func(name string) {
		found[name] = true
		for _, other := range x.reexports[name] {
			add(other)
		}
	}
	for i, flag := range flags {
		if i > 0 && flags[i-1] == "-framework" {
			add(flag)
		} else if name, ok := strings.CutPrefix(flag, "-l"); ok {
			add(name)
		}
	}
	return found
}

// unlinked compiles the Objective-C files of a package and returns what would
// be missing if it were linked with its own flags alone: other packages have
// theirs, but not in every program.
func unlinked(t *testing.T, c compiler, r room, x index) (problems []string) {
	t.Helper()
	defined, needed := map[string]bool{}, map[string]string{} // symbol, and the file that needs it
	objects := t.TempDir()
	compile := func(name, in string, flags ...string) {
		out := filepath.Join(objects, name+".o")
		if said, err := c.run(r, in, append(flags, "-c", "-o", out)...); err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v\n%s", name, err, said))
			return
		}
		file, err := macho.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if file.Dysymtab == nil { // it has no symbol
			return
		}
		for _, s := range file.Symtab.Syms[file.Dysymtab.Iextdefsym:][:file.Dysymtab.Nextdefsym] {
			defined[s.Name] = true
		}
		symbols, err := file.ImportedSymbols()
		if err != nil {
			t.Fatal(err)
		}
		for _, symbol := range symbols {
			needed[symbol] = name
		}
	}
	for _, name := range r.MFiles {
		compile(name, filepath.Join(r.Dir, name))
	}
	for _, name := range r.CgoFiles {
		text, err := os.ReadFile(filepath.Join(r.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, exported := range export.FindAllSubmatch(text, -1) {
			defined["_"+string(exported[1])] = true
		}
		in := filepath.Join(objects, name+".c")
		if err := os.WriteFile(in, callsOf(t, name, text), 0o600); err != nil {
			t.Fatal(err)
		}
		compile(name, in, "-w")
	}
	linked := x.linked(r.CgoLDFLAGS)
	for _, symbol := range slices.Sorted(maps.Keys(needed)) {
		from := x.of(symbol)
		switch {
		case defined[symbol], linked[from]:
		case from == "":
			problems = append(problems, fmt.Sprintf("%s needs %s: define it, or add the row to frameworks.txt", needed[symbol], symbol))
		default:
			problems = append(problems, fmt.Sprintf("%s needs %s: no #cgo LDFLAGS of the package bring %s", needed[symbol], symbol, from))
		}
	}
	return problems
}

var export = regexp.MustCompile(`(?m)^//export (\w+)`)

// What is called like a function and is none of C: types, and what cgo brings.
var cgoOwn = regexp.MustCompile(`^(s?char|uchar|u?short|u?int|u?long|u?longlong|float|double|size_t|u?int(8|16|32|64|ptr)_t|CString|CBytes|GoString|GoStringN|GoBytes)$`)

// callsOf writes a C file that needs what a Go file calls in C, declared as there.
func callsOf(t *testing.T, name string, text []byte) []byte {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	called := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			if imported, ok := n.Specs[0].(*ast.ImportSpec); ok && imported.Path.Value == `"C"` {
				for line := range strings.Lines(n.Doc.Text()) {
					if !strings.HasPrefix(line, "#cgo ") {
						out.WriteString(line)
					}
				}
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok {
				if from, ok := f.X.(*ast.Ident); ok && from.Name == "C" && !cgoOwn.MatchString(f.Sel.Name) {
					called[f.Sel.Name] = true
				}
			}
		}
		return true
	})
	for _, name := range slices.Sorted(maps.Keys(called)) {
		fmt.Fprintf(&out, "const void *const needed_%s = (const void *)&%[1]s;\n", name)
	}
	return out.Bytes()
}

// TestLinks compiles each Objective-C file for both kinds of Mac, without a
// warning, and finds who has what it uses.
func TestLinks(t *testing.T) {
	x := readIndex(t)
	for arch := range kinds {
		c := withDeclared(t, arch)
		for _, r := range rooms(t, arch) {
			if !slices.Contains(r.CgoCFLAGS, "-fobjc-arc") {
				t.Errorf("%s: its files release nothing: no #cgo CFLAGS has -fobjc-arc", r.ImportPath)
			}
			for _, p := range unlinked(t, c, r, x) {
				t.Errorf("%s %s: %s", arch, r.ImportPath, p)
			}
		}
	}
}

// TestPlantedLinks finds what is missing in a copy of a package.
func TestPlantedLinks(t *testing.T) {
	c, vault, x := withDeclared(t, "arm64"), rooms(t, "arm64")["vault"], readIndex(t)
	for _, row := range []struct {
		what, file, text string
		flags            []string // instead of its own
		want             []string // parts of each problem
	}{
		{what: "as it is"},
		{
			what: "a class of another framework", file: "planted_darwin.m",
			text: "#import <AppKit/AppKit.h>\nvoid planted(void) { (void)NSWorkspace.sharedWorkspace; }",
			want: []string{"planted_darwin.m needs _OBJC_CLASS_$_NSWorkspace", "AppKit"},
		},
		{
			what: "what nobody has", file: "planted_darwin.m",
			text: "extern void nobody(void);\nvoid planted(void) { nobody(); }",
			want: []string{"planted_darwin.m needs _nobody", "add the row"},
		},
		{
			what: "no such method", file: "planted_darwin.m",
			text: "#import <Foundation/Foundation.h>\nvoid planted(void) { [NSString noSuchMethod]; }",
			want: []string{"noSuchMethod", "planted_darwin.m"},
		},
		{
			what: "a method of a newer macOS", file: "planted_darwin.m",
			text: "#import <EventKit/EventKit.h>\nvoid planted(EKEventStore *s) { [s requestFullAccessToEventsWithCompletion:nil]; }",
			want: []string{"Wunguarded-availability", "requestFullAccessToEventsWithCompletion", "macOS 14.0"},
		},
		{
			what: "the same where there is one", file: "planted_darwin.m",
			text: "#import <EventKit/EventKit.h>\nvoid planted(EKEventStore *s) { if (@available(macOS 14, *)) [s requestFullAccessToEventsWithCompletion:nil]; }",
		},
		{
			what: "a call from Go of what is declared only", file: "planted_darwin.go",
			text: "package vault\n\n// void CSPlanted(int);\nimport \"C\"\n\nfunc planted() { C.CSPlanted(C.int(1)) }",
			want: []string{"planted_darwin.go needs _CSPlanted", "add the row"},
		},
		{
			what: "a call from Go of what is not declared", file: "planted_darwin.go",
			text: "package vault\n\nimport \"C\"\n\nfunc planted() { C.CSPlanted() }",
			want: []string{"planted_darwin.go", "CSPlanted"},
		},
		{
			what: "what Go exports", file: "planted_darwin.go",
			text: "package vault\n\n// void CSPlanted(int);\nimport \"C\"\n\nfunc planted() { C.CSPlanted(1) }\n\n//export CSPlanted\nfunc CSPlanted(C.int) {}",
		},
		{what: "a framework by the one that re-exports it", flags: []string{"-framework", "Cocoa", "-framework", "Security"}},
		{what: "a flag too few", flags: []string{"-framework", "Foundation"}, want: []string{"_kSecValueData", "Security"}},
	} {
		r := vault
		r.Dir = t.TempDir()
		if err := os.CopyFS(r.Dir, os.DirFS(vault.Dir)); err != nil {
			t.Fatal(err)
		}
		if row.file != "" {
			if err := os.WriteFile(filepath.Join(r.Dir, row.file), []byte(row.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		switch filepath.Ext(row.file) {
		case ".m":
			r.MFiles = append(slices.Clip(r.MFiles), row.file)
		case ".go":
			r.CgoFiles = append(slices.Clip(r.CgoFiles), row.file)
		}
		if row.flags != nil {
			r.CgoLDFLAGS = row.flags
		}
		problems := unlinked(t, c, r, x)
		said := strings.Join(problems, "\n")
		if (row.want == nil) != (len(problems) == 0) {
			t.Errorf("%s: %q", row.what, problems)
		}
		for _, part := range row.want {
			if !strings.Contains(said, part) {
				t.Errorf("%s: no %q in %q", row.what, part, problems)
			}
		}
	}
}

// TestBOOL has BOOL as each kind of Mac has it: as a number it may be 2.
func TestBOOL(t *testing.T) {
	file := filepath.Join(t.TempDir(), "planted.m")
	if err := os.WriteFile(file, []byte("#import <Foundation/Foundation.h>\n_Static_assert((BOOL)2 == 1, \"\");\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for arch, isBool := range map[string]bool{"arm64": true, "amd64": false} {
		if said, err := withDeclared(t, arch).run(room{}, file, "-fsyntax-only"); (err == nil) != isBool {
			t.Errorf("%s: %v %s", arch, err, said)
		}
	}
}

// TestFrameworksOfWails holds our own flags against those that Wails' build
// command adds, which we do without.
func TestFrameworksOfWails(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/wailsapp/wails/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "pkg/commands/build/base.go"))
	if err != nil {
		t.Fatal(err)
	}
	for arch := range kinds {
		flags, x := rooms(t, arch)["mac"].CgoLDFLAGS, readIndex(t)
		for _, row := range []struct{ what, source, lacks string }{
			{"Wails as it is", string(source), ""},
			{"one more", string(source) + "\nconst planted = `-framework NoSuch -framework Foundation `", "NoSuch"},
			{"none at all", "package build", "any"},
		} {
			if lacks := lacking(t, row.source, x.linked(flags)); lacks != row.lacks {
				t.Errorf("%s, %s: the #cgo LDFLAGS of app/mac lack %q, want %q", row.what, arch, lacks, row.lacks)
			}
		}
	}
}

var framework = regexp.MustCompile(`-framework\s+(\w+)`)

// lacking returns the frameworks that the strings of a Go file have the linker
// link and that are not linked: "any" if it names none.
func lacking(t *testing.T, source string, linked map[string]bool) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	named, missing := false, []string(nil)
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
			for _, m := range framework.FindAllStringSubmatch(s.Value, -1) {
				named = true
				if !linked[m[1]] {
					missing = append(missing, m[1])
				}
			}
		}
		return true
	})
	if !named {
		return "any"
	}
	return strings.Join(missing, " ")
}
