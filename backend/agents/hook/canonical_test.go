package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-app/countersign/backend/approval"
)

// nativeCall makes a call of arguments that a test gives as a Go value.
func nativeCall(t *testing.T, tool string, args any) native {
	t.Helper()
	fields, err := parse(encode(args))
	if err != nil {
		t.Fatal(err)
	}
	return native{Agent: "generic", Tool: tool, Args: fields, Cwd: "/srv"}
}

type some map[string]any

func left(text string, head int) some {
	sum := sha256.Sum256([]byte(text))
	return some{"$elided": some{"sha256": hex.EncodeToString(sum[:]), "bytes": len(text), "head": text[:head]}}
}

// Long texts are left out, but never what a call is judged by.
func TestElide(t *testing.T) {
	long := strings.Repeat("x", longText+1)
	wide := "a" + strings.Repeat("é", longText) // 2,000 bytes end inside a character
	tests := []struct {
		name       string
		args, want some
	}{
		{"a text of the limit stays", some{"path": "a", "content": long[1:]}, some{"path": "a", "content": long[1:]}},
		{"one byte more does not", some{"path": "a", "content": long}, some{"path": "a", "content": left(long, 2000)}},
		{"it is cut at a character", some{"path": "a", "content": wide}, some{"path": "a", "content": left(wide, 1999)}},
		{"inside lists and objects", some{"content": []any{some{"text": long}, long, 1}}, some{"content": []any{some{"text": left(long, 2000)}, left(long, 2000), 1}}},
		{"a command stays", some{"command": long}, some{"command": long}},
		{"a command inside stays", some{"steps": []any{some{"command": long}}}, some{"steps": []any{some{"command": long}}}},
		{"what may name a path stays", some{"l": []any{long}}, some{"l": []any{long}}},
		{"paths stay", some{"paths": []any{long}, "path": long}, some{"paths": []any{long}, "path": long}},
		{"numbers stay as they were", some{"n": json.Number("12345678901234567890"), "m": json.Number("1e2"), "text": long},
			some{"n": json.Number("12345678901234567890"), "m": json.Number("1e2"), "text": left(long, 2000)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := elide(encode(test.args))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(value(t, test.want), value(t, got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !utf8.Valid(got) {
				t.Error("a character was cut")
			}
		})
	}
}

// TestWhole: a call that fits is shown as it is; one of which a part is left out
// needs a second look.
func TestWhole(t *testing.T) {
	for size, whole := range map[int]bool{10: true, 150_000: true, 200_000: false} {
		c, err := nativeCall(t, fileWrite, some{"path": "a", "content": strings.Repeat("x", size)}).call()
		if err != nil || c.DefaultToNo == whole || c.NoAlways == whole || strings.Contains(string(c.Args), approval.Elided) == whole {
			t.Errorf("%d: %v %v %v %.200s", size, err, c.DefaultToNo, c.NoAlways, c.Args)
		}
	}
}

// What does not fit into a frame of the socket is an error, and not silence,
// behind which an agent might run it.
func TestTooLarge(t *testing.T) {
	for name, test := range map[string]struct {
		args some
		fits bool
	}{
		"a long command":       {some{"command": strings.Repeat("x", 190_000)}, true},
		"a longer command":     {some{"command": strings.Repeat("x", 200_000)}, false},
		"a command of quotes":  {some{"command": strings.Repeat(`"`, 70_000)}, false},
		"a command of <&>":     {some{"command": strings.Repeat("<&>", 60_000)}, true},
		"many texts, all kept": {some{"command": "x", "list": slicesOf(strings.Repeat("y", 10_000), 30)}, false},
		"many texts, left out": {some{"command": "x", "content": slicesOf(strings.Repeat("y", 20_000), 30)}, true},
		"many others":          {some{"command": "x", "list": slicesOf(strings.Repeat("y", 20_000), 30)}, false},
	} {
		if _, err := nativeCall(t, bashExecute, test.args).call(); (err == nil) != test.fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func slicesOf(text string, n int) (list []any) {
	for range n {
		list = append(list, text)
	}
	return list
}

func TestSplitMCP(t *testing.T) {
	for name, want := range map[string][2]string{
		"mcp__a__b": {"a", "b"}, "mcp__a__b__c": {"a", "b__c"}, "mcp__a_b__c": {"a_b", "c"},
		"mcp__a": {}, "mcp____b": {}, "mcp__a__": {}, "Bash": {}, "xmcp__a__b": {}, "mcp_a__b": {},
	} {
		server, tool, ok := splitMCP(name)
		if ok != (want != [2]string{}) || ok && [2]string{server, tool} != want {
			t.Errorf("%s: %q, %q, %v", name, server, tool, ok)
		}
	}
}

func TestGlobFolder(t *testing.T) {
	for _, test := range [][3]string{ // path, pattern, where it is looked
		{"", "*.go", "/w"},
		{"/p", "*.go", "/p"},
		{"/p", "src/**/*.go", "/p/src"},
		{"/p", "../.ssh/*", "/p/../.ssh"},
		{"/p", "a..b", "/p"},
		{"/p", "/etc/*.conf", "/etc"},
		{"/p", "/etc/passwd", "/etc"},
		{"/p", "/*", "/"},
		{"/p", "~/.aws/*", "~/.aws"},
		{"/p", "x/{../..}/y", ""},
		{"/p", "**/..", ""},
		{"/p", "{src,test}/**/*.{ts,tsx}", "/p"}, {"/p", "{package.json,a.b}", "/p"}, {"/p", "a/*.go{,.bak}", "/p/a"},
		{"/p", "{/etc/,x}*", ""}, {"/p", "{x,/etc/}*", ""}, {"/p", "{,x}/etc/*", ""}, {"/p", "{x,}/etc/*", ""},
		{"/p", ".{.,x}/y", ""}, {"/p", ".{x,.}/y", ""}, {"/p", "{./,x}./y", ""}, {"/p", ".{,x}./y", ""}, {"/p", "{x,y/.}./../y", ""},
	} {
		args := object{}
		if args.set("pattern", test[1]); test[0] != "" {
			args.set("path", test[0])
		}
		err := globFolder(args, "/w")
		if got, _ := args.text("path"); (err != nil) != (test[2] == "") || err == nil && got != test[2] {
			t.Errorf("%q in %q: %q, %v; want %q", test[1], test[0], got, err, test[2])
		}
	}
}
