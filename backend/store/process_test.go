//go:build linux || darwin

package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// Tests that need another process start this program again with a name here.
const childVariable = "STORE_TEST_CHILD"

var children = map[string]func(dir string, args []string) error{
	"add":   childAdd,
	"deny":  childDeny,
	"write": childWrite,
	"umask": childUmask,
}

func TestMain(m *testing.M) {
	name := os.Getenv(childVariable)
	if name == "" {
		os.Exit(m.Run())
	}
	if err := children[name](os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), childVariable+"="+name)
	return cmd
}

// A policy file that is not a plain file of ours denies everything and stays.
func TestFilesThatAreNotPlain(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"link": func(path string) error {
			real := path + ".real"
			return errors.Join(os.WriteFile(real, []byte(agent(`"security": "full"`)), 0o600), os.Symlink(real, path))
		},
		"dangling link": func(path string) error { return os.Symlink("nowhere", path) },
		"folder":        func(path string) error { return os.Mkdir(path, 0o700) },
		"pipe":          makePipe,
	} {
		t.Run(name, func(t *testing.T) {
			dir := stateDir(t)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := make(file(dir)); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(file(dir))
			s := open(t, options(dir))
			checkBroken(t, s, "")
			if snap := s.Snapshot(); snap.SocketToken != "" {
				t.Error("a token from nowhere")
			}
			if after, err := os.Lstat(file(dir)); err != nil || after.Mode() != before.Mode() {
				t.Errorf("the file was replaced: %v, %v", after, err)
			}
		})
	}
}

func makePipe(path string) error { return syscall.Mkfifo(path, 0o600) }

// childAdd adds args[1] entries named args[0], and accepts what others add.
func childAdd(dir string, args []string) error {
	return childEdits(options(dir), args, func(d *Document, name string) { d.Add("main", approval.Entry{Pattern: name}) })
}

// childDeny adds rules: an edit that every other process takes.
func childDeny(dir string, args []string) error {
	return childEdits(options(dir), args, func(d *Document, name string) { d.Deny("", approval.DenyRule{Pattern: name}) })
}

func childEdits(o Options, args []string, edit func(*Document, string)) error {
	s, err := Open(o)
	if err != nil {
		return err
	}
	defer s.Close()
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	for i := 0; i < n; {
		// Every second edit says which version it has seen.
		hash := ""
		if i%2 == 0 {
			hash = s.Snapshot().Hash
		}
		_, err := s.Update(hash, func(d *Document) error { edit(d, fmt.Sprintf("/%s/%d", args[0], i)); return nil })
		switch {
		case err == ErrChanged:
		case err == ErrHeld:
			if held := s.Snapshot().Held; held != nil {
				_ = s.Accept(held.Hash) // or another process was faster
			}
		case err != nil:
			return err
		default:
			i++
		}
	}
	return nil
}

func TestProcessesLoseNothing(t *testing.T) {
	for _, how := range []string{"add", "deny"} {
		t.Run(how, func(t *testing.T) {
			dir := stateDir(t)
			open(t, options(dir)).Close()
			const writers, edits = 3, 15
			wait := make(chan error)
			for i := range writers {
				cmd := child(t, how, dir, fmt.Sprint("w", i), fmt.Sprint(edits))
				cmd.Stderr = os.Stderr
				go func() { wait <- cmd.Run() }()
			}
			for range writers {
				if err := <-wait; err != nil {
					t.Error(err)
				}
			}
			d := parse(t, read(t, file(dir)))
			if n := len(d.Defaults.Denylist) + len(d.Agent("main").Allowlist); n != writers*edits {
				t.Errorf("%d edits of %d are there", n, writers*edits)
			}
		})
	}
}

// childWrite edits until it is killed.
func childWrite(dir string, _ []string) error {
	s, err := Open(options(dir))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for i := 0; ; i++ {
		_, err := s.Update("", func(d *Document) error {
			d.Add("main", approval.Entry{Pattern: fmt.Sprintf("/%d/%d", os.Getpid(), i)})
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// Whenever a process is killed, the file is one of the versions that it wrote.
func TestKilledWhileWriting(t *testing.T) {
	dir := stateDir(t)
	o := options(dir)
	for range 8 {
		cmd := child(t, "write", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
		cmd.Process.Kill()
		cmd.Wait()
		parse(t, read(t, file(dir)))
		s := open(t, o) // what was written without being kept is accepted here
		if snap := s.Snapshot(); snap.Broken != nil {
			t.Fatal(snap.Broken)
		}
		s.Close()
		if left := names(dir, "", tempSuffix); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}
}

// childUmask opens a store under a umask that takes every right away.
func childUmask(dir string, _ []string) error {
	syscall.Umask(0o777)
	s, err := Open(options(dir))
	if err != nil {
		return err
	}
	if _, err := s.Update("", func(d *Document) error { return d.Set("main", "ask", "always") }); err != nil {
		return err
	}
	return s.Close()
}

func TestUmask(t *testing.T) {
	dir := filepath.Join(stateDir(t), "deep")
	if out, err := child(t, "umask", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	checkModes(t, dir)
	if got := mode(t, filepath.Dir(dir)); got != folderMode {
		t.Errorf("the folder above has mode %o", got)
	}
}
