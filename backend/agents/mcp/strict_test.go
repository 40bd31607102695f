package mcp

import (
	"strings"
	"testing"
)

func TestUnambiguous(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"a": [1, "x", null, {"b": true}], "c": {"b": 1}}`, ""},
		{`[{"a": 1}, {"a": 1}]`, ""},
		{` "x" `, ""},
		{strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), ""},
		{strings.Repeat("[", maxDepth+2) + strings.Repeat("]", maxDepth+2), "nested"},
		{strings.Repeat("[", maxMessage), "nested"},
		{strings.Repeat(`{"a":`, maxDepth+2), "nested"},
		{`{"a": 1, "a": 2}`, `"a" is there twice`},
		{`{"x": [{"a": 1, "\u0061": 2}]}`, `"a" is there twice`},
		{`{"a": 1, "A": 2}`, ""},
		{``, "not JSON"},
		{`{`, "not JSON"},
		{`{"a"`, "not JSON"},
		{`{"a": 1`, "not JSON"},
		{`{"a": 1]`, "not JSON"},
		{`{1: 2}`, "not JSON"},
		{`{"a": 1} {`, "something follows"},
		{`1 2`, "something follows"},
		{"{\"a\": \"\xff\"}", "not UTF-8"},
		{"\xef\xbb\xbf{}", "not JSON"},
		{`{"a": NaN}`, "not JSON"},
		{"{\"a\": \"\x00\"}", "not JSON"},
	} {
		err := unambiguous([]byte(c.in))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v, want %q", c.in, err, c.want)
		}
	}
}

func FuzzUnambiguous(f *testing.F) {
	f.Add([]byte(`{"a": [1, {"b": null}]}`))
	f.Add([]byte(`{"a": 1, "a": 2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if unambiguous(text) == nil {
			if _, refused := decode(line{text: text}); refused != nil && !strings.Contains(string(refused), "-32600") {
				t.Errorf("%q is one JSON value, and was not read as one: %s", text, refused)
			}
		}
	})
}
