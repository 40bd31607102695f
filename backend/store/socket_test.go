package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSocketIn(t *testing.T) {
	for _, test := range []struct{ text, path, token string }{
		{`{"version": 1, "socket": {"path": "/s", "token": "t"}}`, "/s", "t"},
		{`{"agents": {"socket": {"path": "/no"}}, "x": "\"socket\": {}", "n": -1e9, "b": null, "l": [[], {}], "socket": {"token": "t"}}`, "", "t"},
		{`{"s\u006fcket": {"p\u0061th": "/\u0073", "token": "a\\\"b"}}`, "/s", `a\"b`},
		{`{"Socket": {"token": "no"}, "socket": {"Token": "no", "token": "t"}}`, "", "t"},
		{" {\n\t\"x\" : \"\\\\\" ,\r\n \"socket\" : { } } ", "", ""},
	} {
		got, err := socketIn([]byte(test.text))
		if err != nil || got.Path != test.path || got.Token != test.token {
			t.Errorf("%s: %+v, %v", test.text, got, err)
		}
	}
	for _, text := range []string{
		``, `[]`, `null`, `{`, `{"socket"`, `{"socket":`, `{"socket": {`, `{"socket": "x"}`, `{"socket": {"token": 1}}`, `{"socket": {"token": "t}`,
		`{"x": {"socket": {}}}`, `{"x": "\`, `{"x" "socket": {}}`, `"socket"`, strings.Repeat("[", 100_000),
	} {
		if got, err := socketIn([]byte(text)); err == nil {
			t.Errorf("%.40s: %+v", text, got)
		}
	}
}

func TestReadSocket(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.json")
	if _, err := ReadSocket(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := ReadSocket(dir); err == nil {
		t.Error("a folder was read")
	}
	if err := os.WriteFile(path, large(10_000), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadSocket(path); err != nil || got.Path != "/s/sock" || got.Token != "tok" {
		t.Errorf("a large file: %+v, %v", got, err)
	}
	if err := os.Truncate(path, MaxSize+1); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSocket(path); err == nil {
		t.Error("a file that is too large was read")
	}
}

// FuzzSocket: of a document that is read, the short way finds what the long one
// does; of any other text it finds what it finds, and ends.
func FuzzSocket(f *testing.F) {
	for _, row := range edits {
		f.Add(row.old)
	}
	f.Add(`{"version": 1, "socket": {"path": "~/a\u0062", "token": "\"}"}, "x": ["]", {}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		short, wrong := socketIn([]byte(text))
		d, err := Parse("f", []byte(text), home)
		if err != nil {
			return
		}
		if wrong != nil && (d.Socket.Path != "" || d.Socket.Token != "") || wrong == nil && (short.Path != d.Socket.Path || short.Token != d.Socket.Token) {
			t.Fatalf("%+v, %v where it is %+v", short, wrong, d.Socket)
		}
	})
}

// BenchmarkReadSocket10k is what a hook reads of a policy with 10 000 entries
// before its socket.
func BenchmarkReadSocket10k(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f.json")
	d, err := Parse("f", large(10_000), home)
	if err != nil {
		b.Fatal(err)
	}
	text, err := d.Encode()
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := ReadSocket(path); err != nil {
			b.Fatal(err)
		}
	}
}
