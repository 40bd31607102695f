package paths_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/paths"
)

func TestFind(t *testing.T) {
	tests := []struct {
		name, flag string
		env        map[string]string
		want       string
	}{
		{"default", "", nil, "/home/ann/.openclaw"},
		{"openclaw's variable", "", map[string]string{"OPENCLAW_STATE_DIR": " ~/claw "}, "/home/ann/claw"},
		{"ours goes first", "", map[string]string{"OPENCLAW_STATE_DIR": "/a", "COUNTERSIGN_STATE_DIR": "/b"}, "/b"},
		{"the flag goes before all", "/c/../d", map[string]string{"COUNTERSIGN_STATE_DIR": "/b"}, "/d"},
		{"blank is not set", "", map[string]string{"COUNTERSIGN_STATE_DIR": "  "}, "/home/ann/.openclaw"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			env := func(name string) string {
				if name == "HOME" {
					return "/home/ann"
				}
				return test.env[name]
			}
			got, err := paths.Find(test.flag, env)
			if err != nil || got.Dir != test.want {
				t.Errorf("got %q, %v; want %q", got.Dir, err, test.want)
			}
		})
	}
}

func TestFindNeedsAHome(t *testing.T) {
	for _, home := range []string{"", "relative"} {
		if got, err := paths.Find("", func(string) string { return home }); err == nil {
			t.Errorf("HOME=%q: got %q, want an error", home, got.Dir)
		}
	}
}

// A leftover exec-approvals.json beside OpenClaw's own store makes that
// OpenClaw refuse every command, so ours goes below.
func TestBesideOpenClaw(t *testing.T) {
	dir := t.TempDir()
	if got := paths.At(dir); got.Dir != dir || got.Beside {
		t.Errorf("alone: %+v", got)
	}
	if err := os.MkdirAll(filepath.Join(dir, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "state", "openclaw.sqlite"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := paths.At(dir)
	if want := filepath.Join(dir, "countersign"); got.Dir != want || !got.Beside {
		t.Errorf("beside: %+v, want %s", got, want)
	}
	for _, file := range []string{got.Approvals(), got.Socket(), got.Lock(), got.OperatorKey(), got.History(), got.Backups()} {
		if filepath.Dir(file) != got.Dir {
			t.Errorf("%s is not in %s", file, got.Dir)
		}
	}
}

func TestExpand(t *testing.T) {
	for in, want := range map[string]string{
		"~": "/h", "~/a/b": "/h/a/b", "~ann/a": "~ann/a", "/x/~": "/x/~", "": "",
	} {
		if got := paths.Expand(in, "/h"); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestProject(t *testing.T) {
	there := func(path string) bool {
		return slices.Contains([]string{"/h/work/.git", "/h/work/deps/lib/.git", "/srv/site/.git", "/h/.git", "/.git"}, path)
	}
	deep := "/srv/site" + strings.Repeat("/d", 200)
	for dir, want := range map[string]string{
		"/h/work": "/h/work", "/h/work/a/b": "/h/work", "/h/work/deps/lib/x": "/h/work/deps/lib", "/srv/site/a": "/srv/site",
		"/h/plain/x": "/h/plain/x", "/h/work/../plain": "/h/plain", "/h/work/": "/h/work", "/tmp": "/tmp",
		"/h": "", "/": "", "": "", "work": "", "/h/work/..": "", deep: deep,
	} {
		if got := paths.Project(dir, "/h", there); got != want {
			t.Errorf("in %q the project is %q, want %q", dir, got, want)
		}
	}
}

// What lies in a folder of the system is not the system's everywhere.
func TestOfSystem(t *testing.T) {
	for path, want := range map[string]bool{
		"/usr/bin/git": true, "/bin/sh": true, "/System/Library/CoreServices/x": true, "/Library/Apple/usr/bin/x": true,
		"/usr/local/bin/git": false, "/System/Volumes/Data/Users/ann/git": false, "/System/Volumes/Data/opt/x": false, "/Users/ann/usr/bin/git": false,
	} {
		if got := paths.OfSystem(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
