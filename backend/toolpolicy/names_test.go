package toolpolicy

import (
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

func TestWild(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true}, {"", "a", false}, {"a", "a", true}, {"a", "A", false}, {"a", "ab", false}, {"a", "ba", false},
		{"*", "", true}, {"*", "a/b", true}, {"a*", "a", true}, {"a*", "ba", false}, {"*a", "ba", true}, {"*a", "ab", false},
		{"a*b*c", "aXbYc", true}, {"a*b*c", "acb", false}, {"**a**", "bab", true}, {"a*a", "a", false},
		{`a\*`, "a*", true}, {`a\*`, "ab", false}, {`a\\`, `a\`, true}, {`a\`, `a\`, true}, {`\*`, "*", true}, {`\**`, "*x", true},
		{"https://a.example/*", "https://a.example/x?y", true}, {"https://a.example/*", "https://a.example.evil/x", false},
		{"日*", "日本", true}, {"?", "a", false},
	} {
		if got := wild(c.pattern, c.s); got != c.want {
			t.Errorf("wild(%q, %q) = %v", c.pattern, c.s, got)
		}
	}
}

func TestNames(t *testing.T) {
	own := func(name string) *approval.Tool { return &approval.Tool{Name: name} }
	of := func(server, name string) *approval.Tool { return &approval.Tool{Server: server, Name: name} }
	for _, c := range []struct {
		pattern string
		tool    *approval.Tool
		want    bool
	}{
		{"file_read", own("file_read"), true}, {"read", own("file_read"), true}, {"bash", own("bash_execute"), true},
		{"file_*", own("file_read"), true}, {"file_*", own("web_fetch"), false}, {"File_read", own("file_read"), false},
		{"group:fs", own("file_delete"), true}, {"group:fs", own("bash_execute"), false}, {"group:web", own("web_fetch"), true},
		{"profile:reader", own("file_write"), false}, {"group:none", own("file_read"), false},
		// A rule for a tool of the agent never means one of a server.
		{"file_read", of("fs", "file_read"), false}, {"file_*", of("fs", "file_read"), false}, {"group:fs", of("fs", "file_read"), false},
		{"fs/file_read", of("fs", "file_read"), true}, {"fs/*", of("fs", "file_read"), true}, {"fs/*", of("fs2", "file_read"), false},
		{"*/delete", of("any", "delete"), true}, {"fs/read", of("fs", "file_read"), false}, {"fs/*", own("file_read"), false},
		{"*", of("fs", "file_read"), true}, {"*", own("x"), true},
	} {
		if got := names(c.pattern, c.tool); got != c.want {
			t.Errorf("names(%q, %s) = %v", c.pattern, c.tool.FullName(), got)
		}
	}
}

func FuzzExactly(f *testing.F) {
	for _, s := range []string{"", "a*b", `\`, `\*`, `**\\`, "日本", "\xff"} {
		f.Add(s, s+"x")
	}
	f.Fuzz(func(t *testing.T, s, other string) {
		if !wild(exactly(s), s) {
			t.Errorf("%q is not matched by its own pattern %q", s, exactly(s))
		}
		if s != other && wild(exactly(s), other) {
			t.Errorf("the pattern of %q matches %q", s, other)
		}
	})
}
