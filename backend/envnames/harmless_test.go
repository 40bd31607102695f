package envnames

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// harmlessTests hold one row for each line of the list, in its order: all names
// of the line are tried with all values of the row.
var harmlessTests = []struct{ names, takes, refuses string }{
	{"LANG LANGUAGE LC_ALL LC_CTYPE LC_COLLATE LC_MESSAGES LC_TIME LC_NUMERIC LC_MONETARY",
		"C|POSIX|C.UTF-8|en_US.UTF-8|de_DE.utf8|fil_PH.UTF-8",
		"|c|C.UTF-8@x|en_US.SJIS|en_US|en_US.UTF-8/x|/tmp/evil|../x|zh_CN.GB18030|ja_JP.SJIS|en_US.UTF-8.UTF-8|en_US.utf-8|C.SJIS"},
	{"TZ", "UTC|GMT|Europe/Berlin|America/Argentina/Buenos_Aires|Etc/GMT+5|America/Port-au-Prince",
		"|:/etc/passwd|:Europe/Berlin|/etc/passwd|../../etc/passwd|Europe/../../x|Europe/.x|europe/berlin|A/B/C/D|UTC0|<x>5|Europe/|posixrules"},
	{"TERM COLORTERM", "dumb|xterm-256color|truecolor|screen.xterm-256color|24bit", "|/tmp/x|../x|-x|.x|x y|x/y|$x"},
	{"NO_COLOR FORCE_COLOR CLICOLOR CARGO_TERM_COLOR", "0|1|3|true|false|always|never", "|10|yes|True|auto;x|/x"},
	{"CI DO_NOT_TRACK", "0|1|true|false", "|2|yes|TRUE|/tmp/x|1 "},
	{"DEBUG", "0|1|true|false", "*|app:*|release|-x|/tmp/x"},
	{"PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE", "0|1|true|false", "x|/tmp|"},
	{"GIT_TERMINAL_PROMPT PIP_NO_INPUT", "0|1|true|false", "x|"},
	{"npm_config_fund npm_config_audit", "0|1|true|false", "x|https://evil.example|"},
	{"RUST_BACKTRACE", "0|1|full", "2|Full|/x|"},
	{"HUSKY", "0", "1|2|false||/x"},
	{"RUST_LOG", "|debug|warn,my_crate=trace|a::b=info", "debug/x|Debug|a b|a/b=info|$x|[x]=info"},
	{"COLUMNS LINES", "80|0", "|-1|80x|0x10|99999999999999999999"},
	{"PORT", "3000|80", "|:3000|/tmp/sock|3000;x|tcp://x"},
	{"OMP_NUM_THREADS MKL_NUM_THREADS RAYON_NUM_THREADS GOMAXPROCS", "1|16", "|x|-1|4,2"},
	{"SOURCE_DATE_EPOCH", "1700000000", "|now|-1"},
	{"DEBIAN_FRONTEND", "noninteractive", "|Teletype|readline|../x|x::y|noninteractive;x"},
	{"NODE_ENV RAILS_ENV RACK_ENV", "production|development|test", "|../x|x|Production|staging"},
	{"PAGER GIT_PAGER", "|cat", "less|cat x|/bin/cat|cat;id| cat"},
	{"GIT_EDITOR", "true", "|vi|true;id|:|/usr/bin/true|true "},
	{"MAKEFLAGS", "-j8|-j16", "|-j|j8|--eval=x|-j8 -f x|-j8;x|-j99999| -j8"},
}

// TestHarmless tries each line, with what nothing on the list may hold as well.
func TestHarmless(t *testing.T) {
	everywhere := []string{"\n", "\x00", "1\n", "1\x00", "C\n", "/etc/passwd", "./x", "~/x", "$(id)", "`id`", "a b", "ä", "C.UTF-8@x", strings.Repeat("1", 300)}
	var rows []string
	for _, row := range harmlessTests {
		rows = append(rows, row.names)
		for _, name := range strings.Fields(row.names) {
			for _, value := range strings.Split(row.takes, "|") {
				for _, is := range []struct {
					name, value string
					want        bool
				}{{name, value, true}, {swapped(name), value, false}, {name + "_", value, false}, {name, value + "\n", false}, {name, value + "\x00", false}, {name, "\n" + value, false}} {
					if Harmless(is.name, is.value) != is.want {
						t.Errorf("%s=%q: want %v", is.name, is.value, is.want)
					}
				}
			}
			for _, value := range append(strings.Split(row.refuses, "|"), everywhere...) {
				if Harmless(name, value) {
					t.Errorf("%s=%q passes", name, value)
				}
			}
		}
	}
	var lines []string
	for line := range strings.Lines(harmlessText[strings.Index(harmlessText, "\n[names]")+1:]) {
		words, why, ok := strings.Cut(strings.TrimSpace(line), " | ")
		if i := strings.LastIndexByte(words, ' '); ok && i > 0 && !strings.HasPrefix(words, "[") {
			lines = append(lines, words[:i])
			if len(strings.Fields(why)) < 3 {
				t.Errorf("%s: no reason", words)
			}
		}
	}
	if !slices.Equal(rows, lines) {
		t.Errorf("the rows of this test are\n%q\nand the lines of the list\n%q", rows, lines)
	}
}

// swapped is a name in another case.
func swapped(name string) string {
	if up := strings.ToUpper(name); up != name {
		return up
	}
	return strings.ToLower(name)
}

// TestTraps holds names that look harmless and are not, with the values that do.
func TestTraps(t *testing.T) {
	for _, name := range strings.Fields(`GOCACHE GOOS GOARCH TERM_PROGRAM LS_COLORS POSIXLY_CORRECT LESS LESSCHARSET LESS_IS_MORE MORE EDITOR VISUAL
		NODE_OPTIONS JAVA_TOOL_OPTIONS TERMINFO LOCPATH NLSPATH GCONV_PATH XDG_CONFIG_HOME XDG_RUNTIME_DIR HOME TMPDIR PATH
		GIT_TRACE GIT_SSH GIT_TEST_FSMONITOR GIT_AUTHOR_NAME GIT_OPTIONAL_LOCKS PYTHONPATH PYTHONHASHSEED PYTHON PYTHONIOENCODING
		npm_config_yes npm_config_loglevel NPM_CONFIG_FUND CARGO_HOME CARGO_INCREMENTAL CARGO_TARGET_DIR
		DBUS_SESSION_BUS_ADDRESS GROFF_BIN_PATH MANROFFOPT SYSTEM_WGETRC AS FC PREFIX LC_PAPER LC_IDENTIFICATION LC_ LC_X TZDIR FOO _`) {
		for _, value := range []string{"", "0", "1", "true", "C", "linux", "cat", "test", "UTC", "x", "noninteractive"} {
			if Harmless(name, value) {
				t.Errorf("%s=%s passes", name, value)
			}
		}
	}
}

// TestHarmlessList holds the names of the list against those of
// testdata/environment.md.
func TestHarmlessList(t *testing.T) {
	data, err := os.ReadFile("testdata/environment.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(data), "\n**0 Harmless**")
	section, _, _ = strings.Cut(section, "\nTraps")
	var want []string
	name := regexp.MustCompile(`\b[A-Za-z]+[A-Za-z0-9]*(_[A-Za-z0-9]+)+\b|\b[A-Z][A-Z0-9]+\b`)
	for _, item := range strings.Split(section, " · ") {
		for line := range strings.Lines(item) {
			if names, _, ok := strings.Cut(line, "`:"); ok {
				want = append(want, name.FindAllString(names, -1)...)
			}
		}
	}
	var got []string
	for have := range harmless() {
		got = append(got, have)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("harmless are\n%q\nand should be\n%q", got, want)
	}
}

// TestHarmlessShapes: every shape is used, and every name has one.
func TestHarmlessShapes(t *testing.T) {
	for name, shape := range harmless() {
		if shape == nil || Requested(name) == Malformed || Requested(name) == Fixed || StripInherited(name) || Secret(name) {
			t.Errorf("%s has no shape, or may not be on this list", name)
		}
	}
}

func FuzzHarmless(f *testing.F) {
	for _, row := range harmlessTests {
		for _, name := range strings.Fields(row.names) {
			f.Add(name, row.takes)
		}
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		if !Harmless(name, value) {
			return
		}
		if strings.ContainsAny(value, "\x00\n\r\t $`\"'\\;&|<>(){}*?[]~@%!#^") || strings.Contains(value, "..") && strings.Contains(value, "/") || strings.HasPrefix(value, "/") || strings.HasPrefix(value, ":/") {
			t.Errorf("%s=%q passes", name, value)
		}
	})
}
