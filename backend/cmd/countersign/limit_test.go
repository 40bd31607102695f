//go:build linux || darwin

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/descriptors"
	"github.com/countersign-app/countersign/backend/host"
)

// starve is `starve SOCKET TOKEN DIR IDLE RUNS QUESTIONS`: it opens so many
// connections that say nothing, has so many commands run and asks so many questions,
// each under an agent of its own. It says so in DIR, and keeps all until it is ended.
func starve(args []string) int {
	f := foreign{args[0], args[1]}
	var many [3]int
	for i := range many {
		many[i], _ = strconv.Atoi(args[3+i])
	}
	var open []net.Conn
	say := func(n int, agent string, words ...string) {
		for i := range n {
			nc, err := net.Dial("unix", f.socket)
			if err != nil {
				return
			}
			open = append(open, nc)
			if words == nil {
				continue
			}
			request := foreignRequest(append(words, fmt.Sprint(600+i))...)
			request["agentId"], request["deadlineMs"] = fmt.Sprint(agent, i), time.Now().Add(10*time.Minute).UnixMilli()
			if _, err := nc.Write(f.exec(request)); err != nil {
				continue // it had no place
			}
		}
	}
	say(many[1], "run", "sleep")
	say(many[2], "ask", "id")
	say(many[0], "")
	if err := os.WriteFile(filepath.Join(args[2], "starving"), nil, 0o600); err != nil {
		return complain("starve:", err)
	}
	time.Sleep(time.Hour)
	return len(open) // they last as long as this
}

// startLow starts a host that may have so many files open.
func (w *world) startLow(t *testing.T, limit int) (said string, err error) {
	t.Helper()
	log, err := os.Create(w.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	program, err := exec.LookPath("countersign")
	if err != nil {
		t.Fatal(err)
	}
	cmd := w.program("sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$0" host run --ask=command-line --operate=anyone`, limit), program)
	cmd.Stdout, cmd.Stderr = log, log
	if w.host, err = start(cmd); err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool { return w.answers() || w.host.isOver() }) || w.host.isOver() {
		err = fmt.Errorf("the host does not answer")
	}
	text, _ := os.ReadFile(w.log)
	return string(text), err
}

// A host that could not share out its files among all that need some does not start,
// and says how many it needs.
func TestTooFewFiles(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	said, err := w.startLow(t, descriptors.Least-1)
	if err == nil || w.host.ProcessState.ExitCode() != exitError || !strings.Contains(said, strconv.Itoa(descriptors.Least)) {
		t.Errorf("%v: %s", err, said)
	}
}

// TestStarved has an agent take all that it gets of a host with few files, in each way
// and in all at once. The others are still served: a command that is allowed runs, a
// question is asked, answered and run, and the person changes the policy.
func TestStarved(t *testing.T) {
	const token = "dG9rZW4tb2YtYS10ZXN0LTAxMjM0NTY3ODk"
	for _, c := range []struct {
		name                   string
		limit                  int
		idle, runs, questions  int
		someRuns, someQuestion bool
	}{
		{"idle", descriptors.Least, 1000, 0, 0, false, false},
		{"runs", descriptors.Least, 0, 150, 0, true, false},
		{"questions", descriptors.Least, 0, 0, 300, false, true},
		{"all", 1024, 1000, 200, 500, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := testWorld(t)
			w.policy(t, `{"version": 1, "socket": {"token": "`+token+`"}, "defaults": {"security": "allowlist", "ask": "on-miss"}, "agents": {"*": {"allowlist": [
				{"pattern": "/bin/sleep"}, {"pattern": "/usr/bin/sleep"}, {"pattern": "/bin/uname"}, {"pattern": "/usr/bin/uname"}, {"pattern": "/usr/bin/*coreutils*"}]}}}`)
			if said, err := w.startLow(t, c.limit); err != nil {
				t.Fatal(err, said)
			}
			// A copy is not our program: it has no part in what is kept for ours.
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(self)
			if err != nil {
				t.Fatal(err)
			}
			copied := filepath.Join(w.home, "starve")
			syscall.ForkLock.RLock() // a child of another test that has it open would keep it from starting
			err = os.WriteFile(copied, text, 0o700)
			syscall.ForkLock.RUnlock()
			if err != nil {
				t.Fatal(err)
			}
			greedy, err := start(inTerminal(w.program(copied, w.state.Socket(), token, w.home, fmt.Sprint(c.idle), fmt.Sprint(c.runs), fmt.Sprint(c.questions))))
			if err != nil {
				t.Fatal(err)
			}
			defer greedy.end(syscall.SIGKILL)
			if !eventually(func() bool {
				_, err := os.Stat(filepath.Join(w.home, "starving"))
				return err == nil || greedy.isOver()
			}) || greedy.isOver() {
				t.Fatal("nobody takes what there is")
			}
			if !eventually(func() bool {
				s, err := w.status()
				return err == nil && (s.Running > 0) == c.someRuns && (s.Waiting > 0) == c.someQuestion
			}) {
				s, err := w.status()
				t.Fatalf("the host has %d running and %d waiting, %v", s.Running, s.Waiting, err)
			}
			for i := range 3 {
				if out, err := w.asks("--agent", "honest", "--wait=1m", "--", "uname").CombinedOutput(); err != nil {
					t.Errorf("%d: a command that is allowed: %v %s", i, err, out)
				}
				if out, err := w.command("policy", "set", "--agent", "other", "ask", []string{"always", "off"}[i%2]).CombinedOutput(); err != nil {
					t.Errorf("%d: the person: %v %s", i, err, out)
				}
			}
			asks := w.asks("--agent", "honest", "--wait=1m", "--", "id", "-un")
			var said strings.Builder
			asks.Stdout, asks.Stderr = &said, &said
			asked, err := start(asks)
			if err != nil {
				t.Fatal(err)
			}
			defer asked.end(syscall.SIGKILL)
			var mine approval.Prompt
			if !eventually(func() bool {
				var open []approval.Prompt
				out, err := w.command("--json", "approvals", "pending").Output()
				if err != nil || json.Unmarshal(out, &open) != nil {
					return false
				}
				i := slices.IndexFunc(open, func(p approval.Prompt) bool { return p.AgentID == "honest" })
				if i >= 0 {
					mine = open[i]
				}
				return i >= 0 || asked.isOver()
			}) || asked.isOver() {
				t.Fatalf("a question is not asked: %s", said.String())
			}
			w.must(t, "approvals", "approve", mine.ID)
			if <-asked.over; asked.ProcessState.ExitCode() != 0 {
				t.Errorf("what was allowed: %d %s", asked.ProcessState.ExitCode(), said.String())
			}
		})
	}
}

// status is what the host tells of itself.
func (w *world) status() (s host.Status, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err = (&program{ctx: ctx, state: w.state, home: w.home}).read("status", nil, &s)
	return s, err
}
