package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/config"
)

// alive reports whether a sleep for that long goes on somewhere.
func alive(seconds string) bool {
	return exec.Command("pgrep", "-f", "^sleep "+seconds+"$").Run() == nil
}

// eventually waits until something is so.
func eventually(is func() bool) bool {
	for range 100 {
		if is() {
			return true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}

// dies waits for the end of one.
func dies(seconds string) bool { return eventually(func() bool { return !alive(seconds) }) }

// TestCancelledEarly: a command that is cancelled while its box is made, or at
// any moment after that, does not run on.
func TestCancelledEarly(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		seconds := fmt.Sprint("4", os.Getpid())
		times := 120
		if w.config.Engine == config.Docker {
			times = 12
		}
		for i := range times {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*240*time.Microsecond*120/time.Duration(times))
			_, err := w.Run(ctx, w.config, w.job("sleep", seconds))
			cancel()
			if err == nil {
				t.Error("it ended by itself")
			}
		}
		if !dies(seconds) {
			t.Error("something runs on")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := w.Run(ctx, w.config, w.job("touch", "ran")); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(w.config.Workspace, "ran")); err == nil {
			t.Error("it ran although it was cancelled")
		}
	})
}

// TestEndedEarly ends the session right after a command began.
func TestEndedEarly(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		seconds := fmt.Sprint("5", os.Getpid())
		for range 5 {
			j := w.job("sleep", seconds)
			began := make(chan struct{})
			j.Started = func() { close(began) }
			over := make(chan error)
			go func() {
				_, err := w.Run(t.Context(), w.config, j)
				over <- err
			}()
			<-began
			if !eventually(func() bool { return alive(seconds) }) {
				t.Error("it does not run, or cannot be seen")
			}
			w.End("main")
			if err := <-over; !errors.Is(err, errEnded) {
				t.Error(err)
			}
		}
		if !dies(seconds) {
			t.Error("something runs on")
		}
	})
}

// TestLeavers: what leaves its group ends with the time of its command, and so
// does what stops everybody else.
func TestLeavers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		seconds := fmt.Sprint("6", os.Getpid())
		j := w.job("/bin/sh", "-c", "setsid sleep "+seconds+" >/dev/null 2>&1 & sleep 1000")
		j.Timeout = time.Second
		if got := told(w.Run(t.Context(), w.config, j)); got != "[0] timed out" {
			t.Error(got)
		}
		if !dies(seconds) {
			t.Error("what left its group lives on")
		}
		j = w.job("/bin/sh", "-c", `trap "" TERM; while :; do for p in /proc/[0-9]*; do p=${p#/proc/}; [ $p -le 1 ] || [ $p = $$ ] || kill -STOP $p 2>/dev/null; done; done`)
		j.Timeout = time.Second
		if got := told(w.Run(t.Context(), w.config, j)); got != "[0] timed out" {
			t.Error(got)
		}
		if got := w.sh("echo again"); got != "again\n[0]" {
			t.Errorf("after a box that had to be ended: %q", got)
		}
	})
}

// TestSwapped: what a command can replace is not handed to any box.
func TestSwapped(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		inner := filepath.Join(w.config.Workspace, "deep")
		mount, other := w.config, w.config
		mount.Mounts, other.Workspace = []string{inner}, inner
		if got := told(w.Run(t.Context(), mount, w.job("ls"))); !strings.Contains(got, "could put another folder in its place") {
			t.Error(got)
		}
		j := w.job("ls")
		j.Writable = []string{w.config.Workspace, inner}
		if got := told(w.Run(t.Context(), other, j)); !strings.Contains(got, "could put another folder in its place") {
			t.Error(got)
		}
		j.Writable = []string{w.config.Workspace, w.config.Workspace}
		if got := told(w.Run(t.Context(), w.config, j)); !strings.HasSuffix(got, "[0]") {
			t.Error(got)
		}
	})
}

// TestFull: the memory of a box is bounded, wherever it is written to, and a
// library that comes first changes nothing.
func TestFull(t *testing.T) {
	w := newWorld(t, config.Bubblewrap)
	for _, at := range []string{"/dev/shm/x", "/dev/x", "/tmp/x"} {
		if got := w.sh("dd if=/dev/zero of=" + at + " bs=1M count=100 2>/dev/null; [ $(stat -c %s " + at + " 2>/dev/null || echo 0) -le 67108864 ] && echo bounded"); got != "bounded\n[0]" {
			t.Errorf("%s: %q", at, got)
		}
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("skipped: there is no compiler for the library")
	}
	source := filepath.Join(w.config.Workspace, "first.c")
	must(t, os.WriteFile(source, []byte(`#include <unistd.h>
#include <stdlib.h>
__attribute__((constructor)) static void first(void) { unsetenv("LD_PRELOAD"); execl("/bin/cat", "cat", "/proc/self/limits", (char *)0); }`), 0o644))
	library := filepath.Join(w.config.Workspace, "first.so")
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatal(string(out))
	}
	j := w.job("/bin/true")
	j.Env = map[string]string{"LD_PRELOAD": library}
	if got := strings.Join(strings.Fields(told(w.Run(t.Context(), w.config, j))), " "); !strings.Contains(got, "Max processes 64 64") || !strings.Contains(got, "Max data size 67108864 67108864") {
		t.Error(got)
	}
}

// TestSubmounts: what is mounted below a folder is not in a box with it.
func TestSubmounts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		below := filepath.Join(w.home, "tools/below")
		must(t, os.Mkdir(below, 0o755))
		if out, err := exec.Command("mount", "-t", "tmpfs", "tmpfs", below).CombinedOutput(); err != nil {
			t.Skipf("skipped: nothing can be mounted here: %s", out)
		}
		defer exec.Command("umount", below).Run()
		w.sh("echo changed > " + below + "/f")
		if _, err := os.Stat(filepath.Join(below, "f")); err == nil {
			t.Error("a box wrote to what it may only read")
		}
		w.Close()
	})
}

// TestNoBox: where bubblewrap fails, nothing ran and nothing is said to have
// begun.
func TestNoBox(t *testing.T) {
	w := newWorld(t, config.Bubblewrap)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "bwrap"), []byte("#!/bin/sh\necho 'bwrap: Unknown option --disable-userns' >&2\nexit 1\n"), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	j := w.job("/bin/true")
	j.Started = func() { t.Error("it is said to have begun") }
	if got := told(w.Run(t.Context(), w.config, j)); !strings.Contains(got, "cannot make the sandbox") || !strings.Contains(got, "Unknown option") {
		t.Error(got)
	}
	t.Setenv("PATH", "/nowhere")
	w.End("main")
	if got := told(w.Run(t.Context(), w.config, w.job("/bin/true"))); !strings.Contains(got, "install the package bubblewrap") {
		t.Error(got)
	}
}

// engineOf serves a handler as an engine would listen.
func engineOf(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "cse")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "docker.sock"))
	must(t, err)
	server := httptest.NewUnstartedServer(handler)
	server.Listener.Close()
	server.Listener = l
	server.Start()
	t.Cleanup(server.CloseClientConnections)
	return l.Addr().String()
}

// TestEngines: one that is silent, is none, or has another version is told from
// one that is away.
func TestEngines(t *testing.T) {
	w := newWorld(t, config.Docker)
	silent := engineOf(t, func(http.ResponseWriter, *http.Request) { time.Sleep(time.Hour) })
	other := engineOf(t, func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "teapot", http.StatusTeapot) })
	w.opt.Sockets = []string{filepath.Join(w.home, "away.sock"), silent, other, w.config.Socket}
	w.config.Socket = ""
	if got := w.sh("echo works"); got != "works\n[0]" {
		t.Error(got)
	}
	w.End("main")
	w.opt.Sockets = w.opt.Sockets[:3]
	if got := w.sh("echo works"); !strings.Contains(got, "no Docker engine answers at "+silent) || !strings.Contains(got, other+" is no Docker engine (418") {
		t.Error(got)
	}
	asked := ""
	w.config.Socket = engineOf(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" {
			fmt.Fprint(rw, `{"ApiVersion":"1.52","MinAPIVersion":"1.44"}`)
			return
		}
		asked = r.URL.Path
		http.Error(rw, `{"message":"no such image"}`, http.StatusNotFound)
	})
	if got := w.sh("echo works"); !strings.Contains(got, "docker pull") || asked != "/v1.44/containers/create" {
		t.Error(got, asked)
	}
}

// TestNotRemoved tries again to remove what could not be.
func TestNotRemoved(t *testing.T) {
	w := newWorld(t, config.Docker)
	tries, fails := 0, true
	w.config.Socket = engineOf(t, func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/version":
			fmt.Fprint(rw, `{"ApiVersion":"1.41","MinAPIVersion":"1.12"}`)
		case r.Method == http.MethodDelete:
			if tries++; fails {
				http.Error(rw, `{"message":"busy"}`, http.StatusInternalServerError)
			}
		case strings.HasSuffix(r.URL.Path, "/json") && strings.Contains(r.URL.Path, "/containers/"):
			fmt.Fprint(rw, `[]`)
		case strings.HasSuffix(r.URL.Path, "/exec"):
			http.Error(rw, `{"message":"is not running"}`, http.StatusConflict)
		default:
			fmt.Fprint(rw, `{"Id":"abc"}`)
		}
	})
	if got := w.sh("true"); !strings.Contains(got, "the sandbox of this session is gone") {
		t.Error(got)
	}
	w.Forget(time.Now().Add(-time.Hour))
	if tries < 2 || len(w.left) != 1 {
		t.Error(tries, w.left)
	}
	fails = false
	w.Forget(time.Now().Add(-time.Hour))
	if len(w.left) != 0 {
		t.Error(w.left)
	}
}
