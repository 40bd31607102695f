//go:build linux || darwin

package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/proc"
)

// helperEnv makes the test binary an MCP server, and says what it does wrong.
const helperEnv = "COUNTERSIGN_PROXY_TEST_SERVER"

// misbehave is a server that reads one line and then does something.
func misbehave(kind string) int {
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		return 0
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	pong := `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
	switch kind {
	case "dies":
		return 3
	case "killed":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "half":
		out.WriteString(`{"jsonrpc":"2.0","id":1,"res`)
		return 4
	case "crlf":
		out.WriteString("\r\n\r\n" + strings.TrimSpace(pong) + "\r\n")
	case "last words":
		out.WriteString(strings.TrimSpace(pong)) // without a newline
		return 5
	case "shuts up":
		os.Stdout.Close()
		select {}
	case "long line":
		for range 17 {
			out.WriteString(strings.Repeat("x", 1<<20))
		}
		out.Flush()
		select {}
	case "flood":
		for {
			if _, err := out.WriteString(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + strings.Repeat("x", 1000) + `"}}` + "\n"); err != nil {
				return 6
			}
		}
	case "stays":
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command("sleep", "1000")
		child.Stdout = os.Stdout // so that our output does not end with us
		if err := child.Start(); err != nil {
			return 9
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"x","params":{"pids":"%d %d"}}`+"\n", os.Getpid(), child.Process.Pid)
		out.Flush()
		for {
			time.Sleep(time.Hour)
		}
	case "leaves a child":
		child := exec.Command("sleep", "1000")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			return 9
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"x","params":{"pids":"%d"}}`+"\n", child.Process.Pid)
		return 8
	case "deaf":
		out.WriteString(pong)
		out.Flush()
		select {}
	}
	return 0
}

// hostile is a stage with the test binary as its server.
func hostile(t *testing.T, kind string) *stage {
	t.Helper()
	t.Setenv(helperEnv, kind)
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server, err := Start([]string{self}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return stageOf(t, server)
}

const onePing = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// TestServerEnds: a server that dies, or must be ended, is reported to whoever
// waits, and the proxy ends with its code.
func TestServerEnds(t *testing.T) {
	for _, c := range []struct {
		kind, why string
		code      int
		answered  bool
	}{
		{"dies", "ended by itself (exit status 3)", 3, false},
		{"killed", "ended by itself (signal: killed)", 137, false},
		{"half", "ended by itself (exit status 4)", 4, false},
		{"crlf", "ended by itself (exit status 0)", 0, true},
		{"last words", "ended by itself (exit status 5)", 5, true},
		{"shuts up", "closed its output", 1, false},
		{"long line", "more than 16 MiB", 1, false},
	} {
		t.Run(c.kind, func(t *testing.T) {
			s := hostile(t, c.kind)
			s.client(onePing)
			got := s.line()
			if c.answered {
				if got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
					t.Errorf("answered %s", got)
				}
			} else if !strings.Contains(got, `"id":1,"error":{"code":-32000,"message":"the MCP server`) || !strings.Contains(got, c.why) {
				t.Errorf("answered %s", got)
			}
			var ended *Ended
			if err := s.ends(); !errors.As(err, &ended) || ended.Code != c.code || !strings.Contains(ended.Why, c.why) {
				t.Errorf("%+v", ended)
			}
			if !strings.Contains(s.log.String(), c.why) {
				t.Errorf("the log says %s", s.log)
			}
		})
	}
}

// TestFlood: a server that sends what its client does not read is ended.
func TestFlood(t *testing.T) {
	s := hostile(t, "flood")
	s.client(onePing)
	var ended *Ended
	if err := s.ends(); !errors.As(err, &ended) || !strings.Contains(ended.Why, "more messages than a client can read") {
		t.Errorf("%v", err)
	}
}

// pids waits for the processes that a server names.
func (s *stage) pids() (list []int) {
	s.Helper()
	_, text, _ := strings.Cut(s.line(), `"pids":"`)
	text, _, _ = strings.Cut(text, `"`)
	for field := range strings.FieldsSeq(text) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			s.Fatal(err)
		}
		list = append(list, pid)
	}
	if len(list) == 0 {
		s.Fatal("the server names no process")
	}
	return list
}

// gone waits until a process is no more.
func (s *stage) gone(pid int) {
	s.Helper()
	for end := time.Now().Add(generous); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if p, err := proc.Stat(pid); errors.Is(err, proc.ErrGone) || err == nil && p.Zombie {
			return
		}
	}
	s.Errorf("process %d lives on", pid)
}

// TestStubborn: a server that ignores the end of its input and the request to end
// is killed, with what it started.
func TestStubborn(t *testing.T) {
	s := hostile(t, "stays")
	s.client(onePing)
	pids := s.pids()
	s.send.Close()
	if err := s.ends(); err != nil {
		t.Error(err)
	}
	for _, pid := range pids {
		s.gone(pid)
	}
}

// TestLeftover: what a server that died started does not live on.
func TestLeftover(t *testing.T) {
	s := hostile(t, "leaves a child")
	s.client(onePing)
	pids := s.pids()
	var ended *Ended
	if err := s.ends(); !errors.As(err, &ended) || ended.Code != 8 {
		t.Errorf("%v", err)
	}
	s.gone(pids[0])
}

// TestDeaf: a server that does not read what is sent to it can be left all the same.
func TestDeaf(t *testing.T) {
	s := hostile(t, "deaf")
	s.client(onePing)
	s.reads(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	s.client(toolCall("1", "deny"))
	s.line()
	big := `{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"x":"` + strings.Repeat("x", 1<<20) + `"}}`
	go func() { // more than a pipe holds
		for i := range 4 {
			fmt.Fprintf(s.send, big+"\n", i)
		}
	}()
	s.cancel()
	if err := s.ends(); err != nil {
		t.Error(err)
	}
}

// TestNoServer: a program that is not there is an error at once.
func TestNoServer(t *testing.T) {
	if _, err := Start([]string{filepath.Join(t.TempDir(), "none")}, os.Stderr); err == nil || !strings.Contains(err.Error(), "cannot start the MCP server") {
		t.Error(err)
	}
}
