package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMain makes the test binary the program that go test starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "enter" {
		main()
	}
	os.Exit(m.Run())
}

// A test that a Mac would fail fails in the room, and what a Mac does not
// compile does not run there.
func TestPlanted(t *testing.T) {
	if why := unable(); why != nil {
		t.Skip("skipped:", why)
	}
	for only, want := range map[string]int{"^TestMistake$": 1, "^TestRight$": 0, "^Test(Right|OfLinux)$": 0, "": 1} {
		var out bytes.Buffer
		code, err := run(&out, only, "", []string{"./testdata/planted"})
		if code != want || err != nil {
			t.Errorf("-run=%s ends with %d, %v, want %d:\n%s", only, code, err, want, &out)
		}
		if closing := map[int]string{0: "ok  \t", 1: "FAIL\t"}[want] + "github.com/"; !strings.Contains(out.String(), closing) {
			t.Errorf("-run=%s has no line of the package:\n%s", only, &out)
		}
	}
}

// What is in the room, as a shell in it says.
func TestLayout(t *testing.T) {
	if why := unable(); why != nil {
		t.Skip("skipped:", why)
	}
	room := t.TempDir()
	if err := furnish(room); err != nil {
		t.Fatal(err)
	}
	module, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	args, env, err := layout(room, module)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"pwd -P":            "/private" + tmpdir,
		"cd ~ && pwd -P":    home,
		"cd /tmp && pwd -P": "/private/tmp",
		"for p in cat env; do command -v $p; done":                                                                   "/bin/cat\n/usr/bin/env",
		"for p in setsid timeout nproc flock busybox stdbuf; do command -v $p; done":                                 "",
		"for p in /bin/true /bin/false /bin/env /usr/bin/cat /usr/bin/sh /usr/bin/ls /bin/grep; do ls $p 2>&-; done": "",
		"id -un":        "dana",
		"go env GOROOT": toolkit,
		"find / /private /Users -maxdepth 0 -perm 755":                                                "/\n/private\n/Users",
		"test -r /proc/self/stat && test -w /dev/null && test -f " + checkout + "/go.mod && echo all": "all",
	} {
		cmd := exec.Command("bwrap", append(slices.Clone(args), "--chdir", tmpdir, "--", "sh", "-c", text)...)
		cmd.Env = env
		out, _ := cmd.Output()
		if got := strings.TrimSpace(string(out)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// The tables name tests that there are.
func TestTables(t *testing.T) {
	type row struct{ folder, test string }
	var rows []row
	for _, a := range artefacts {
		rows = append(rows, row{a.folder, a.test})
	}
	for folder, names := range stopped {
		for name := range strings.FieldsSeq(names) {
			rows = append(rows, row{folder, name})
		}
	}
	for _, r := range rows {
		name, _, _ := strings.Cut(r.test, "/")
		if there, err := tests(filepath.Join("../..", r.folder), "darwin"); err != nil || !slices.Contains(there, name) {
			t.Errorf("%s has no %s: %v", r.folder, name, err)
		}
	}
}

func TestPattern(t *testing.T) {
	if got, want := pattern([]string{"TestA", "TestB/one.two"}), `^TestA$|^TestB$/^one\.two$`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
