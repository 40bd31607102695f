//go:build linux || darwin

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/proc"
)

// patience is how long a test waits before it gives up. Nothing takes that
// long unless it hangs.
const patience = 30 * time.Second

// world is one person's home with a state folder in it, and its host.
type world struct {
	home  string
	state paths.State
	log   string // what hosts say
	host  *process
}

// newWorld makes a home. The state folder does not exist yet.
func newWorld(home string) (*world, error) {
	w := &world{home: home, state: paths.State{Dir: filepath.Join(home, ".openclaw")}, log: filepath.Join(home, "host.log")}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	return w, os.WriteFile(filepath.Join(home, ".profile"), []byte("PATH=/usr/local/bin:/usr/bin:/bin\n"), 0o600)
}

// world makes a home for a test and ends its host with the test.
func testWorld(t *testing.T) *world {
	t.Helper()
	w, err := newWorld(shortDir(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.end(syscall.SIGTERM)
		if t.Failed() {
			log, _ := os.ReadFile(w.log)
			t.Logf("the hosts said:\n%s", log)
		}
	})
	return w
}

// shortDir is a folder with a short name: a socket's path has 107 bytes at
// most.
func shortDir(t testing.TB) string {
	dir, err := os.MkdirTemp("/tmp", "cs")
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // /tmp is a link on macOS
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// env is the environment of everything in this world.
func (w *world) env() []string {
	return []string{"HOME=" + w.home, "SHELL=/bin/sh", "PATH=" + os.Getenv("PATH"), "GORACE=" + os.Getenv("GORACE")}
}

// policy writes the policy file before the first host starts.
func (w *world) policy(t *testing.T, text string) {
	t.Helper()
	if err := errors.Join(os.Mkdir(w.state.Dir, 0o700), os.WriteFile(w.state.Approvals(), []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// process is a program that was started and is waited for.
type process struct {
	*exec.Cmd
	over chan struct{}
}

func start(cmd *exec.Cmd) (*process, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd, make(chan struct{})}
	go func() {
		defer close(p.over)
		p.Wait()
	}()
	return p, nil
}

func (p *process) isOver() bool {
	select {
	case <-p.over:
		return true
	default:
		return false
	}
}

// end sends a signal and waits.
func (p *process) end(sig syscall.Signal) {
	p.Process.Signal(sig)
	select {
	case <-p.over:
	case <-time.After(patience):
		p.Process.Kill()
		<-p.over
	}
}

// start starts a host with questions for the command line, and waits until it
// answers.
func (w *world) start(flags ...string) error {
	return w.startHost(nil, append([]string{"host", "run", "--ask=command-line", "--operate=anyone"}, flags...)...)
}

func (w *world) startHost(terminal *os.File, words ...string) error {
	log, err := os.OpenFile(w.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := w.command(words...)
	cmd.Stdout, cmd.Stderr = log, log
	if terminal != nil {
		cmd.Stdin = terminal
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	if w.host, err = start(cmd); err != nil {
		return err
	}
	if !eventually(func() bool { return w.answers() || w.host.isOver() }) || w.host.isOver() {
		said, _ := os.ReadFile(w.log)
		return fmt.Errorf("the host does not answer:\n%s", said)
	}
	return nil
}

func (w *world) end(sig syscall.Signal) {
	if w.host != nil {
		w.host.end(sig)
	}
}

// command is our command line, to be run as the person.
func (w *world) command(words ...string) *exec.Cmd {
	return w.program("countersign", words...)
}

// asks is `countersign run` in a terminal of its own, as an agent's would be.
func (w *world) asks(words ...string) *exec.Cmd {
	return inTerminal(w.command(append([]string{"run"}, words...)...))
}

// inTerminal has a command lead a session with a terminal of its own: else the
// test would be of the family that asks.
func inTerminal(cmd *exec.Cmd) *exec.Cmd {
	cmd, err := approvaltest.InTerminal(cmd)
	if err != nil {
		panic(err)
	}
	return cmd
}

func (w *world) program(name string, words ...string) *exec.Cmd {
	cmd := exec.Command(name, words...)
	cmd.Dir, cmd.Env = w.home, w.env()
	return cmd
}

// must runs our command line and returns what it printed.
func (w *world) must(t *testing.T, words ...string) string {
	t.Helper()
	cmd := w.command(words...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("countersign %s: %v\n%s%s", strings.Join(words, " "), err, out, stderr.Bytes())
	}
	return string(out)
}

// json runs our command line with --json and decodes what it printed.
func (w *world) json(t *testing.T, into any, words ...string) {
	t.Helper()
	if err := json.Unmarshal([]byte(w.must(t, append([]string{"--json"}, words...)...)), into); err != nil {
		t.Fatalf("countersign %s: %v", strings.Join(words, " "), err)
	}
}

// questions waits until so many questions are open, and returns them.
func (w *world) questions(n int) ([]approval.Prompt, error) {
	var open []approval.Prompt
	var err error
	if !eventually(func() bool {
		var out []byte
		if out, err = w.command("--json", "approvals", "pending").Output(); err == nil {
			open = nil
			err = json.Unmarshal(out, &open)
		}
		return err == nil && len(open) == n
	}) {
		return nil, fmt.Errorf("%d questions wait where %d were expected (last error: %v)", len(open), n, err)
	}
	return open, nil
}

func (w *world) mustQuestions(t *testing.T, n int) []approval.Prompt {
	t.Helper()
	open, err := w.questions(n)
	if err != nil {
		t.Fatal(err)
	}
	return open
}

// waiting counts the questions for whose answers somebody waits.
func (w *world) waiting(t *testing.T) int {
	t.Helper()
	var open []approval.Prompt
	w.json(t, &open, "approvals", "pending")
	return len(slices.DeleteFunc(open, func(p approval.Prompt) bool { return p.CallerGone }))
}

// asService has a command write to the log of a world, in a terminal of its own.
func asService(t *testing.T, w *world, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	log, err := os.OpenFile(w.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	cmd.Stdout, cmd.Stderr = log, log
	return inTerminal(cmd)
}

// eventually waits until something is so.
func eventually(so func() bool) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if so() {
			return true
		}
	}
	return so()
}

// answers reports whether a host answers here. A host that starts listens a
// little earlier, and answers when it has cleaned up after the one before.
func (w *world) answers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return (&program{ctx: ctx, state: w.state, home: w.home}).read("status", nil, nil) == nil
}

// readPID waits for a file with a process id, which a command of a test writes.
func readPID(file string) (pid int, err error) {
	if !eventually(func() bool {
		text, _ := os.ReadFile(file)
		n, _ := fmt.Sscanf(string(text), "%d\n", &pid)
		return n == 1 && strings.HasSuffix(string(text), "\n")
	}) {
		return 0, fmt.Errorf("%s holds no process id", file)
	}
	return pid, nil
}

// isGone reports whether a process ended, reaped or not.
func isGone(pid int) bool {
	p, err := proc.Stat(pid)
	return errors.Is(err, proc.ErrGone) || err == nil && p.Zombie
}
