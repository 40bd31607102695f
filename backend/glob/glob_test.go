package glob

import (
	"encoding/json"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

const home = "/home/me"

var matchTests = []struct {
	pattern, path string
	want          bool
}{
	{"/usr/bin/rg", "/usr/bin/rg", true},
	{"/usr/bin/rg", "/usr/bin/rg2", false},
	{"/usr/bin/rg", "/usr/bin/RG", false},
	{"/usr/bin/RG", "/usr/bin/rg", false},
	{"/usr/bin/rg", "/usr/bin/../bin/rg", false}, // not clean
	{"/usr/bin/rg", "/usr/bin//rg", false},
	{"/usr/bin/rg", "usr/bin/rg", false},
	{"/usr/bin/rg", "", false},
	{"  /usr/bin/rg\t", "/usr/bin/rg", true},
	{"/", "/", true},
	{"/", "/a", false},

	{"/usr/bin/*", "/usr/bin/rg", true},
	{"/usr/bin/*", "/usr/bin/.rg", true},
	{"/usr/bin/*", "/usr/bin/a/rg", false},
	{"/usr/bin/*", "/usr/bin", false},
	{"/usr/bin/*", "/usr/bin/a\nb", true},
	{"/usr/*/rg", "/usr/bin/rg", true},
	{"/usr/*/rg", "/usr/local/bin/rg", false},
	{"/usr/bin/r*g", "/usr/bin/rg", true},
	{"/usr/bin/*r*g*", "/usr/bin/xrxgx", true},
	{"/usr/bin/r?", "/usr/bin/rg", true},
	{"/usr/bin/r?", "/usr/bin/r", false},
	{"/usr/bin/r?", "/usr/bin/rź", true},
	{"/usr/bin/r?", "/usr/bin/r\xff", true},
	{"/usr/bin/r?", "/usr/bin/r\xff\xfe", false},
	{"/usr?bin", "/usr/bin", false},

	{"/u*/**", "/u", true},
	{"/usr/**", "/usr/bin/rg", true},
	{"/usr/**", "/usr/a/b/c/rg", true},
	{"/usr/**", "/usr", true}, // zero folders: the folder itself
	{"/usr/**", "/usrx", false},
	{"/usr/**", "/us", false},
	{"/usr/**/rg", "/usr/rg", true},
	{"/usr/**/rg", "/usr/a/b/rg", true},
	{"/usr/**/rg", "/usr/a/b/xrg", false},
	{"/usr/**/**/rg", "/usr/a/rg", true},
	{"/usr/**/bin/*", "/usr/bin/bin/x", true},
	{"/usr/**/bin/**/x", "/usr/bin/a/bin/b/x", true},
	{"**/rg", "/rg", true},
	{"**/rg", "/usr/bin/rg", true},
	{"**/rg", "/usr/bin/xrg", false},
	{"**/bin/*", "/opt/a/bin/rg", true},
	{"/**", "/usr/bin/rg", true},

	{"~", "/home/me", true},
	{"~/bin/*", "/home/me/bin/x", true},
	{"~/bin/*", "/home/you/bin/x", false},
	{"~/**", "/home/me/a/b", true},
	{"~/a~b", "/home/me/a~b", true},

	{"/a/[r]g", "/a/[r]g", true},
	{"/a/[r]g", "/a/rg", false},
	{"/a/{x,y}*", "/a/{x,y}z", true},
	{"/a/{x,y}*", "/a/x", false},
	{"/a/[!a]*", "/a/bc", false},
	{"/a/*[x", "/a/y[x", true},
	{"/a/*}", "/a/y}", true},
	{`/a/\*`, "/a/*", true},
	{`/a/\*`, "/a/x", false},
	{`/a/\?*`, "/a/?x", true},
	{`/a/\?*`, "/a/xx", false},
	{`/a/r\g`, `/a/r\g`, true},
	{`/a/r\g`, "/a/rg", false},
	{`/a/r\g*`, `/a/r\gx`, true},
	{`/a/\\*`, `/a/\x`, true},
	{`/a/\\x*`, `/a/\xy`, true},
	{`/a*/\`, `/ab/\`, true},
	{`/a\/b`, `/a\/b`, true},
	{`/a\/b`, "/a/b", false},
	{`/a/\[x\]`, "/a/[x]", true},

	{"*", "/usr/bin/rg", true},
	{"*", "/usr/bin/../bin/rg", false},
	{"*", "rg", false},
	{"**", "/usr/bin/rg", false}, // a bare name of any length, not every path
	{"rg", "/usr/bin/rg", false},
	{"/a/*", "/a/" + strings.Repeat("x", maxPath), false},
}

func mustParse(t testing.TB, pattern string) Pattern {
	t.Helper()
	p, err := Parse(pattern, home)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestMatch(t *testing.T) {
	for _, c := range matchTests {
		if got := mustParse(t, c.pattern).Match(c.path); got != c.want {
			t.Errorf("%q covers %.80q: %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
}

func TestMatchName(t *testing.T) {
	for _, c := range []struct {
		pattern, word string
		want          bool
	}{
		{"rg", "rg", true},
		{"rg", "RG", false},
		{"rg", "./rg", false},
		{"rg", "/usr/bin/rg", false},
		{"rg", "", false},
		{"r*", "rg", true},
		{"r*", "r/g", false},
		{"r**", "rg", true},
		{"?", "x", true},
		{"?", "xy", false},
		{"[r]g", "[r]g", true},
		{"[r]g", "rg", false},
		{`\*`, "*", true},
		{`\*`, "x", false},
		{"*", "anything", true},
		{"**", "anything", true},
		{"*", "", false},
		{"/usr/bin/rg", "rg", false},
		{"**/rg", "rg", false},
		{`C:\x\rg.exe`, "rg.exe", false},
	} {
		if got := mustParse(t, c.pattern).MatchName(c.word); got != c.want {
			t.Errorf("%q covers the name %q: %v, want %v", c.pattern, c.word, got, c.want)
		}
	}
}

func TestMatchFold(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/bin/rm", "/bin/rm", true},
		{"/bin/rm", "/BIN/Rm", true},
		{"/BIN/RM", "/bin/rm", true},
		{"/bin/rm", "/bin/rmdir", false},
		{"/bin/rm", "/usr/../bin//rm", true},
		{"/bin/*", "/BIN/RM", true},
		{"/Opt/**/KILL", "/opt/a/b/\u212aill", true}, // the Kelvin sign is a k
		{"/opt/ſh", "/OPT/SH", true},
		{"/opt/Żaba*", "/opt/żabaX", true},
		{"/opt/straße", "/opt/STRASSE", false}, // one letter for one letter only
		{"rm", "/bin/rm", true},
		{"rm", "/any/where/RM", true},
		{"rm", "rm", true},
		{"RM", "./rm", true},
		{"rm", "/rm/x", false},
		{"rm*", "/bin/RMDIR", true},
		{"*", "whatever", true},
		{"/bin/rm", "rm", false},
		{"/bin/rm", "", false},
		{"/bin/rm", "/" + strings.Repeat("x", maxPath), true},
		{`/bin/\[`, "/bin/[", true},
	} {
		if got := mustParse(t, c.pattern).MatchFold(c.path); got != c.want {
			t.Errorf("%q hits %.80q: %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
}

func TestWhatAPatternIs(t *testing.T) {
	for _, c := range []struct {
		pattern, literal string
		bare, any        bool
	}{
		{"/usr/bin/rg", "/usr/bin/rg", false, false},
		{" ~/bin/x ", "/home/me/bin/x", false, false},
		{"~", "/home/me", false, false},
		{`/a/\*\[x`, "/a/*[x", false, false},
		{`/a/{x}\y`, `/a/{x}\y`, false, false},
		{"/a/*", "", false, false},
		{"/a/?", "", false, false},
		{"**/a", "", false, false},
		{"rg", "", true, false},
		{"r*", "", true, false},
		{"**", "", true, false},
		{" * ", "", true, true},
	} {
		p := mustParse(t, c.pattern)
		literal, ok := p.Literal()
		if literal != c.literal || ok != (c.literal != "") || p.Bare() != c.bare || p.Any() != c.any {
			t.Errorf("%q: literal %q %v, bare %v, any %v", c.pattern, literal, ok, p.Bare(), p.Any())
		}
		if p.String() != strings.TrimSpace(c.pattern) {
			t.Errorf("%q is shown as %q", c.pattern, p)
		}
	}
}

func TestZeroPatternMatchesNothing(t *testing.T) {
	var p Pattern
	literal, ok := p.Literal()
	if p.Match("/") || p.Match("") || p.MatchName("") || p.MatchName("a") || p.MatchFold("") || p.MatchFold("/") || ok || literal != "" {
		t.Error("the zero pattern matched")
	}
}

var badPatterns = []struct{ pattern, says string }{
	{"", "empty"},
	{" \t\n", "empty"},
	{"bin/rg", "relative"},
	{"./rg", "relative"},
	{"../rg", "relative"},
	{"*/rg", "relative"},
	{"***/rg", "relative"},
	{"a/**", "relative"},
	{"a~", "relative"},
	{"~root/bin", "another home"},
	{"~root", "another home"},
	{"/usr//bin", "empty folder"},
	{"/usr/bin/", "/**"},
	{"//", "empty folder"},
	{"~/", "empty folder"},
	{"~//x", "empty folder"},
	{"**/", "empty folder"},
	{"/usr/./bin", ". or .."},
	{"/usr/../bin", ". or .."},
	{"/..", ". or .."},
	{"**/../x", ". or .."},
	{"/usr/a**", "folder of its own"},
	{"/usr/**a/b", "folder of its own"},
	{"/usr/***", "folder of its own"},
	{"/usr/\x00", "control"},
	{"/usr/a\nb", "control"},
	{"/usr/a\u0085b", "control"},
	{"r\x1bg", "control"},
	{"/usr/\xff", "UTF-8"},
	{"/usr/\ufffd", "UTF-8"},
	{"/" + strings.Repeat("x", maxPattern), "at most 4096"},
	{"/" + strings.Repeat("*a", maxStars+1), "at most 16"},
	{strings.Repeat("*a", maxStars+1), "at most 16"},
	{strings.Repeat("**a", maxStars+1), "at most 16"},
	{strings.Repeat("/**/a", maxStars+1), "at most 16"},
	{"/*" + strings.Repeat("x", maxGlob), "at most 256"},
	{"?" + strings.Repeat("x", maxGlob), "at most 256"},
}

func TestRefusedPatterns(t *testing.T) {
	for _, c := range badPatterns {
		p, err := Parse(c.pattern, home)
		if err == nil {
			t.Errorf("%.80q was accepted as %+v", c.pattern, p)
		} else if !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "cannot use") {
			t.Errorf("%.80q: %q does not say %q", c.pattern, err, c.says)
		}
	}
}

func TestHome(t *testing.T) {
	for _, bad := range []string{"", "me", "/home/me/", "/home/../me", "/home/\n", "/home/\xff"} {
		if p, err := Parse("~/x", bad); err == nil {
			t.Errorf("home %q was accepted: %+v", bad, p)
		}
		if _, err := Parse("/x", bad); err != nil {
			t.Errorf("home %q is not needed for /x: %v", bad, err)
		}
	}
	// A home is a name and never a pattern.
	p, err := Parse("~/*", `/home/*[a]{b}\`)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Match(`/home/*[a]{b}\/x`) || p.Match("/home/xab/x") || p.Match("/home/xa/x") {
		t.Error("the name of the home folder was read as a pattern")
	}
	if p, err = Parse("~/x", "/"); err != nil || !p.Match("/x") {
		t.Errorf("home /: %v", err)
	}
}

type vectorFile struct {
	Home  string
	Cases []struct {
		Pattern, Raw, Resolved string
		Match                  bool
	}
}

func vectors(t *testing.T) (file vectorFile) {
	t.Helper()
	data, err := os.ReadFile("testdata/allowlist-glob.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestVectors compares with what OpenClaw answers. Its answers are about a
// command word and the path it led to.
func TestVectors(t *testing.T) {
	file := vectors(t)
	if len(file.Cases) != 252 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	const unclean = "a path that is not clean was not resolved and is covered by nothing"
	differs := map[string]string{
		"/usr/bin/* rg /usr/bin/../bin/rg":         unclean,
		"/usr/*/rg rg /usr/bin/../bin/rg":          unclean,
		"/usr/** rg /usr/bin/../bin/rg":            unclean,
		"/usr/**/rg rg /usr/bin/../bin/rg":         unclean,
		"**/rg rg /usr/bin/../bin/rg":              unclean,
		"/usr/bin/r? rg /usr/bin/../bin/rg":        unclean,
		"/usr/bin/** rg /usr/bin/../bin/rg":        unclean,
		"/usr/bin/*g rg /usr/bin/../bin/rg":        unclean,
		"/usr/bin/../bin/rg rg /usr/bin/../bin/rg": "a pattern with .. is refused when it is saved",
	}
	refused := map[string]bool{"": true, "/usr//bin/rg": true, "/usr/bin/../bin/rg": true}
	for _, c := range file.Cases {
		p, err := Parse(c.Pattern, file.Home)
		if (err != nil) != refused[c.Pattern] {
			t.Fatalf("%q: %v", c.Pattern, err)
		}
		key := c.Pattern + " " + c.Raw + " " + c.Resolved
		got := p.Match(c.Resolved) || p.MatchName(c.Raw)
		reason, different := differs[key]
		delete(differs, key)
		if (got != c.Match) != different {
			t.Errorf("%s: %v, OpenClaw says %v; listed as different: %q", key, got, c.Match, reason)
		}
		if got && !c.Match {
			t.Errorf("%s: allows more than OpenClaw", key)
		}
	}
	if len(differs) > 0 {
		t.Errorf("listed as different, but not in the file: %v", differs)
	}
}

// regex writes a pattern as a regular expression, the other way to read it.
func regex(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	if rest, ok := strings.CutPrefix(pattern, "~"); ok {
		b.WriteString(regexp.QuoteMeta(home))
		pattern = rest
	} else if strings.HasPrefix(pattern, "**/") {
		pattern = "/" + pattern
	}
	for pattern != "" {
		if rest, ok := strings.CutPrefix(pattern, "/**"); ok && (rest == "" || rest[0] == '/') {
			b.WriteString(`(?:/[^/]+)*`)
			pattern = rest
			continue
		}
		r, n := utf8.DecodeRuneInString(pattern)
		switch {
		case r == '*':
			b.WriteString(`[^/]*`)
		case r == '?':
			b.WriteString(`[^/]`)
		case r == '\\' && len(pattern) > 1 && strings.IndexByte(special, pattern[1]) >= 0:
			n = 2
			b.WriteString(regexp.QuoteMeta(pattern[1:2]))
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
		pattern = pattern[n:]
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String())
}

// FuzzMatch compares with the regular expression, and asks that folding only
// ever hits more.
func FuzzMatch(f *testing.F) {
	for _, c := range matchTests {
		f.Add(c.pattern, c.path)
	}
	for _, c := range badPatterns {
		f.Add(c.pattern, "/usr/bin/rg")
	}
	f.Add("/a/**/*a*b/**/*c", "/a/xa/ayb/b/a/b/cc")
	f.Fuzz(func(t *testing.T, pattern, file string) {
		p, err := Parse(pattern, home)
		if err != nil {
			return
		}
		again, err := Parse(p.String(), home)
		if err != nil || again != p {
			t.Fatalf("%q read again: %+v, %v", p, again, err)
		}
		got := p.Match(file)
		if got && !p.MatchFold(file) || p.MatchName(file) && !p.MatchFold(file) {
			t.Errorf("%q covers %q, but a deny rule would not hit it", pattern, file)
		}
		if literal, ok := p.Literal(); ok && !(p.Match(literal) || len(literal) > maxPath) {
			t.Errorf("%q does not cover %q", pattern, literal)
		}
		if p.Bare() || len(file) > maxPath || !path.IsAbs(file) || path.Clean(file) != file || file == "/" {
			return
		}
		if want := regex(p.String()).MatchString(file); got != want {
			t.Errorf("%q covers %q: %v, want %v", pattern, file, got, want)
		}
	})
}

// hostile are the dearest patterns within the limits, with the paths that
// make the library step back most often.
func hostile() [][2]string {
	fill := func(s string, n int) string { return strings.Repeat(s, n/len(s)) }
	name := fill("a", 250)
	names := fill("/"+name, maxPath)
	short := fill("/a", maxPath)
	half := strings.Repeat("a", 24)
	return [][2]string{
		{"/**/" + strings.Repeat("*a", maxStars-1) + "b", names},
		{"/**/" + strings.Repeat("*"+half+"/", 8) + "*b", names},
		{"/**/" + strings.Repeat("*"+half+"/", 8) + "*b", fill("/"+half+half, maxPath)},
		{"/**/" + fill("a/", maxGlob-20) + "**/b", short},
		{"/**/*" + fill("a", maxGlob-20) + "b", "/" + fill("a", maxPath-1)},
		{"/**/*" + fill("a", maxGlob/2) + "b", "/" + fill("a", maxPath-1)},
		{"/" + fill("**/a/", 5*(maxStars-1)) + "b", short},
		{"/" + fill("**/*a/", 6*(maxStars/2-1)) + "b", short},
		{strings.Repeat("**a", maxStars), fill("a", maxPath-1) + "b"},
		{"*" + fill("a", maxGlob/2) + "b", fill("a", maxPath)},
	}
}

// TestHostilePatternsEnd matches the dearest inputs that get past the limits;
// BenchmarkHostile tells what one costs.
func TestHostilePatternsEnd(t *testing.T) {
	for _, c := range hostile() {
		p := mustParse(t, c[0])
		if len(p.exact.glob) > maxGlob || len(c[1]) > maxPath {
			t.Errorf("%.40q got past the limits", c[0])
		}
		if p.Match(c[1]) || p.MatchName(c[1]) {
			t.Errorf("%.40q matched", c[0])
		}
	}
}

func BenchmarkHostile(b *testing.B) {
	for _, c := range hostile() {
		p := mustParse(b, c[0])
		b.Run(c[0][:min(24, len(c[0]))], func(b *testing.B) {
			for b.Loop() {
				p.Match(c[1])
				p.MatchName(c[1])
			}
		})
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, pattern := range []string{"/usr/bin/rg", "/usr/bin/*", "~/Projects/**/bin/rg", "**/bin/rg"} {
		p := mustParse(b, pattern)
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				p.Match("/usr/bin/rg")
			}
		})
	}
}
