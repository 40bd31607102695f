//go:build linux || darwin

package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/paths"
)

// patience is how long a test waits before it gives up.
const patience = time.Minute

// bench is a host on real files, with its real socket, in this process.
type bench struct {
	*Host
	t    *testing.T
	home string
	key  []byte
}

// newBench starts a host that allows these programs, also by what their paths
// lead to, and asks nobody. Names without a slash are scripts of the tests, in
// bin of the home.
func newBench(t *testing.T, allowed ...string) *bench {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "cs") // the socket's path must be short
	must(t, err)
	home, err = filepath.EvalSymlinks(home)
	must(t, err)
	b := &bench{t: t, home: home}
	state := paths.State{Dir: b.path("state")}
	var entries []string
	for _, name := range allowed {
		if !strings.Contains(name, "/") {
			name = b.path("bin/" + name)
		} else if real, err := filepath.EvalSymlinks(name); err == nil && real != name {
			entries = append(entries, fmt.Sprintf(`{"pattern": %q}`, real))
		}
		entries = append(entries, fmt.Sprintf(`{"pattern": %q}`, name))
	}
	must(t, errors.Join(
		os.Mkdir(state.Dir, 0o700), os.Mkdir(b.path("bin"), 0o755), os.Mkdir(b.path("work"), 0o755),
		os.WriteFile(b.path(".profile"), []byte("PATH="+b.path("bin")+":/usr/bin:/bin\n"), 0o600),
		os.WriteFile(state.Approvals(), []byte(`{"version": 1, "socket": {"token": "dG9rZW4tb2YtYS10ZXN0LTAxMjM0NTY3ODk"},
			"defaults": {"security": "allowlist", "ask": "off"}, "agents": {"*": {"allowlist": [`+strings.Join(entries, ", ")+`]}},
			"projects": [{"path": "`+b.path("work")+`"}]}`), 0o600),
	))
	if _, err := exec.LookPath("setsid"); err != nil {
		b.setsid()
	}
	b.Host, err = Start(Options{State: state, Home: home, User: "nobody", Shell: "/bin/sh", Log: slog.New(slog.DiscardHandler), Version: "test"})
	must(t, err)
	b.patience = time.Minute // a busy machine ends programs later
	b.key, err = ReadOperatorKey(state.OperatorKey())
	must(t, err)
	t.Cleanup(func() {
		b.Host.Close()
		os.RemoveAll(home)
	})
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.home, name) }

// setsid makes the program of that name, which macOS lacks, of one thread: the
// kernel gives back one of several threads only when the last of them has ended.
func (b *bench) setsid() {
	b.t.Helper()
	text := "#!/usr/bin/perl\nuse POSIX;\nfork and exit if getpgrp == $$;\nPOSIX::setsid();\nexec @ARGV;\n"
	must(b.t, os.WriteFile(b.path("bin/setsid"), []byte(text), 0o755))
}

// script makes a program in bin.
func (b *bench) script(name, text string) {
	b.t.Helper()
	at := b.path("bin/" + name)
	must(b.t, os.WriteFile(at+".new", []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	must(b.t, os.Rename(at+".new", at))
}

// answer is what came of a command: what the host says, or its refusal.
type answer struct {
	ipc.ExecAnswer
	refused *ipc.Error
	err     error
}

// String is the answer in one line.
func (a answer) String() string {
	switch {
	case a.refused != nil:
		return "refused " + string(a.refused.Reason)
	case a.err != nil:
		return "lost"
	case a.TimedOut:
		return "timed out"
	case a.ExitCode == nil:
		return "ended: " + a.Error
	}
	return fmt.Sprintf("code %d", *a.ExitCode)
}

// ask sends a request on a connection of its own, which ends with ctx.
func (b *bench) ask(ctx context.Context, req approval.Request) answer {
	c, err := ipc.Dial(b.opt.State)
	if err != nil {
		return answer{err: err}
	}
	defer c.Close()
	got, err := c.Exec(ctx, b.store.Snapshot().SocketToken, ipc.Exec{Request: req})
	a := answer{ExecAnswer: got, err: err}
	errors.As(err, &a.refused)
	return a
}

// text is a request for bash -c.
func (b *bench) text(text string) approval.Request {
	return approval.Request{Command: []string{"bash", "-c", text}, Cwd: b.path("work"), AgentID: "main"}
}

// call calls a method with the operator key.
func (b *bench) call(method string, params, out any) error {
	c, err := ipc.Dial(b.opt.State)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return c.Call(ctx, b.key, method, params, out)
}

// serves expects that others are served, by a plain command, a text and a call.
func (b *bench) serves(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	other := approval.Request{Command: []string{"/bin/echo", "plain"}, Cwd: b.home, AgentID: "other"}
	if got := b.ask(ctx, other); !got.Success || got.Stdout != "plain\n" {
		t.Errorf("another agent got %v %+v", got, got)
	}
	other.Command = []string{"bash", "-c", "x=$(echo text | cat) && echo $x"}
	if got := b.ask(ctx, other); !got.Success || got.Stdout != "text\n" {
		t.Errorf("another agent got %v %+v", got, got)
	}
	if err := b.call("status", nil, nil); err != nil {
		t.Errorf("status: %v", err)
	}
}

func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited too long until %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
