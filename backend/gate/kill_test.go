package gate_test

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// number waits until a program has written the number of a process.
func (b *bench) number(name string) string {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if text, found := strings.CutSuffix(b.read(name), "\n"); found {
			return text
		}
	}
	b.t.Fatalf("nothing is in %s", name)
	return ""
}

func (b *bench) read(name string) string {
	text, _ := os.ReadFile(b.path(name)) // it is made meanwhile
	return string(text)
}

// A kill by number passes for what a command of the same session started, while that
// runs, and for nothing else.
func TestKillOfTheSession(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "serve"})
	b.nobody()
	b.script("serve", "sleep 100 & echo $! >$1.child; echo $$ >$1; { wait; } 2>/dev/null; echo end")
	from := func(agent, family, session string, words ...string) string {
		req := b.request(words...)
		req.AgentID, req.Peer.Family, req.SessionKey = agent, family, session
		return outcome(b.Run(context.Background(), req))
	}
	kill := func(agent, family, session, text string) string {
		return from(agent, family, session, "bash", "-c", text)
	}
	over := make(chan string)
	go func() { over <- from("main", "f1", "s1", "serve", "one") }()
	one, child := b.number("one"), b.number("one.child")

	other := exec.Command("sleep", "100")
	b.do(other.Start())
	defer func() { b.do(other.Process.Kill()); _ = other.Wait() }()
	for _, row := range []struct{ agent, family, session, text string }{
		{"other", "f1", "s1", "kill " + one}, {"main", "f2", "s1", "kill " + one}, {"main", "f1", "s2", "kill " + one}, {"main", "f1", "", "kill " + one},
		{"main", "f1", "s1", "kill " + strconv.Itoa(os.Getpid())}, {"main", "f1", "s1", "kill " + strconv.Itoa(other.Process.Pid)},
		{"main", "f1", "s1", "kill " + one + " 1"}, {"main", "f1", "s1", "kill -" + one}, {"main", "f1", "s1", "kill -- -" + one}, {"main", "f1", "s1", "kill 0" + one},
		{"main", "f1", "s1", "kill -STOP " + one}, {"main", "f1", "s1", "p=" + one + "; kill $p"}, {"main", "f1", "s1", "kill $(echo " + one + ")"}, {"main", "f1", "s1", "kill 0"}, {"main", "f1", "s1", "kill 1"},
	} {
		if got := kill(row.agent, row.family, row.session, row.text); !strings.HasPrefix(got, "denied ") {
			t.Errorf("%v: %s", row, got)
		}
	}
	if got := kill("main", "f1", "s1", "kill -0 "+one+" "+child+" && echo both"); got != `code 0 "both\n"` {
		t.Error(got)
	}
	if got := kill("main", "f1", "s1", "kill "+child); got != `code 0 ""` {
		t.Error(got)
	}
	if got := <-over; got != `code 0 "end\n"` {
		t.Error(got)
	}
	if got := kill("main", "f1", "s1", "kill "+one); got != "denied evaluates" {
		t.Error("what has ended:", got)
	}
}

// What was judged is what is ended: a number that another process has by then is left
// alone.
func TestKillIsOfOneProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "serve"}, approval.Entry{Pattern: "end"})
	b.nobody()
	b.script("serve", "echo $$ >$1; exec sleep 100")
	b.script("end", "kill $1; while kill -0 $1 2>/dev/null; do sleep 0.1; done")
	run := func(words ...string) string {
		req := b.request(words...)
		req.SessionKey = "s1"
		return outcome(b.Run(context.Background(), req))
	}
	over := make(chan string)
	go func() { over <- run("serve", "one") }()
	one := b.number("one")
	if got := run("bash", "-c", "end "+one+"; kill "+one+" 2>/dev/null || echo gone"); got != `code 0 "gone\n"` {
		t.Error(got)
	}
	<-over
}
