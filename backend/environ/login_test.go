//go:build linux || darwin

package environ

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/proc"
)

// startUp is a start-up file in the words that sh, bash and zsh share.
const startUp = `
echo "Welcome! KEY=noise"
printf 'HOME=/noise\0'
export FROM_STARTUP="it's \"here\"" EMPTY= NL="a
B=b
" UMLAUT=zażółć PATH="$HOME/bin:$PATH"
export LD_LIBRARY_PATH=/x BASH_ENV=/x
f() { :; }
`

// home makes a home folder whose start-up files hold text.
func home(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{".profile", ".bash_profile", ".zprofile"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// script makes a program that stands in for a shell: sh would be called with
// -ilc and the text, so $2 is the text.
func script(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shell")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestLoginShells(t *testing.T) {
	t.Setenv("XDG_TEST", "from the session")
	t.Setenv("LC_TEST", "from the session")
	t.Setenv("SOMETHING_ELSE", "of ours")
	for _, name := range []string{"/bin/sh", "bash", "zsh"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			shell, err := exec.LookPath(name)
			if err != nil {
				t.Skipf("skipped: %v", err)
			}
			dir := home(t, startUp)
			b, err := Login(t.Context(), shell, dir, "somebody")
			if err != nil {
				t.Fatal(err)
			}
			want := vars{
				"FROM_STARTUP": `it's "here"`, "EMPTY": "", "NL": "a\nB=b\n", "UMLAUT": "zażółć",
				"HOME": dir, "USER": "somebody", "LOGNAME": "somebody", "SHELL": shell, "TERM": "dumb",
				"XDG_TEST": "from the session", "LC_TEST": "from the session",
			}
			for name, want := range want {
				if got, ok := b.Get(name); !ok || got != want {
					t.Errorf("%s is %q, %v; want %q", name, got, ok, want)
				}
			}
			for _, name := range []string{"KEY", "B", "f", "LD_LIBRARY_PATH", "BASH_ENV", "SOMETHING_ELSE", "_", "PWD"} {
				if value, ok := b.Get(name); ok {
					t.Errorf("%s is %q", name, value)
				}
			}
			if first := b.Path()[0]; first != filepath.Join(dir, "bin") {
				t.Errorf("PATH begins with %q", first)
			}
		})
	}
}

func TestLoginScripts(t *testing.T) {
	const run = `exec /bin/sh -c "$2"` + "\n"
	for _, c := range []struct {
		about, text string
		says        string // of the error; empty for none
	}{
		{"noise around", "echo noise\nA=1; export A\n/bin/sh -c \"$2\"\necho noise\nexit 3\n", ""},
		{"no newline before", "printf 'A=2\\nnoise'\nexport A=1\n" + run, ""},
		{"a background child holds the output", "sleep 20 & echo $! >\"$HOME/pid\"\nexport A=1\n" + run, ""},
		{"a child in another session holds it", "(setsid sleep 20 || sleep 20) & echo $! >\"$HOME/pid\"\nexport A=1\n" + run, ""},
		{"prints nothing", "exit 0\n", "did not print"},
		{"fails", "echo no >&2; exit 7\n", "exit status 7"},
		{"prints half", "export A=1\n/bin/sh -c \"$2\" | head -c 40\n", "did not print"},
		{"cannot print an environment", "exec /usr/bin/env -i /bin/sh -c 'echo no'\n", "did not print"},
		{"prints too much", "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy || exit; done\n", "cannot read"},
	} {
		t.Run(c.about, func(t *testing.T) {
			dir := t.TempDir()
			b, err := Login(t.Context(), script(t, c.text), dir, "me")
			endChild(t, filepath.Join(dir, "pid"))
			if c.says == "" {
				if value, _ := b.Get("A"); err != nil || value != "1" {
					t.Errorf("A is %q, %v", value, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not say %q", err, c.says)
			}
			if b.vars != nil {
				t.Error("an error, and yet a base")
			}
		})
	}
}

// endChild ends what a script left behind on purpose.
func endChild(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if list, err := proc.All(); err == nil {
		for _, p := range proc.Descendants(pid, list) {
			signalKill(p.PID)
		}
	}
	signalKill(pid)
}

func signalKill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

// TestLoginEndsWhatHangs wants an error soon after the context is done, and
// nothing of the shell's group left.
func TestLoginEndsWhatHangs(t *testing.T) {
	dir := t.TempDir()
	shell := script(t, "sleep 60 & echo $$ $! >\"$HOME/new\"\nmv \"$HOME/new\" \"$HOME/pids\"\nwait\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pids := make(chan string, 1)
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if text, err := os.ReadFile(filepath.Join(dir, "pids")); err == nil {
				pids <- string(text)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	_, err := Login(ctx, shell, dir, "me")
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "start-up files") {
		t.Fatalf("%v", err)
	}
	for _, word := range strings.Fields(<-pids) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			info, err := proc.Stat(pid)
			if err != nil || info.Zombie {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("process %d still runs", pid)
			}
		}
	}
}

// TestLoginHasNoTerminal looks at the session in which the shell runs.
func TestLoginHasNoTerminal(t *testing.T) {
	dir := t.TempDir()
	b, err := Login(t.Context(), script(t, `
if (: </dev/tty) 2>/dev/null; then export TTY=there; else export TTY=none; fi
if read -r line; then export INPUT=there; else export INPUT=none; fi
export SHELL_PID=$$
sid=$(ps -o sid= -p $$ 2>/dev/null) && export SID=$(echo $sid)
exec /bin/sh -c "$2"
`), dir, "me")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"TTY", "INPUT"} {
		if value, _ := b.Get(name); value != "none" {
			t.Errorf("%s is %q", name, value)
		}
	}
	pid, _ := b.Get("SHELL_PID")
	if sid, ok := b.Get("SID"); ok && sid != pid {
		t.Errorf("session %s, want its own %s", sid, pid)
	}
}

func TestLoginNeedsAbsolutePaths(t *testing.T) {
	for _, c := range [][2]string{{"", "/"}, {"sh", "/"}, {"/bin/sh", ""}, {"/bin/sh", "me"}, {"/nonexistent", "/"}, {"/bin/sh", "/nonexistent"}} {
		if b, err := Login(t.Context(), c[0], c[1], "me"); err == nil || b.vars != nil {
			t.Errorf("shell %q, home %q: %v", c[0], c[1], err)
		}
	}
}

// FuzzParse asks that a printed environment is read back whatever stands
// around it, and that nothing makes the reader fail otherwise.
func FuzzParse(f *testing.F) {
	const item, end = "ITEMMARK", "ENDMARK"
	f.Add([]byte("noise"), "A=1", "B=a\nb", []byte("bye"))
	f.Add([]byte(""), "", "=", []byte("ENDMARK"))
	f.Add([]byte("x ITEMMARKA=1"), "A", "B", []byte("ITEMMARK"))
	f.Fuzz(func(t *testing.T, before []byte, a, b string, after []byte) {
		_, _ = parse(before, item, end)
		_ = FromProcess([]string{a, b})
		printed := item + a + item + b + end
		if bytes.Contains(before, []byte("MARK")) || strings.Contains(a+b, "MARK") ||
			strings.Count(string(before)+printed, item) != 2 || strings.Count(string(before)+printed, end) != 1 {
			return
		}
		got, err := parse(slices.Concat(before, []byte(printed), after), item, end)
		if err != nil || !slices.Equal(got, []string{a, b}) {
			t.Errorf("%q and %q between %q and %q: %q, %v", a, b, before, after, got, err)
		}
		if _, err := parse(append(before, strings.TrimSuffix(printed, end)...), item, end); err == nil {
			t.Error("read, though it does not end")
		}
	})
}
