//go:build linux || darwin

package main

import (
	"bytes"
	"encoding/json"
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
	"github.com/countersign-app/countersign/backend/host"
)

// besieged is a world with an open question, a run of somebody else, and a
// host in a terminal.
type besieged struct {
	*world
	orders   orders
	file     string // where the orders are
	policy   []byte
	question approval.Prompt
}

func besiege(t *testing.T) *besieged {
	t.Helper()
	w := testWorld(t)
	ours, err := exec.LookPath("countersign")
	if err != nil {
		t.Fatal(err)
	}
	// The attack runs our own file, so that only its family gives it away.
	link := filepath.Join(w.home, "attack")
	if err := os.Symlink(ours, link); err != nil {
		t.Fatal(err)
	}
	term := newTerminal(t)
	if err := w.startHost(term.slave, "host", "run", "--ask=command-line", "--operate=anyone"); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{
		{"policy", "set", "security", "allowlist"},
		{"approvals", "add", "/usr/bin/id"},
		{"approvals", "add", "/usr/bin/sleep"},
		{"approvals", "add", "/bin/sleep"},
	} {
		w.must(t, words...)
	}
	background(t, w.asks("--", "sleep", "1000"))
	var runs []host.Run
	if !eventually(func() bool { w.json(t, &runs, "running", "list"); return len(runs) == 1 }) {
		t.Fatal("nothing runs")
	}
	background(t, w.asks("--agent", "victim", "--", "/usr/bin/touch", "answered"))
	b := &besieged{world: w, question: w.mustQuestions(t, 1)[0], file: filepath.Join(w.home, "orders.json")}
	key, err := host.ReadOperatorKey(w.state.OperatorKey())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := (&program{state: w.state, home: w.home}).document()
	if err != nil {
		t.Fatal(err)
	}
	b.orders = orders{
		Home: w.home, Socket: w.state.Socket(), State: w.state.Dir, Token: doc.Socket.Token, Key: string(key),
		Ours: ours, Attack: link, Out: filepath.Join(w.home, "out"), Question: b.question.ID, Run: runs[0].ID, Terminal: term.name,
	}
	if err := os.Mkdir(b.orders.Out, 0o700); err != nil {
		t.Fatal(err)
	}
	if b.policy, err = os.ReadFile(w.state.Approvals()); err != nil {
		t.Fatal(err)
	}
	return b
}

// background runs a program until the test ends.
func background(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p, err := start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.end(syscall.SIGKILL) })
	return p
}

func (b *besieged) write(t *testing.T) {
	t.Helper()
	text, err := json.Marshal(b.orders)
	if err == nil {
		err = os.WriteFile(b.file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// tries reads a report.
func (b *besieged) tries(t *testing.T, way string) (list []attempt) {
	t.Helper()
	text, err := os.ReadFile(b.orders.reportFile(way))
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil || len(list) == 0 {
		t.Fatalf("no report of %s: %v", way, err)
	}
	return list
}

// holds checks that nothing was answered, loosened or stopped.
func (b *besieged) holds(t *testing.T) {
	t.Helper()
	var open []approval.Prompt
	b.json(t, &open, "approvals", "pending")
	waits := false
	for _, q := range open {
		waits = waits || q.ID == b.question.ID && !q.CallerGone
	}
	if !waits {
		t.Errorf("the question does not wait any more: %+v", open)
	}
	if _, err := os.Lstat(filepath.Join(b.home, "answered")); err == nil {
		t.Error("the question's command ran")
	}
	var runs []host.Run
	b.json(t, &runs, "running", "list")
	if len(runs) != 1 || runs[0].ID != b.orders.Run {
		t.Errorf("the run of somebody else was stopped: %+v", runs)
	}
	var held host.Policy
	b.json(t, &held, "policy", "show")
	if p := held.Policy; p.Security != approval.SecurityList || p.Ask != approval.AskOnMiss || len(p.Allowlist) != 3 {
		t.Errorf("the policy that holds was loosened: %+v", p)
	}
}

// The sentences with which the door refuses.
var doorSays = []string{
	"this process was started by a command that Countersign ran",
	"which asked Countersign",
	"this process does not run Countersign's own program",
	"this process did not run Countersign's own program when it connected",
}

// checkRefused checks that every try was refused at the door.
func checkRefused(t *testing.T, tries []attempt) {
	t.Helper()
	for _, try := range tries {
		if try.What == "frame with the token" {
			if !strings.Contains(try.Got, `"INVALID_REQUEST"`) || !strings.Contains(try.Got, "invalid auth") {
				t.Errorf("%s, %s: %s", try.Way, try.What, try.Got)
			}
			continue
		}
		refused := false
		says := doorSays
		if try.Way == "a copy of our program" { // which takes the host for a false one, and then edits the file as anybody could
			says = append(slices.Clone(says), "what answers at the socket is not the host of this state folder", "an edit of the policy file waits for a person")
		}
		for _, s := range says {
			refused = refused || strings.Contains(try.Got, s)
		}
		if strings.HasPrefix(try.What, "frame") {
			refused = refused && strings.Contains(try.Got, `"FORBIDDEN"`)
		} else {
			refused = refused && strings.HasPrefix(try.Got, "exit status 1:")
		}
		if !refused {
			t.Errorf("%s, %s: %s", try.Way, try.What, try.Got)
		}
	}
}

// TestCommandCannotOperate lets a command that a person approved try to
// answer and to loosen through every door.
func TestCommandCannotOperate(t *testing.T) {
	t.Parallel()
	b := besiege(t)
	o := &b.orders
	o.Ways = []string{"itself", "a child", "a session of its own", "a copy of our program"}
	if subreapers {
		o.Ways = append(o.Ways, "a daemon", "a daemon with nothing in its environment")
	} else {
		t.Log("no daemons: this platform has no child subreaper, so a daemon leaves its family")
	}

	// The operator's frames, as somebody could see them: one that was used,
	// and one that was not.
	signed := func() []byte {
		return foreign{}.frame("call", o.Key, time.Now().UnixMilli(), map[string]any{"method": "running.stop", "params": map[string]any{"id": "nothing"}})
	}
	person := &exec.Cmd{Path: o.Ours, Args: []string{"operate", o.Socket, o.Key, "running.stop", `{"id": "nothing"}`}, Env: b.env()}
	text, err := person.Output()
	used, answer, _ := bytes.Cut(text, []byte("\n"))
	if err != nil || !bytes.Contains(answer, []byte("nothing called nothing")) {
		t.Fatalf("the person's own frame was answered %s %v", text, err)
	}
	o.Captured = [][]byte{append(used, '\n'), signed()}
	b.write(t)

	attacker, stderr := b.asks("--agent", "main", "--timeout", "2m", "--", o.Attack, b.file), &bytes.Buffer{}
	attacker.Stderr = stderr
	running := background(t, attacker)
	for _, q := range b.mustQuestions(t, 2) {
		if q.AgentID == "main" {
			b.must(t, "approvals", "approve", q.ID)
		}
	}
	select {
	case <-running.over:
	case <-time.After(2 * time.Minute):
		t.Fatal("the attack does not end")
	}
	if code := running.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("the attack ended with %d: %s", code, stderr)
	}

	for _, way := range o.Ways {
		t.Run(way, func(t *testing.T) { checkRefused(t, b.tries(t, way)) })
	}
	wants := map[string][]string{
		"captured frame 0":            {`"replay"`},
		"captured frame 1":            {`"FORBIDDEN"`},
		"claim":                       {`"prompt-expired"`},
		"/dev/tty":                    {"no such device or address", "device not configured"},
		"typing":                      {"operation not permitted", "inappropriate ioctl", "input/output error"},
		"a second host":               {"already listening"},
		"edit in place":               {`"held":["defaults.security goes from allowlist to full"]`},
		"edit by a rename":            {`"held":["defaults.security goes from allowlist to full"]`},
		"edit with its kept versions": {`"held":["defaults.security goes from allowlist to full"]`},
	}
	for _, try := range b.tries(t, "alone") {
		t.Run(try.What, func(t *testing.T) {
			fits := false
			for _, want := range wants[try.What] {
				fits = fits || strings.Contains(try.Got, want)
			}
			if !fits {
				t.Errorf("got %s", try.Got)
			}
		})
		delete(wants, try.What)
	}
	if os.Geteuid() == 0 {
		t.Run("typing", func(t *testing.T) { t.Skip("root may type into any terminal: only another user can be tried") })
		delete(wants, "typing")
	}
	for what := range wants {
		t.Errorf("it was not tried: %s", what)
	}
	if _, err := os.Lstat(filepath.Join(o.Out, "claimed")); err == nil {
		t.Error("a claim ran a command")
	}
	b.must(t, "policy", "reject")
	b.holds(t)
	if now, err := os.ReadFile(b.state.Approvals()); err != nil || !bytes.Equal(now, b.policy) {
		t.Errorf("the policy file is not as it was (%v):\n%s", err, now)
	}
}

// TestAskerCannotOperate lets a process that asks try the same, from every
// place in its family. A daemon of a program that Countersign did not start
// has left that family: README says so under what it does not protect against.
func TestAskerCannotOperate(t *testing.T) {
	t.Parallel()
	b := besiege(t)
	o := &b.orders
	o.Ask = true
	o.Ways = []string{"itself", "a child", "a session of its own"}
	b.write(t)
	// A shell leads the session; the asker is its child, and so is a sibling.
	script := fmt.Sprintf("%[1]s %[2]s && %[1]s %[2]s 'a sibling' 0 && exec %[1]s %[2]s 'its parent' 0", o.Attack, b.file)
	shell := b.program("/bin/sh", "-c", script)
	inTerminal(shell)
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, way := range append(o.Ways, "a sibling", "its parent") {
		t.Run(way, func(t *testing.T) { checkRefused(t, b.tries(t, way)) })
	}
	b.holds(t)
	if now, err := os.ReadFile(b.state.Approvals()); err != nil || !bytes.Equal(now, b.policy) {
		t.Errorf("the policy file is not as it was (%v):\n%s", err, now)
	}

	// The person still may.
	b.must(t, "approvals", "deny", o.Question)
}
