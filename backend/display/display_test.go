package display

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

var escapeTests = []struct{ in, out string }{
	{"", ""},
	{"echo hi", "echo hi"},
	{"a\nb\tc\r\x00\x1b[31m\x7f", `a\u{A}b\u{9}c\u{D}\u{0}\u{1B}[31m\u{7F}`},
	{"a\u0085b\u009b", `a\u{85}b\u{9B}`},                                           // C1 controls
	{"\u200b\u200c\u200d\u2060\ufeff", `\u{200B}\u{200C}\u{200D}\u{2060}\u{FEFF}`}, // zero width
	{"\u202e\u2066\u061c", `\u{202E}\u{2066}\u{61C}`},                              // bidi
	{"\u2028\u2029", `\u{2028}\u{2029}`},
	{"\u00a0\u1680\u2000\u200a\u202f\u205f\u3000", `\u{A0}\u{1680}\u{2000}\u{200A}\u{202F}\u{205F}\u{3000}`},
	{"\u115f\u1160\u3164\uffa0\u034f\u17b4\u2800", `\u{115F}\u{1160}\u{3164}\u{FFA0}\u{34F}\u{17B4}\u{2800}`},
	{"\U000e0041\U000e0100\ufe01", `\u{E0041}\u{E0100}\u{FE01}`}, // tags and variation selectors
	{"e\u0301 🦞 ❤\ufe0f 日本語 עברית", "e\u0301 🦞 ❤\ufe0f 日本語 עברית"},
	{"ls x\ufe0f", `ls x\u{FE0F}`}, // on a letter nobody sees it
	{"#\ufe0f\u20e3 \ufe0f", "#\ufe0f\u20e3 \\u{FE0F}"},
	{"a\U0001d159b", `a\u{1D159}b`},
	{"a\xffb", `a\x{FF}b`},
	{"\xed\xa0\x80", `\x{ED}\x{A0}\x{80}`}, // a lone surrogate
	{"\xc0\xaf", `\x{C0}\x{AF}`},
	{"\ufffd", "\ufffd"},
	{`\u{202E}`, `\u{202E}`}, // written so by somebody: shown as it is
	{strings.Repeat("x", 300_000), strings.Repeat("x", 300_000)},
}

func TestEscape(t *testing.T) {
	for _, c := range escapeTests {
		if got := Escape(c.in); got != c.out {
			t.Errorf("%.60q is shown as %.60q, want %.60q", c.in, got, c.out)
		}
	}
}

var redactTests = []struct{ in, out string }{
	{"", ""},
	{"git status", "git status"},
	{"use sk-abcdefghijklmnopqrstuvwx now", "use *** now"},
	{"ghp_abcdefghijklmnopqrstuvwxyz0123456789", "***"},
	{"gho_abcdefghijklmnopqrstuvwxyz0123456789", "***"},
	{"github_pat_11AAAAAAA0abcdefghijkl_mnopq", "***"},
	{"xoxb-1234567890-abcdefgh", "***"},
	{"aws AKIAIOSFODNN7EXAMPLE x", "aws *** x"},
	{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_D", "***"},
	{"risk-assessment-of-tasks task-abcdefghijklmnop", "risk-assessment-of-tasks task-abcdefghijklmnop"},

	{"Bearer abc.def", "Bearer ***"},
	{"curl -H 'Authorization: Bearer abc' https://x", "curl -H 'Authorization: Bearer ***' https://x"},
	{`curl -H "Authorization: Basic dTpw" https://x`, `curl -H "Authorization: Basic ***" https://x`},
	{`-H "authorization: abc def" y`, `-H "authorization: ***" y`},
	{`{"Authorization": "Bearer abc"}`, `{"Authorization": "Bearer ***"}`},
	{`-H "X-Api-Key: abc" y`, `-H "X-Api-Key: ***" y`},
	{`-H 'Cookie: a=b; c=d' y`, `-H 'Cookie: ***' y`},
	{`-H "Accept: text/html"`, `-H "Accept: text/html"`},

	{"export TOKEN=abcdef x", "export TOKEN=*** x"},
	{"GH_TOKEN=abc gh pr list", "GH_TOKEN=*** gh pr list"},
	{"A_SECRET_B=abc", "A_SECRET_B=***"},
	{"OPENAI_API_KEY=abc&& id", "OPENAI_API_KEY=***&& id"},
	{"DB_PASSWORD_2='a b;c' id", "DB_PASSWORD_2=*** id"},
	{`PASSWORD="a \" b" id`, "PASSWORD=*** id"},
	{`PASSWORD="a"'b'c\ d id`, "PASSWORD=*** id"},
	{`PASSWORD=$'a b' id`, "PASSWORD=*** id"},
	{"PASSWORD=pa$$word id", "PASSWORD=*** id"},
	{`PASSWORD="never closed`, "PASSWORD=***"},
	{"TOKEN=$GITHUB_TOKEN id", "TOKEN=$GITHUB_TOKEN id"},
	{"TOKEN=$(cat f) id", "TOKEN=$(cat f) id"},
	{"AWS_SECRET_ACCESS_KEY=abc/def+g= id", "AWS_SECRET_ACCESS_KEY=*** id"},
	{"AWS_ACCESS_KEY_ID=abc id", "AWS_ACCESS_KEY_ID=*** id"},
	{"https://x/y?access_token=abc&z=1", "https://x/y?access_token=***&z=1"},
	{`{"password":["hun]ter","two"],"user":"u"}`, `{"password":***,"user":"u"}`},
	{`{"token":{"value":"hun}ter","of":["x"`, `{"token":***`},
	{`{"password": "a\"b", "user": "u"}`, `{"password": ***, "user": "u"}`},
	{`"{\"token\": \"abc\", \"n\": 1}"`, `"{\"token\": ***, \"n\": 1}"`},
	{"MAX_TOKENS=4096 KEY=1 MONKEY=2", "MAX_TOKENS=4096 KEY=1 MONKEY=2"},
	{"cannot read token: permission denied", "cannot read token: permission denied"},

	{"mysql --password hunter2 db", "mysql --password *** db"},
	{"mysql --password=hunter2 db", "mysql --password=*** db"},
	{"x --token 'a b' y", "x --token *** y"},
	{`"x" "--api-key" "a b" y`, `"x" "--api-key" *** y`},
	{"x --client-secret abc", "x --client-secret ***"},
	{"x --token --verbose", "x --token --verbose"},
	{"x --token $T", "x --token $T"},
	{"curl -u me:pw https://x", "curl -u me:*** https://x"},
	{"curl --user 'me:pw' https://x", "curl --user 'me:***' https://x"},

	{"git clone https://me:pw@host/x.git", "git clone https://***@host/x.git"},
	{"https://tok@host/x", "https://***@host/x"},
	{"postgres://u:p@ss@host:5432/db", "postgres://***@host:5432/db"},
	{"https://host/a@b", "https://host/a@b"},
	{"me@host:x", "me@host:x"},

	{"a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b", "a -----BEGIN RSA PRIVATE KEY-----*** b"},
	{"-----BEGIN PRIVATE KEY-----\nMII\nMII", "-----BEGIN PRIVATE KEY-----***"},
	{"-----BEGIN PUBLIC KEY-----\nMII", "-----BEGIN PUBLIC KEY-----\nMII"},
}

func TestRedact(t *testing.T) {
	for _, c := range redactTests {
		if got := Redact(c.in); got != c.out {
			t.Errorf("%q becomes %q, want %q", c.in, got, c.out)
		}
	}
}

func TestLine(t *testing.T) {
	if got, want := Line("x\nTOKEN='a\u202eb' \x1b[0m"), `x\u{A}TOKEN=*** \u{1B}[0m`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestVectors compares Line with what OpenClaw shows.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/display-sanitize.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Input, Output          string
			InputCodeUnits         []uint16
			InputRepeat            []any
			OutputLength           int
			OutputHead, OutputTail string
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) != 30 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	const whole = "nothing is cut: what is not shown cannot be judged"
	differs := map[string]struct{ ours, why string }{
		"\ufffd": {"\ufffd", "there are no lone surrogates in UTF-8; decoding replaces them"},
		"curl -H 'Authorization: Bearer sk-abcdefghijklmnopqrstuvwxyz123456'": {
			"curl -H 'Authorization: Bearer ***'", "a secret is hidden whole, not all but its ends"},
		strings.Repeat("x", 20_000):  {strings.Repeat("x", 20_000), whole},
		strings.Repeat("x", 262_145): {strings.Repeat("x", 262_145), whole},
	}
	for _, c := range file.Cases {
		input := c.Input
		if c.InputRepeat != nil {
			input = strings.Repeat(fmt.Sprint(c.InputRepeat[0]), int(c.InputRepeat[1].(float64)))
		} else if decoded := string(utf16.Decode(c.InputCodeUnits)); decoded != input {
			t.Errorf("%q is not %q", decoded, input)
		}
		got := Line(input)
		// Of a long text the file holds the ends of what OpenClaw shows.
		same := got == c.Output
		if c.InputRepeat != nil {
			same = utf8.RuneCountInString(got) == c.OutputLength && strings.HasPrefix(got, c.OutputHead) && strings.HasSuffix(got, c.OutputTail)
		}
		d, listed := differs[input]
		delete(differs, input)
		if same == listed || listed && got != d.ours {
			t.Errorf("%.60q is shown as %.60q, by OpenClaw as %.60q; listed as different: %q", input, got, c.Output, d.why)
		}
	}
	if len(differs) > 0 {
		t.Errorf("listed as different, but not in the file: %d", len(differs))
	}
}

func FuzzEscape(f *testing.F) {
	for _, c := range escapeTests {
		f.Add(c.in[:min(len(c.in), 100)])
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := Escape(s)
		if !utf8.ValidString(out) {
			t.Errorf("%q: not UTF-8: %q", s, out)
		}
		before := rune(0)
		for i, r := range out {
			if Hides(before, r) {
				t.Errorf("%q: hidden at %d of %q", s, i, out)
			}
			before = r
		}
		if Escape(out) != out {
			t.Errorf("%q: escaped twice is different", s)
		}
		if utf8.ValidString(s) && !strings.ContainsAny(s, "\ufe0e\ufe0f") && !strings.ContainsFunc(s, hidden) && out != s {
			t.Errorf("%q needs nothing, but became %q", s, out)
		}
		if len(out) < len(s) {
			t.Errorf("%q was cut to %q", s, out)
		}
	})
}

// FuzzRedact plants secrets between any two texts that do not touch them.
func FuzzRedact(f *testing.F) {
	for _, c := range redactTests {
		f.Add(c.in, "")
		f.Add("", c.in)
	}
	const secret = "ghp_PLANTEDabcdefghijklmnopqrstuvwxyz"
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, planted := range []string{secret, "TOKEN=PLANTED", "--password=PLANTED", "https://u:PLANTED@h/"} {
			if strings.Contains(before+after, "PLANTED") {
				return
			}
			if out := Redact(before + "\n " + planted + " \n" + after); strings.Contains(out, "PLANTED") {
				t.Errorf("%q survives between %q and %q: %q", planted, before, after, out)
			}
		}
	})
}

func BenchmarkLine(b *testing.B) {
	for name, s := range map[string]string{
		"everyday": "git -C /home/me/src/countersign log --oneline -n 20 && go test ./... | tail -5",
		"secret":   "GH_TOKEN=abcdef curl -H 'Authorization: Bearer abcdef' https://u:p@host/",
		"64KiB":    strings.Repeat("secret --token ", 64<<10/15),
		"64KiB=":   strings.Repeat("a://token=\"", 64<<10/11),
		"64KiB-":   strings.Repeat("eyJaaaaaaaaaaa.aaaaaaaaaaaaa", 64<<10/28),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				Line(s)
			}
		})
	}
}
