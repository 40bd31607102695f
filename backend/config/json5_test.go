package config

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

func TestToJSON(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{`{}`, `{}`},
		{"\ufeff{a: 1}", `{"a":1}`},
		{`{a: 1, $b_2: true, 'c d': null, "e": 'x', true: 1, é: 2, \u0061b: 3}`, `{"a":1,"$b_2":true,"c d":null,"e":"x","true":1,"é":2,"\u0061b":3}`},
		{"{a /* it */ : 1, // and\n b // here\n : 2}", "{\"a\":1,\n\"b\"\n:2}"},
		{"/* one\ntwo */ [1, /* three\nfour */ 2]", "\n[1,\n2]"},
		{`[1,]`, `[1]`}, {`{a: [], }`, `{"a":[]}`}, {`["x",/* c */]`, `["x"]`},
		{`[+1, -1, .5, -.5, 5., +5.e3, 1e3, 0x1F, -0XfF]`, `[1,-1,0.5,-0.5,5.0,5.0e3,1e3,31,-255]`},
		{`[Infinity, -Infinity, +NaN, NaN]`, `[null,null,null,null]`},
		{`['it\'s', 'a "word"', "it's", 'tab\v\0\x41\/\a', "\u00e9\n"]`, `["it's","a \"word\"","it's","tab\u000b\u0000\u0041\/a","\u00e9\n"]`},
		{"['one \\\ntwo',\n'a\\\r\nb']", "[\"one two\"\n,\n\"ab\"\n]"},
		{"['a\tb']", `["a\u0009b"]`},
		{"\v\f\u00a0[\u2028]", `[]`},
	} {
		got, err := toJSON([]byte(row.text))
		if strip(got) != row.want || err != nil || !json.Valid(got) {
			t.Errorf("%q\n got %s %v\nwant %s", row.text, strip(got), err, row.want)
		}
	}
	for _, text := range []string{
		"", "[,]", "[1,,2]", "{,}", "{a: 1,,}", "[1],", "{a 1}", "{a: b}", "{a: 'x}", "{a: \"x'}", "'a\nb'", "/* {}", "{} /", "[0x]", "[0x-1]", "[0xfg]", "[+-1]",
		"[--1]", "[.]", "[+]", "['\\1']", "['\\x4']", "['\\xzz']", "{a: 1 b: 2}", "[1 2]", "[1/**/2]", "{1: 2}", "{a: 1}}", "[01]", "[1_0]", "`a`", "{a(){}}", "{...a}", "undefined", `["\`,
		"{a: 1}, ", "[\"a\" 'b']", "[a: 1]",
	} {
		if got, err := toJSON([]byte(text)); err == nil && json.Valid(got) {
			t.Errorf("%q is taken as %s", text, got)
		}
	}
}

// strip leaves the blanks out that only stand between values.
func strip(text []byte) string {
	var out []byte
	quoted := false
	for i, c := range text {
		if c == '"' && (i == 0 || text[i-1] != '\\') {
			quoted = !quoted
		}
		if quoted || c != ' ' && c != '\r' {
			out = append(out, c)
		}
	}
	return string(out)
}

// FuzzJSON5 reads what is JSON as what it says, on its lines, and never fails
// on anything else in another way than by saying so.
func FuzzJSON5(f *testing.F) {
	for _, text := range []string{`{"a": [1, -2.5e3, "x\u0041\"", null, true, {}]}`, "{a: 'b', // c\n d: 0x1f,}", "\"\\ud800\"", "[\n1\n,\n2\n]", `"\/"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := toJSON(text)
		if bytes.Count(got, []byte("\n")) > bytes.Count(text, []byte("\n")) {
			t.Errorf("%q has more lines as %q", text, got)
		}
		var want any
		if json.Unmarshal(text, &want) != nil {
			return
		}
		var have any
		if err := json.Unmarshal(got, &have); err != nil || !reflect.DeepEqual(have, want) {
			t.Errorf("%q is %q: %v", text, got, err)
		}
		if bytes.Count(got, []byte("\n")) != bytes.Count(text, []byte("\n")) || err != nil {
			t.Errorf("%q has other lines as %q: %v", text, got, err)
		}
	})
}
