//go:build linux || darwin

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/host"
)

// crash kills the host when the history is on disk, which it is within a
// second, and starts another one.
func (w *world) crash(t *testing.T, onDisk ...string) {
	t.Helper()
	if !eventually(func() bool {
		log, _ := os.ReadFile(w.state.History() + "-wal")
		rows, _ := os.ReadFile(w.state.History())
		missing := func(text string) bool {
			return !bytes.Contains(log, []byte(text)) && !bytes.Contains(rows, []byte(text))
		}
		return !slices.ContainsFunc(onDisk, missing)
	}) {
		t.Fatalf("the history never held %q", onDisk)
	}
	w.end(syscall.SIGKILL)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
}

// TestCrashWhileAsking: who waited was denied by the end of the host, and the
// next one says so.
func TestCrashWhileAsking(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.must(t, "policy", "set", "security", "allowlist")
	asking := w.asks("--agent", "main", "--", "/usr/bin/touch", "ran")
	var said bytes.Buffer
	asking.Stderr = &said
	waits := background(t, asking)
	question := w.mustQuestions(t, 1)[0]
	var rows []history.Row
	w.json(t, &rows, "history", "list") // what it shows is on the disk; the last second before a crash may not be
	w.crash(t, question.ID)
	<-waits.over
	if code := waits.ProcessState.ExitCode(); code != exitNoHost || !strings.Contains(said.String(), "the host was lost") {
		t.Errorf("the caller ended with %d: %s", code, &said)
	}
	w.mustQuestions(t, 0)
	w.json(t, &rows, "history", "list")
	if len(rows) != 1 {
		t.Fatalf("%d rows, want 1: %+v", len(rows), rows)
	}
	r := rows[0]
	if r.ID != question.ID || r.State != history.Denied || r.Verdict != approval.VerdictDeny ||
		r.Reason != approval.ReasonApprovalCancelled || r.Sentence != "app ended" || r.Ended.IsZero() {
		t.Errorf("the row was closed as %+v", r)
	}
	if out, err := w.command("approvals", "approve", question.ID).CombinedOutput(); err == nil {
		t.Errorf("a question of a dead host was answered: %s", out)
	}
	if _, err := os.Lstat(filepath.Join(w.home, "ran")); err == nil {
		t.Error("it ran")
	}
}

// TestCrashByWhatWasAllowed: a command that a person allowed ends the host at once,
// and the history says all the same that it was allowed and ran.
func TestCrashByWhatWasAllowed(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.must(t, "policy", "set", "security", "allowlist")
	background(t, w.asks("--agent", "main", "--", "/bin/sh", "-c", "echo >ran; kill -9 $PPID"))
	q := w.mustQuestions(t, 1)[0]
	_ = w.command("approvals", "approve", q.ID).Run() // the host may end before it is answered
	<-w.host.over
	if _, err := os.Lstat(filepath.Join(w.home, "ran")); err != nil {
		t.Fatal("it did not run: ", err)
	}
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	var rows []history.Row
	w.json(t, &rows, "history", "list")
	if len(rows) != 1 || rows[0].State != history.Done || rows[0].Decision != approval.AllowOnce || rows[0].Verdict == approval.VerdictDeny {
		t.Errorf("the row says %+v", rows)
	}
}

// TestCrashWhileRunning: what a dead host left running is ended before the
// next one answers anything, also what left its group.
func TestCrashWhileRunning(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.must(t, "policy", "set", "security", "full")
	w.must(t, "policy", "set", "ask", "off")
	names := []string{"group", "kid", "stubborn"}
	text := `sleep 1000 & echo $! >kid
sh -c 'trap "" TERM; echo $$ >stubborn; while :; do sleep 1; done' &
`
	if subreapers { // else nothing tells a process that left its session
		names = append(names, "away")
		text += approvaltest.Program(t, "setsid") + " sh -c 'echo $$ >away; exec sleep 1000' &\n"
	}
	text += "echo $$ >group; wait"
	background(t, w.asks("--agent", "main", "--", "/bin/sh", "-c", text))
	pids := map[string]int{}
	for _, name := range names {
		pid, err := readPID(filepath.Join(w.home, name))
		if err != nil {
			t.Fatal(err)
		}
		pids[name] = pid
		t.Cleanup(func() {
			if !isGone(pid) {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		})
	}
	var rows, programs []history.Row
	w.json(t, &rows, "history", "list")
	w.json(t, &programs, "history", "list", "--parent", rows[0].ID)
	w.crash(t, programs[0].ID)
	for name, pid := range pids {
		if !isGone(pid) {
			t.Errorf("%s (process %d) lives", name, pid)
		}
	}
	w.json(t, &rows, "history", "list")
	if len(rows) != 1 || rows[0].State != history.Done || rows[0].Error != "app ended" || rows[0].ExitCode != nil {
		t.Fatalf("the row was closed as %+v", rows)
	}
	w.json(t, &programs, "history", "list", "--parent", rows[0].ID)
	for _, r := range programs {
		if r.State != history.Done || r.Error != "app ended" {
			t.Errorf("the row of a program was closed as %+v", r)
		}
	}
	if got := w.must(t, "running", "list"); got != "" {
		t.Errorf("still running: %s", got)
	}
}

// operates sends a frame from our own program and reports whether it worked.
func (w *world) operates(key []byte, method, params string) bool {
	program, err := exec.LookPath("countersign")
	if err != nil {
		return false
	}
	cmd := &exec.Cmd{Path: program, Args: []string{"operate", w.state.Socket(), string(key), method, params}, Env: w.env()}
	text, err := cmd.Output()
	return err == nil && bytes.Contains(text, []byte(`"ok":true`))
}

// TestCrashWhileWriting kills the host again and again while entries are
// added. The file is whole each time and every entry that was confirmed
// holds. One that was not confirmed may wait for a person, never hold alone.
func TestCrashWhileWriting(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	key, err := host.ReadOperatorKey(w.state.OperatorKey())
	if err != nil {
		t.Fatal(err)
	}
	confirmed := map[string]bool{}
	for round := range 4 {
		added := make(chan string)
		var adding sync.WaitGroup
		for worker := range 2 {
			adding.Go(func() {
				// Straight to the host: without one, the command line would
				// write the file itself.
				for n := 0; ; n++ {
					pattern := fmt.Sprintf("/opt/%d/%d/%d", round, worker, n)
					if !w.operates(key, "entries.add", fmt.Sprintf(`{"agentId": "main", "entry": {"pattern": %q}}`, pattern)) {
						return
					}
					added <- pattern
				}
			})
		}
		go func() {
			adding.Wait()
			close(added)
		}()
		count := 0
		for pattern := range added {
			confirmed[pattern] = true
			if count++; count == 5+round {
				w.host.Process.Signal(syscall.SIGKILL)
			}
		}
		w.end(syscall.SIGKILL)
		if count < 5 {
			t.Fatalf("only %d entries could be added in round %d", count, round)
		}
		if _, err := (&program{state: w.state, home: w.home}).document(); err != nil {
			t.Fatalf("the file is not whole: %v", err)
		}
		if err := w.start(); err != nil {
			t.Fatal(err)
		}
		var held host.Policy
		w.json(t, &held, "policy", "show", "--agent", "main")
		holds := map[string]bool{}
		for _, e := range held.Policy.Allowlist {
			holds[e.Pattern] = true
		}
		for pattern := range confirmed {
			if !holds[pattern] {
				t.Errorf("%s was confirmed and does not hold; waiting: %q", pattern, held.Held)
			}
		}
		if held.Broken != "" {
			t.Errorf("broken: %s", held.Broken)
		}
		if len(held.Held) > 0 {
			w.must(t, "policy", "reject")
		}
	}
	for _, unfinished := range []string{".*", "*.tmp"} {
		if left, _ := filepath.Glob(filepath.Join(w.state.Dir, unfinished)); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}
