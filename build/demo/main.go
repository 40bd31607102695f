// Command demo is a tour of the headless host on real programs, without a
// person: it starts a host of its own in a scratch folder, sends it requests
// as an agent would, and answers the questions as a person would. It prints
// what happened and ends with 0 only if each step went as it should.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/countersign-app/countersign/backend/approvaltest"
)

// tour is one run of the demo.
type tour struct {
	program string // the countersign binary
	dir     string // scratch folder: home, state, project
	failed  int
}

// outcome is what a requester got.
type outcome struct {
	code   int
	output string
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: demo COUNTERSIGN")
		os.Exit(2)
	}
	if err := start(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func start(program string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "countersign")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := &tour{program: program, dir: dir}
	for _, name := range []string{"home", "project", "project/bin"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			return err
		}
	}
	host := t.command("host", "run", "--ask=command-line", "--operate=anyone")
	var log bytes.Buffer
	host.Stderr = &log
	if err := host.Start(); err != nil {
		return err
	}
	defer func() {
		_ = host.Process.Signal(syscall.SIGTERM)
		_ = host.Wait()
	}()
	if err := t.setUp(); err != nil {
		return fmt.Errorf("%w\n%s", err, log.String())
	}
	t.steps()
	if t.failed > 0 {
		return fmt.Errorf("%d of the steps above went wrong; the host said:\n%s", t.failed, log.String())
	}
	fmt.Println("Everything went as it should.")
	return nil
}

// setUp waits for the host and gives it a policy.
func (t *tour) setUp() error {
	for range 100 {
		if t.command("policy", "show").Run() == nil && t.command("doctor").Run() == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, words := range [][]string{
		{"policy", "set", "security", "allowlist"},
		{"policy", "set", "--agent=strict", "ask", "off"},
		{"approvals", "add", real("ls")},
		{"approvals", "add", real("uname")},
		{"approvals", "add", real("sleep")},
		{"approvals", "add", filepath.Join(t.dir, "project/bin/*")},
		{"approvals", "add", "--deny", "--note=the demo forbids it", "mv"},
	} {
		if out, err := t.command(words...).CombinedOutput(); err != nil {
			return fmt.Errorf("cannot %s: %s", strings.Join(words, " "), out)
		}
	}
	return os.Symlink(real("touch"), filepath.Join(t.dir, "project/bin/harmless"))
}

// real is the real path of a program of this machine.
func real(name string) string {
	at, err := exec.LookPath(name)
	if err != nil {
		return "/bin/" + name
	}
	if at, err = filepath.EvalSymlinks(at); err != nil {
		return "/bin/" + name
	}
	return at
}

func (t *tour) steps() {
	t.step("Allowed: a chain of allowed programs runs without a question and without a shell.")
	got := t.request("run", "--", "bash", "-c", "uname -s && echo one two | wc -w")
	t.want(got.code == 0 && strings.Contains(got.output, "2"), got)

	t.step("Asked and approved: a program without an entry waits, a person says yes.")
	got = t.answered("approve", "run", "--", "touch", "made")
	t.want(got.code == 0 && t.exists("made"), got)

	t.step("Asked and denied: a person says no, and why.")
	got = t.answered("deny", "run", "--", "touch", "never")
	t.want(got.code == 126 && strings.Contains(got.output, "not today") && !t.exists("never"), got)

	t.step("Denylisted: a forbidden program is refused at once, also behind a shell and env.")
	got = t.request("run", "--", "env", "bash", "-c", "ls; mv made gone")
	t.want(got.code == 126 && strings.Contains(got.output, "the demo forbids it") && t.exists("made"), got)

	t.step("Expired: nobody answers in time; that is a no, and told apart from a person's.")
	got = t.request("run", "--wait=1s", "--", "touch", "late")
	t.want(got.code == 126 && strings.Contains(got.output, "prompt-expired") && !t.exists("late"), got)

	t.step("A trick: an allowed ls carries a hidden command. For an agent that is never asked about it is refused.")
	got = t.request("run", "--agent=strict", "--", "bash", "-c", `ls "$(touch stolen)"`)
	t.want(got.code == 126 && strings.Contains(got.output, "touch stolen") && !t.exists("stolen"), got)

	t.step("Another trick: an allowed folder holds a link to a program that changes files.")
	got = t.request("run", "--agent=strict", "--", "./bin/harmless", "stolen")
	t.want(got.code == 126 && !t.exists("stolen"), got)

	t.step("The caller hangs up: its command ends.")
	t.hangUp()
}

func (t *tour) step(what string) { fmt.Println("•", what) }

// want says what came of a step.
func (t *tour) want(ok bool, got outcome) {
	verdict := "as it should"
	if !ok {
		verdict = "WRONG"
		t.failed++
	}
	fmt.Printf("    exit code %d, %s\n", got.code, verdict)
	for line := range strings.Lines(got.output) {
		fmt.Print("    | ", strings.TrimRight(line, "\n"), "\n")
	}
}

func (t *tour) exists(name string) bool {
	_, err := os.Stat(filepath.Join(t.dir, "project", name))
	return err == nil
}

// command makes a call of the countersign command line.
func (t *tour) command(words ...string) *exec.Cmd {
	cmd := exec.Command(t.program, append([]string{"--state-dir", filepath.Join(t.dir, "state")}, words...)...)
	cmd.Dir = filepath.Join(t.dir, "project")
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(t.dir, "home"))
	return cmd
}

// requester makes a call that asks to run something. It gets a terminal of its
// own: the family of a program that asks may not answer.
func (t *tour) requester(words ...string) *exec.Cmd {
	cmd, err := approvaltest.InTerminal(t.command(words...))
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo: there is no terminal:", err)
	}
	return cmd
}

func (t *tour) request(words ...string) outcome {
	out, err := t.requester(words...).CombinedOutput()
	return outcome{code(err), string(out)}
}

func code(err error) int {
	var ended *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended):
		return ended.ExitCode()
	}
	return -1
}

// answered sends a request and gives the question that comes up its answer.
func (t *tour) answered(answer string, words ...string) outcome {
	done := make(chan outcome)
	go func() { done <- t.request(words...) }()
	id := t.question()
	args := []string{"approvals", answer, id}
	if answer == "deny" {
		args = []string{"approvals", "deny", "--note=not today", id}
	}
	if out, err := t.command(args...).CombinedOutput(); err != nil {
		fmt.Printf("    the answer was not taken: %s\n", out)
	}
	return <-done
}

// question returns the id of the question that waits.
func (t *tour) question() string {
	for range 100 {
		var list []struct {
			ID         string
			CallerGone bool
			Plan       struct{ Text string }
		}
		out, err := t.command("--json", "approvals", "pending").Output()
		if err == nil && json.Unmarshal(out, &list) == nil {
			for _, q := range list {
				if !q.CallerGone {
					fmt.Printf("    question: %s\n", q.Plan.Text)
					return q.ID
				}
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return "none"
}

func (t *tour) running() int {
	var list []struct{ ID string }
	out, err := t.command("--json", "running", "list").Output()
	if err != nil || json.Unmarshal(out, &list) != nil {
		return -1
	}
	return len(list)
}

func (t *tour) hangUp() {
	caller := t.requester("run", "--", "sleep", "600")
	if err := caller.Start(); err != nil {
		t.want(false, outcome{-1, err.Error()})
		return
	}
	started := t.until(1)
	_ = caller.Process.Kill()
	_ = caller.Wait()
	ended := t.until(0)
	t.want(started && ended, outcome{0, fmt.Sprintf("it ran: %v, it ended with its caller: %v\n", started, ended)})
}

// until waits until so many commands run.
func (t *tour) until(n int) bool {
	for range 100 {
		if t.running() == n {
			return true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}
