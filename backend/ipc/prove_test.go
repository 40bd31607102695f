//go:build linux || darwin

package ipc

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/paths"
)

// TestProve puts hosts and what only looks like one where a client asks.
func TestProve(t *testing.T) {
	other := filepath.Join(shortDir(t), "other")
	copyExe(t, other) // before anything else is started, which would keep it open
	for _, row := range []struct {
		name string
		make func(t *testing.T, socket string)
		want string // the word, and what the reason says
		says string
	}{
		{"a host", func(t *testing.T, socket string) { startStill(t, socket) }, "proven", ""},
		{"nobody", func(*testing.T, string) {}, "absent", ""},
		{"a dead socket", func(t *testing.T, socket string) {
			host := startStill(t, socket)
			host.Process.Kill()
			host.Process.Wait()
		}, "absent", ""},
		{"a lock that is held, and no socket", func(t *testing.T, socket string) {
			startStill(t, socket)
			must(t, os.Remove(socket))
		}, "silent", ""},
		{"a plain file", func(t *testing.T, socket string) { must(t, os.WriteFile(socket, nil, 0o600)) }, "unproven", "something else"},
		{"our program, which is no host", trapAt, "unproven", "lock"},
		{"another program, which holds the lock", func(t *testing.T, socket string) {
			startHostAt(t, socket, other)
		}, "unproven", `other", and this is`},
		{"the socket of another folder's host", func(t *testing.T, socket string) {
			other := filepath.Join(shortDir(t), "s", "exec-approvals.sock")
			startStill(t, other)
			must(t, os.Rename(other, socket))
		}, "unproven", "lock"},
		{"a link to the socket of another folder's host", func(t *testing.T, socket string) {
			other := filepath.Join(shortDir(t), "s", "exec-approvals.sock")
			startStill(t, other)
			must(t, os.Symlink(other, socket))
		}, "unproven", "something else"},
		{"socket and lock of another folder's host", func(t *testing.T, socket string) {
			other := filepath.Join(shortDir(t), "s", "exec-approvals.sock")
			startStill(t, other)
			must(t, os.Rename(other, socket))
			must(t, os.Rename(other+".lifecycle.lock", socket+".lifecycle.lock"))
		}, "silent", "another state folder"},
		{"second names of socket and lock of another folder's host", func(t *testing.T, socket string) {
			other := filepath.Join(shortDir(t), "s", "exec-approvals.sock")
			startStill(t, other)
			must(t, os.Link(other, socket))
			must(t, os.Link(other+".lifecycle.lock", socket+".lifecycle.lock"))
		}, "silent", "another state folder"},
		{"a folder that took the place of the host's", func(t *testing.T, socket string) {
			startStill(t, socket)
			dir := filepath.Dir(socket)
			must(t, os.Rename(dir, dir+".old"))
			must(t, os.Mkdir(dir, 0o700))
			must(t, os.Rename(dir+".old/exec-approvals.sock", socket))
			must(t, os.Rename(dir+".old/exec-approvals.sock.lifecycle.lock", socket+".lifecycle.lock"))
		}, "silent", "another state folder"},
		{"another socket in the place of the host's", func(t *testing.T, socket string) {
			startStill(t, socket)
			other := filepath.Join(shortDir(t), "s", "exec-approvals.sock")
			startStill(t, other)
			must(t, os.Rename(other, socket))
		}, "silent", "lock"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			socket := filepath.Join(shortDir(t), "s", "exec-approvals.sock")
			must(t, os.Mkdir(filepath.Dir(socket), 0o700))
			row.make(t, socket)
			if got := proven(socket); !strings.HasPrefix(got, row.want) || !strings.Contains(got, row.says) {
				t.Errorf("%s, want %s: …%s", got, row.want, row.says)
			}
		})
	}
}

// startStill starts a host that puts back nothing.
func startStill(t *testing.T, socket string) *exec.Cmd {
	t.Helper()
	return startTask(t, task{Host: true, Still: true, Socket: socket}, "")
}

// trapAt has our own program listen, and expects at the end that it was told
// nothing.
func trapAt(t *testing.T, socket string) {
	t.Helper()
	cmd := helperCommand(t, task{Trap: true, Socket: socket})
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	in := bufio.NewReader(out)
	if line, err := in.ReadString('\n'); line != "listening\n" {
		t.Fatalf("%q %v", line, err)
	}
	t.Cleanup(func() {
		if rest, _ := io.ReadAll(in); len(rest) > 0 {
			t.Errorf("it was told %q", rest)
		}
		cmd.Wait()
	})
}

// A host that does not move is none that is absent.
func TestProveSilent(t *testing.T) {
	socket, host := startHost(t)
	must(t, host.Process.Signal(syscall.SIGSTOP))
	t.Cleanup(func() { host.Process.Signal(syscall.SIGCONT) })
	p := place{state: paths.State{Dir: filepath.Dir(socket)}, wait: 50 * time.Millisecond}
	if _, err := p.try(); !errors.Is(err, ErrSilent) {
		t.Errorf("%v", err)
	}
}

// After an upgrade the host runs a file without a name, and the client its
// successor; or the other way round.
func TestProveReplaced(t *testing.T) {
	dir := shortDir(t)
	program, socket := filepath.Join(dir, "countersign"), filepath.Join(dir, "s", "exec-approvals.sock")
	copyExe(t, program)
	startHostAt(t, socket, program)
	ask := func(name string) string {
		out := filepath.Join(dir, name)
		client, err := task{Prove: out, Exe: program}.start(socket)
		must(t, err)
		must(t, client.Wait())
		text, err := os.ReadFile(out)
		must(t, err)
		return string(text)
	}
	if got := ask("before"); got != "proven" {
		t.Errorf("before: %s", got)
	}
	copyExe(t, program+".new")
	must(t, os.Rename(program+".new", program))
	if got := ask("after"); !strings.HasPrefix(got, "replaced: ") || !strings.Contains(got, "restart Countersign") {
		t.Errorf("after: %s", got)
	}
}

// Somebody has Countersign from two packages: the host runs the program of one,
// the command line is that of the other. It does not ask, whether the other one
// has the same bytes or not; what it says names both, and what to do. The door
// refuses it too, would it ask all the same.
func TestProveTwoPackages(t *testing.T) {
	for _, different := range []bool{false, true} {
		dir := shortDir(t)
		app, line := filepath.Join(dir, "app"), filepath.Join(dir, "line")
		copyExe(t, app)
		copyExe(t, line)
		if different {
			if !subreapers {
				break // macOS runs no program whose bytes are not those that were signed
			}
			f, err := os.OpenFile(line, os.O_WRONLY|os.O_APPEND, 0)
			must(t, err)
			_, err = f.WriteString("another version")
			must(t, errors.Join(err, f.Close()))
		}
		socket := filepath.Join(dir, "s", "exec-approvals.sock")
		startHostAt(t, socket, app)
		tell := func(k task) string {
			k.Dir = dir
			p, err := k.start(socket)
			must(t, err)
			must(t, p.Wait())
			name := filepath.Join(dir, "out")
			text, err := os.ReadFile(name)
			must(t, errors.Join(err, os.Remove(name)))
			return string(text)
		}
		if got := tell(task{Prove: filepath.Join(dir, "out"), Exe: app}); got != "proven" {
			t.Errorf("the command line of the same package: %s", got)
		}
		got := tell(task{Prove: filepath.Join(dir, "out"), Exe: line})
		for _, says := range []string{app, line, "remove the other"} {
			if !strings.HasPrefix(got, "unproven: ") || !strings.Contains(got, says) {
				t.Errorf("the command line of another package: %s, want %s", got, says)
			}
		}
		must(t, os.WriteFile(filepath.Join(dir, "out.go"), nil, 0o600))
		if got := tell(task{Operate: "out", Exe: line}); !strings.Contains(got, "own program") {
			t.Errorf("it operates: %s", got)
		}
	}
}

func TestSamePlace(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want bool
	}{
		{"/usr/bin/countersign", "/usr/bin/countersign (deleted)", true},
		{"/usr/bin/countersign", "/usr/bin/countersign2 (deleted)", false},
		{"/usr/bin/countersign", "/usr/local/bin/countersign", false},
		{"/opt/homebrew/Cellar/countersign/1.4/bin/countersign", "/opt/homebrew/Cellar/countersign/1.3/bin/countersign (deleted)", true},
		{"/opt/homebrew/Cellar/countersign/1.4/bin/countersign", "/opt/homebrew/Cellar/other/1.3/bin/countersign", false},
		{"/opt/homebrew/Cellar/countersign/1.4/bin/countersign", "/opt/homebrew/Cellar/countersign/1.3/bin/else", false},
		{"/opt/homebrew/Cellar/countersign", "/opt/homebrew/Cellar/countersign (deleted)", true},
		{"/home/dana/a", "/home/dana/b", false},
	} {
		if got := samePlace(row.a, row.b); got != row.want {
			t.Errorf("%s, %s: %v", row.a, row.b, got)
		}
	}
}

// TestAlso: where the policy leads clients of others to another socket, ours find
// their host in the state folder all the same.
func TestAlso(t *testing.T) {
	dir := shortDir(t)
	o := testOptions(dir, handler{exec: echo})
	o.Also = filepath.Join(dir, "else", "sock")
	s := serve(t, o)
	dialServer(t, s)
	for _, path := range []string{o.Path, o.Also} {
		c, err := dialAny(path)
		must(t, err)
		if _, err := c.Exec(t.Context(), testToken, command("ls")); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		c.Close()
	}
	s.Close()
	for _, path := range []string{o.Path, o.Also} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s stays", path)
		}
	}
}
