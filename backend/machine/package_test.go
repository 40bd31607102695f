package machine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	tests := []struct{ path, want string }{
		{"/opt/homebrew/Cellar/ripgrep/14.1.0/bin/rg", "ripgrep 14.1.0"},
		{"/usr/local/Caskroom/tool/2/Tool.app/Contents/MacOS/tool", "tool 2"},
		{"/nix/store/abc123-ripgrep-14.1.0/bin/rg", "ripgrep-14.1.0"},
		{"/opt/homebrew/Cellar/ripgrep/file", ""},
		{"/opt/homebrew/bin/rg", ""},
		{"/usr/bin/rg", ""},
	}
	for _, test := range tests {
		if got := Version(test.path); got != test.want {
			t.Errorf("%s: %q, want %q", test.path, got, test.want)
		}
	}
}

func TestInLists(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.list": "/.\n/opt\n/opt/a/tool\n/opt/a/tool-2\n", "b.list": "/opt/b/last\n", "c.md5sums": "/opt/c/tool\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]bool{
		"/opt/a/tool": true, "/opt/b/last": true, "/opt/a": false, "/opt/a/too": false, "/opt/a/tool-3": false, "/opt/c/tool": false,
	} {
		if got := inLists(dir, path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
	if inLists(filepath.Join(dir, "none"), "/opt/a/tool") {
		t.Error("found in no folder")
	}
}

// What somebody else than root can change, or move away, is nobody's package.
func TestOnlyRoot(t *testing.T) {
	for _, path := range []string{"/usr/bin/env", "/bin/sh"} {
		file, err := look(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := onlyRoot(file), file.UID == 0; got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	mine := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(mine, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := look(mine) // below a folder that everybody can write to
	if err != nil {
		t.Fatal(err)
	}
	if onlyRoot(file) && strings.HasPrefix(mine, "/tmp/") {
		t.Errorf("%s is taken for root's alone", mine)
	}
	file.Path, file.Mode = "/usr/bin/env", file.Mode|0o020
	if onlyRoot(file) {
		t.Error("a file that a group can write to is taken for root's alone")
	}
}

func TestUpgraded(t *testing.T) {
	for _, test := range []struct{ file, changed, want string }{
		{"/home/ann/bin/a", "/home/ann/bin/b", "/home/ann/bin/a"},
		{"/home/ann/bin/a", "/home/ann/bin/sub/b", ""},
		{"/opt/homebrew/Cellar/git/1/bin/git", "/opt/homebrew/Cellar/git/2/libexec/x", "/opt/homebrew/Cellar/git/2/bin/git"},
		{"/opt/homebrew/Cellar/git/1/bin/git", "/opt/homebrew/Cellar/rg/2/bin/rg", ""},
		{"/opt/homebrew/Cellar/git/1/bin/git", "/usr/local/Cellar/git/2/bin/x", ""},
		{"/nix/store/a-git/bin/git", "/nix/store/b-git/libexec/x", ""},
		{"/opt/homebrew/Cellar/git", "/opt/homebrew/Cellar/rg/2/bin/rg", ""},
	} {
		if got := Upgraded(test.file, test.changed); got != test.want {
			t.Errorf("%s, when %s changed: %q, want %q", test.file, test.changed, got, test.want)
		}
	}
}
