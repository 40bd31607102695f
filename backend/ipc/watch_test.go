//go:build linux || darwin

package ipc

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestWatch does to a host what another program of the user can do, and asks it
// then as a client would.
func TestWatch(t *testing.T) {
	lockOf := func(socket string) string { return socket + ".lifecycle.lock" }
	for _, row := range []struct {
		name string
		do   func(t *testing.T, socket string)
		want string
	}{
		{"the socket removed", func(t *testing.T, socket string) { must(t, os.Remove(socket)) }, "proven"},
		{"the socket moved away", func(t *testing.T, socket string) { must(t, os.Rename(socket, socket+".x")) }, "proven"},
		{"a plain file in its place", func(t *testing.T, socket string) {
			must(t, os.Remove(socket))
			must(t, os.WriteFile(socket, nil, 0o600))
		}, "proven"},
		{"a link in its place", func(t *testing.T, socket string) {
			must(t, os.Rename(socket, socket+".x"))
			must(t, os.Symlink(socket+".x", socket))
		}, "proven"},
		{"another host's socket in its place", func(t *testing.T, socket string) {
			other := filepath.Join(shortDir(t), "s", "exec-approvals.sock")
			startStill(t, other)
			must(t, os.Rename(other, socket))
		}, "proven"},
		{"a folder in its place", func(t *testing.T, socket string) {
			must(t, os.Remove(socket))
			must(t, os.Mkdir(socket, 0o700))
		}, "silent"},
		{"the lock removed", func(t *testing.T, socket string) { must(t, os.Remove(lockOf(socket))) }, "proven"},
		{"an empty lock in its place", func(t *testing.T, socket string) {
			must(t, os.Remove(lockOf(socket)))
			must(t, os.WriteFile(lockOf(socket), nil, 0o600))
		}, "proven"},
		{"socket and lock removed", func(t *testing.T, socket string) {
			must(t, os.Remove(socket))
			must(t, os.Remove(lockOf(socket)))
		}, "proven"},
		{"the folder moved away", func(t *testing.T, socket string) {
			must(t, os.Rename(filepath.Dir(socket), filepath.Dir(socket)+".x"))
		}, "absent"},
		{"the folder moved and copied", func(t *testing.T, socket string) {
			dir := filepath.Dir(socket)
			must(t, os.Rename(dir, dir+".x"))
			must(t, os.Mkdir(dir, 0o700))
			for _, path := range []string{socket, lockOf(socket)} {
				must(t, os.Link(filepath.Join(dir+".x", filepath.Base(path)), path))
			}
		}, "silent"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			socket, _ := startHost(t)
			if got := proven(socket); got != "proven" {
				t.Fatalf("before: %s", got)
			}
			row.do(t, socket)
			var got string
			eventually(t, row.want, func() bool {
				got = proven(socket)
				return strings.HasPrefix(got, row.want)
			})
		})
	}
}

// kept is a log that a test reads.
type kept struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *kept) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *kept) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// watched starts a server that looks often, with its log and how it ends.
func watched(t *testing.T) (s *Server, log *kept, ended chan error) {
	t.Helper()
	log, ended = &kept{}, make(chan error, 1)
	o := testOptions(shortDir(t), handler{exec: echo})
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	s, err := Listen(o)
	must(t, err)
	t.Cleanup(s.Close)
	s.watcher.every = time.Millisecond
	go func() { ended <- s.Serve(context.Background()) }()
	return s, log, ended
}

// Who removes the socket again and again costs a bounded number of repairs and
// of lines in the log, and the person is told.
func TestWatchIsBounded(t *testing.T) {
	s, log, _ := watched(t)
	s.mu.Lock()
	path := s.sockets[0].path
	s.mu.Unlock()
	for range maxMends {
		must(t, os.Remove(path))
		eventually(t, "it is there again", func() bool { _, err := os.Lstat(path); return err == nil })
	}
	must(t, os.Remove(path))
	eventually(t, "it is told", func() bool {
		told := s.Troubles()
		return len(told) == 1 && strings.Contains(told[0], "again and again") && strings.Contains(told[0], filepath.Dir(path))
	})
	time.Sleep(20 * time.Millisecond) // many looks later
	if _, err := os.Lstat(path); err == nil {
		t.Error("it was put back all the same")
	}
	if n := strings.Count(log.String(), "\n"); n != maxMends+1 {
		t.Errorf("%d lines in the log, want %d", n, maxMends+1)
	}
}

// A host whose folder was moved answers nobody any more, also not who was
// connected before, and says why.
func TestWatchEndsWithItsFolder(t *testing.T) {
	s, _, ended := watched(t)
	p := connect(t, s)
	if got := p.ask(execLine(good)); !strings.Contains(got, `"ok":true`) {
		t.Fatal(got)
	}
	dir := filepath.Dir(s.sockets[0].path)
	must(t, os.Rename(dir, dir+".x"))
	select {
	case err := <-ended:
		if !errors.Is(err, errMoved) {
			t.Error(err)
		}
	case <-time.After(generous):
		t.Fatal("it goes on")
	}
	if got := p.line(); got != closed {
		t.Errorf("it says %q", got)
	}
	if told := s.Troubles(); len(told) != 1 || told[0] != errMoved.Error() {
		t.Errorf("%q", told)
	}
}

// Of two hosts of one folder, which only a removed lock makes possible, the older
// one stays.
func TestWatchOlderHostStays(t *testing.T) {
	socket, older := startHost(t)
	must(t, older.Process.Signal(syscall.SIGSTOP)) // else there is no time for a second one
	t.Cleanup(func() { older.Process.Signal(syscall.SIGCONT) })
	must(t, os.Remove(socket))
	must(t, os.Remove(socket+".lifecycle.lock"))
	startHostAt(t, socket, "")
	must(t, older.Process.Signal(syscall.SIGCONT))
	eventually(t, "the older host holds the lock", func() bool {
		pid, err := lockHolder(socket + ".lifecycle.lock")
		return err == nil && pid == older.Process.Pid
	})
	eventually(t, "the older host is asked", func() bool {
		c, err := dialAt(socket)
		if err != nil {
			return false
		}
		defer c.Close()
		return c.at.pid == older.Process.Pid
	})
	time.Sleep(2 * watchEvery) // the younger one does not take it back
	if pid, err := lockHolder(socket + ".lifecycle.lock"); err != nil || pid != older.Process.Pid {
		t.Errorf("%d holds the lock (%v), want %d", pid, err, older.Process.Pid)
	}
}
