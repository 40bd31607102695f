package objc

import (
	"fmt"
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

// TestHeaders has the compiler read our files with Apple's own headers, and
// holds what app/mac/declared says against what those say.
func TestHeaders(t *testing.T) {
	sdk := os.Getenv("MACSDK")
	if _, err := os.Stat(filepath.Join(sdk, "System/Library/Frameworks")); err != nil || !filepath.IsAbs(sdk) {
		t.Skip("skipped: MACSDK names no SDK")
	}
	for arch := range kinds {
		declared := withDeclared(t, arch)
		apple := compiler{declared.clang, declared.target, []string{"-isysroot", sdk}}
		for _, r := range rooms(t, arch) {
			for _, name := range r.MFiles {
				if said, err := apple.run(r, filepath.Join(r.Dir, name), "-fsyntax-only"); err != nil {
					t.Errorf("%s %s: %v\n%s", arch, name, err, said)
				}
			}
		}
		names, err := fs.Glob(os.DirFS("../../app/mac/declared"), "*/*.h")
		others, _ := fs.Glob(os.DirFS("../../app/mac/declared"), "*.h")
		if err != nil || len(names) == 0 || len(others) == 0 {
			t.Fatal(names, others, err)
		}
		all := filepath.Join(t.TempDir(), "all.m")
		if err := os.WriteFile(all, []byte("#import <"+strings.Join(append(names, others...), ">\n#import <")+">\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		ours, theirs := factsOf(t, declared, all), factsOf(t, apple, all)
		if len(ours.is) < 200 || len(theirs.is) < 10000 {
			t.Fatalf("%d facts of %d are too few", len(ours.is), len(theirs.is))
		}
		for _, d := range differences(ours, theirs) {
			t.Errorf("%s: %s", arch, d)
		}
		t.Logf("%s: %d facts compared", arch, len(ours.is))
	}
}

// TestPlantedHeaders finds each kind of difference between two small headers.
func TestPlantedHeaders(t *testing.T) {
	const head = "typedef signed char BOOL;\n__attribute__((objc_root_class)) @interface Root\n@end\n"
	c := withDeclared(t, "arm64")
	read := func(text string) facts {
		path := filepath.Join(t.TempDir(), "planted.m")
		if err := os.WriteFile(path, []byte(head+text), 0o600); err != nil {
			t.Fatal(err)
		}
		return factsOf(t, c, path)
	}
	for _, row := range []struct{ ours, theirs, want string }{
		{"@interface A : Root\n@property(readonly) BOOL b;\n@end", "@interface A : Root\n- (BOOL)b;\n@end", ""},
		{"@interface A : Root\n- (Root *)b:(int)x;\n@end", "@interface A : Root\n@end\n@interface A (More)\n- (Root *_Nonnull)b:(int)y;\n@end", ""},
		{"@interface A : Root\n- (int)m;\n@end", "@interface Root (More)\n- (int)m;\n@end\n@interface A : Root\n@end", ""},
		{"typedef enum E : long E; enum E : long { One = 1 };", "typedef enum E : long E; enum E : long { Zero, One };", ""},
		{"@interface A : Root\n- (int)m;\n@end", "@interface A : Root\n@end", "-[A m]"},
		{"@interface A : Root\n+ (int)m;\n@end", "@interface A : Root\n- (int)m;\n@end", "+[A m]"},
		{"@interface A : Root\n- (int)m:(long)x;\n@end", "@interface A : Root\n- (int)m:(int)x;\n@end", "-[A m:]"},
		{"@interface B : Root\n@end\n@interface A : Root\n@end", "@interface B : Root\n@end\n@interface A : B\n@end", "A"},
		{"enum { Two = 2 };", "enum { Zero, One, Two = 3 };", "Two"},
		{"int f(long);", "int f(int);", "f"},
		{"extern int const v;", "extern long const v;", "v"},
		{"struct S { int a, b; };", "struct S { int a; short b; };", "S.b"},
		{"int f(void) __attribute__((availability(macos,introduced=12)));", "int f(void) __attribute__((availability(macos,introduced=14)));", "f"},
		{"int f(void);", "int f(void) __attribute__((availability(macos,introduced=10.4,deprecated=14)));", "f"},
		{"@interface A : Root\n- (int)m;\n@end", "__attribute__((availability(macos,introduced=14))) @interface A : Root\n- (int)m;\n@end", "-[A m] A"},
	} {
		found := []string{}
		for _, d := range differences(read(row.ours), read(row.theirs)) {
			found = append(found, d.of)
		}
		if got := strings.Join(found, " "); got != row.want {
			t.Errorf("%s beside %s: %q, want %q", row.ours, row.theirs, got, row.want)
		}
	}
}

// facts is what headers say: for each name its type, value and macOS.
type facts struct {
	is    map[string]string
	super map[string][]string // class to what it inherits from, and its protocols
}

type difference struct{ of, ours, theirs string }

func (d difference) String() string {
	return fmt.Sprintf("%s is declared %q, and in the SDK %q", d.of, d.ours, d.theirs)
}

// differences returns what theirs does not say in the same way. A method counts
// wherever it is inherited from.
func differences(ours, theirs facts) (found []difference) {
	for _, name := range slices.Sorted(maps.Keys(ours.is)) {
		there, ok := theirs.is[name]
		if m := method.FindStringSubmatch(name); m != nil && !ok {
			for _, class := range theirs.above(m[2]) {
				if there, ok = theirs.is[m[1]+class+m[3]]; ok {
					break
				}
			}
		}
		if there != ours.is[name] {
			found = append(found, difference{name, ours.is[name], there})
		}
	}
	return found
}

var method = regexp.MustCompile(`^([-+]\[)(\S+)( \S+\])$`)

// above returns what a class inherits from. A protocol can have the name of a class.
func (f facts) above(class string) []string {
	all := []string{class}
	for i := 0; i < len(all); i++ {
		for _, s := range f.super[all[i]] {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// node is a line of the syntax tree that clang prints.
type node struct {
	kind, text   string
	in           *node
	class        string   // of a category, or the superclass
	args         []string // types of a function
	value, next  int64    // of a constant, and of the one after it in an enum
	since, until string   // versions of macOS
}

var (
	line      = regexp.MustCompile("^([ |`-]*)([a-zA-Z]+:?) ?(.*)$")
	at        = regexp.MustCompile(`^0x[0-9a-f]+ (?:(?:parent|prev) 0x[0-9a-f]+ )*`)
	flags     = regexp.MustCompile(`^(?:(?:implicit|referenced|used|struct|union) )*`)
	quoted    = regexp.MustCompile(`'([^']*)'(?::'([^']*)')?`)
	macos     = regexp.MustCompile(`> macos (\S+) (\S+) `)
	ownership = regexp.MustCompile(`\b(_Nonnull|_Nullable|_Null_unspecified|__strong|__autoreleasing|CF_RETURNS_RETAINED)\b`)
	array     = regexp.MustCompile(`^(\S+) +const __unsafe_unretained\*$`)
	spaces    = regexp.MustCompile(`\s*([*^(),])\s*`)
)

// factsOf reads a file with all that it includes.
func factsOf(t *testing.T, c compiler, file string) facts {
	t.Helper()
	args := []string{"-target", c.target, "-fblocks", "-fobjc-arc", "-w", "-fsyntax-only", "-fno-color-diagnostics", "-Xclang", "-ast-dump", file}
	out, err := exec.Command(c.clang, append(slices.Clone(c.headers), args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var open, all []*node // open: from the root to the last line
	for text := range strings.Lines(string(out)) {
		m := line.FindStringSubmatch(strings.TrimSuffix(text, "\n"))
		if m == nil {
			continue
		}
		n := &node{kind: m[2], text: at.ReplaceAllString(m[3], "")}
		open = open[:min(len(m[1])/2, len(open))]
		if len(open) > 0 {
			n.in = open[len(open)-1]
			n.take()
		}
		open, all = append(open, n), append(all, n)
	}
	f := facts{map[string]string{}, map[string][]string{}}
	for _, n := range all {
		n.tell(f)
	}
	return f
}

// take reads a line, whose ancestors are read.
func (n *node) take() {
	if strings.HasPrefix(n.text, "<<invalid sloc>> <invalid sloc>") { // the compiler's own
		n.kind = ""
	}
	switch n.kind {
	case "AvailabilityAttr":
		if m := macos.FindStringSubmatch(n.text); m != nil && n.in.since == "" {
			n.in.since, n.in.until = m[1], m[2]
		}
	case "super", "ObjCInterface", "ObjCProtocol":
		n.text = typeOf(n.text)
		if n.kind != "ObjCProtocol" {
			n.in.class = n.text
		}
	case "value:":
		for e := n.in; e != nil; e = e.in {
			if _, err := fmt.Sscanf(n.text, "Int %d", &e.value); err == nil && e.kind == "EnumConstantDecl" {
				e.in.next = e.value + 1
				break
			}
		}
	case "EnumConstantDecl":
		n.value = n.in.next
		n.in.next++
	}
	if strings.HasSuffix(n.kind, "Decl") {
		n.text = flags.ReplaceAllString(past(past(n.text)), "")
	}
	if n.kind == "ParmVarDecl" {
		n.in.args = append(n.in.args, typeOf(n.text))
	}
}

// past returns what follows a place in a file, which is a word or is in <>.
func past(text string) string {
	depth := 0
	for i, c := range text {
		switch {
		case c == '<':
			depth++
		case c == '>':
			depth--
		case c == ' ' && depth == 0:
			return text[i+1:]
		}
	}
	return ""
}

// typeOf is the type in a line as it is compared: whether something may be nil
// is said by one side only.
func typeOf(text string) string {
	m := quoted.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	if m[2] != "" {
		m[1] = m[2]
	}
	is := spaces.ReplaceAllString(strings.TrimSpace(ownership.ReplaceAllString(m[1], "")), "$1")
	return array.ReplaceAllString(is, "const __unsafe_unretained $1*")
}

// add takes of several declarations of one thing the one that says most: others
// can lack the macOS.
func (f facts) add(name, is string) {
	if len(is) > len(f.is[name]) {
		f.is[name] = is
	}
}

// tell adds what a declaration says.
func (n *node) tell(f facts) {
	words := strings.Fields(n.text)
	if n.in == nil || len(words) == 0 {
		return
	}
	top, is, outer := n.in.kind == "TranslationUnitDecl", typeOf(n.text), ""
	if up := strings.Fields(n.in.text); len(up) > 0 {
		outer = up[0]
	}
	switch {
	case n.kind == "super", n.kind == "ObjCProtocol":
		f.super[outer] = append(f.super[outer], n.text)
		if n.kind == "super" {
			f.add(outer, n.text+n.in.macOS())
		}
	case n.kind == "ObjCMethodDecl":
		if n.in.kind == "ObjCCategoryDecl" {
			outer = n.in.class
		}
		f.add(words[0]+"["+outer+" "+words[1]+"]", fmt.Sprint(is, n.args, n.macOS()))
	case n.kind == "FunctionDecl" && top:
		result, _, _ := strings.Cut(is, "(")
		f.add(words[0], fmt.Sprint(result, n.args, n.macOS()))
	case n.kind == "EnumConstantDecl":
		f.add(words[0], fmt.Sprint(is, " ", n.value, n.macOS()))
	case n.kind == "FieldDecl" && n.in.kind == "RecordDecl" && outer != "definition":
		f.add(outer+"."+words[0], is)
	case (n.kind == "VarDecl" || n.kind == "TypedefDecl") && top:
		f.add(words[0], is+n.macOS())
	}
}

// macOS tells from which version on, and up to which, there is something: what
// does not say so itself is as old as what it is in.
func (n *node) macOS() string {
	since, until := n.since, n.until
	if since == "" {
		since, until = n.in.since, n.in.until
	}
	if since == "" || since == "0" {
		return ""
	}
	if until == "0" || strings.HasPrefix(until, "100000") { // one day
		return " since " + since
	}
	return " since " + since + " until " + until
}
