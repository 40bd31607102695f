//go:build linux || darwin

package ipc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

func dialServer(t testing.TB, s *Server) *Client {
	t.Helper()
	c, err := dialAt(s.sockets[0].path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func command(words ...string) Exec {
	return Exec{Request: approval.Request{Command: words, Who: approval.Ours}}
}

func TestExecRoundTrip(t *testing.T) {
	var got approval.Request
	seven := 7
	s := start(t, handler{exec: func(_ context.Context, x Exec) ExecAnswer {
		got = x.Request
		return ExecAnswer{ExitCode: &seven, TimedOut: true, Stdout: "out <&>\n", Stderr: "err", Error: "late"}
	}})
	a, err := dialServer(t, s).Exec(t.Context(), testToken, command("ls", "-l"))
	if err != nil || *a.ExitCode != 7 || !a.TimedOut || a.Success || a.Stdout != "out <&>\n" || a.Stderr != "err" || a.Error != "late" {
		t.Errorf("%v: %+v", err, a)
	}
	if got.Peer.PID != os.Getpid() || got.Peer.UID != os.Geteuid() || got.Peer.Started == 0 || got.Peer.Exe == "" || got.Arrived.IsZero() {
		t.Errorf("peer %+v arrived %v", got.Peer, got.Arrived)
	}
	if len(got.Peer.Ancestors) == 0 || got.Peer.Ancestors[0] != os.Getppid() {
		t.Errorf("ancestors %v, want first %d", got.Peer.Ancestors, os.Getppid())
	}
}

// TestProgress tells a caller how far its command is, in order, before the
// answer, and only if it wants that.
func TestProgress(t *testing.T) {
	heard := make(chan bool)
	s := start(t, handler{exec: func(ctx context.Context, x Exec) ExecAnswer {
		if x.Request.Progress != nil {
			x.Request.Progress(approval.EventAsked)
			x.Request.Progress(approval.EventStarted)
			<-heard // what is over soon is not told of
		}
		return echo(ctx, x)
	}})
	c := dialServer(t, s)
	for _, row := range []struct{ wants, want string }{{"yes", "[asked started]"}, {"", "[]"}} {
		var told []approval.EventKind
		x := command("ls")
		if row.wants != "" {
			x.Request.Progress = func(state approval.EventKind) {
				if told = append(told, state); len(told) == 2 {
					heard <- true
				}
			}
		}
		a, err := c.Exec(t.Context(), testToken, x)
		if err != nil || a.Stdout != "ls" || fmt.Sprint(told) != row.want {
			t.Errorf("%v %v %+v", told, err, a)
		}
	}
}

func TestRefusalsAreErrors(t *testing.T) {
	s := start(t, handler{})
	c := dialServer(t, s)
	for name, token := range map[string]string{"UNAVAILABLE: no": testToken, "INVALID_REQUEST: invalid auth": "other"} {
		var e *Error
		if _, err := c.Exec(t.Context(), token, command("ls")); !errors.As(err, &e) || err.Error() != name {
			t.Errorf("%v, want %s", err, name)
		}
	}
}

func TestRequestRoundTrip(t *testing.T) {
	var got DecisionRequest
	answers := map[string]approval.Decision{"a": approval.AllowOnce, "b": approval.AllowAlways, "c": approval.DecisionDeny, "d": "strange"}
	s := start(t, handler{decide: func(_ context.Context, q DecisionRequest) (approval.Decision, bool) {
		got = q
		d, ok := answers[q.Request.Text]
		return d, ok
	}})
	for text, want := range answers {
		q := DecisionRequest{
			Request: approval.Request{Text: text, Cwd: "/tmp", AgentID: "main", SessionKey: "k",
				Claim: approval.Claim{Host: approval.HostNode, Security: approval.SecurityDeny, Ask: approval.AskOff, ResolvedPath: "/bin/a"}},
			Allowed: []approval.Decision{approval.AllowOnce},
		}
		if want == "strange" {
			want = approval.DecisionDeny
		}
		if d, err := dialServer(t, s).Request(t.Context(), testToken, q); err != nil || d != want {
			t.Errorf("%s: %q %v", text, d, err)
		}
		if got.Request.Claim != q.Request.Claim || got.Request.AgentID != "main" || len(got.Allowed) != 1 {
			t.Errorf("%+v", got)
		}
	}
	if d, err := dialServer(t, s).Request(t.Context(), "other", DecisionRequest{Request: approval.Request{Text: "a"}}); d != approval.DecisionDeny || err != nil {
		t.Errorf("wrong token: %q %v", d, err)
	}
	if d, err := dialServer(t, s).Request(t.Context(), testToken, DecisionRequest{Request: approval.Request{Text: "nobody"}}); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("no answer: %q %v", d, err)
	}
}

// An unanswered question closes the connection, but not under the feet of
// other frames on it.
func TestNoAnswerWaitsForTheOthers(t *testing.T) {
	slow := make(chan struct{})
	asked := make(chan struct{})
	s := start(t, handler{
		exec:   func(ctx context.Context, x Exec) ExecAnswer { <-slow; return echo(ctx, x) },
		decide: func(context.Context, DecisionRequest) (approval.Decision, bool) { close(asked); return "", false },
	})
	p := connect(t, s)
	p.say(execLine(`{"command":["ls"]}`) + "\n")
	p.say(`{"type":"request","token":"` + testToken + `","id":"i1","request":{"command":"ls"}}` + "\n")
	<-asked
	close(slow)
	if got := p.line(); !strings.Contains(got, `"ok":true`) {
		t.Errorf("the other frame got %q", got)
	}
	if got := p.line(); got != closed {
		t.Errorf("the unanswered one got %q", got)
	}
}

func TestManyFramesOvertake(t *testing.T) {
	first := make(chan struct{})
	s := start(t, handler{exec: func(ctx context.Context, x Exec) ExecAnswer {
		if x.Request.Command[0] == "0" {
			<-first // answered last
		}
		return echo(ctx, x)
	}})
	c := dialServer(t, s)
	var all, rest sync.WaitGroup
	for i := range 100 {
		all.Add(1)
		if i > 0 {
			rest.Add(1)
		}
		go func() {
			defer all.Done()
			a, err := c.Exec(t.Context(), testToken, command(fmt.Sprint(i)))
			if err != nil || a.Stdout != fmt.Sprint(i) {
				t.Errorf("%d: %v %q", i, err, a.Stdout)
			}
			if i > 0 {
				rest.Done()
			}
		}()
	}
	rest.Wait()
	close(first)
	all.Wait()
}

func TestCancelClosesTheOnlyFrame(t *testing.T) {
	u := &until{}
	s := start(t, handler{exec: u.exec})
	c := dialServer(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		eventually(t, "the frame began", func() bool { return u.begun.Load() == 1 })
		cancel()
	}()
	if _, err := c.Exec(ctx, testToken, command("sleep")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	eventually(t, "the host ended it", func() bool { return u.ended.Load() == 1 })
	if _, err := c.Exec(t.Context(), testToken, command("ls")); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("after the end: %v", err)
	}
}

func TestCancelKeepsTheOthers(t *testing.T) {
	u := &until{}
	s := start(t, handler{exec: func(ctx context.Context, x Exec) ExecAnswer {
		if x.Request.Command[0] == "sleep" {
			return u.exec(ctx, x)
		}
		return echo(ctx, x)
	}})
	c := dialServer(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	kept := make(chan error, 1)
	go func() { _, err := c.Exec(context.Background(), testToken, command("sleep")); kept <- err }()
	eventually(t, "the kept frame began", func() bool { return u.begun.Load() == 1 })
	cancel()
	if _, err := c.Exec(ctx, testToken, command("sleep")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if a, err := c.Exec(t.Context(), testToken, command("ls")); err != nil || a.Stdout != "ls" {
		t.Errorf("%v %+v", err, a)
	}
	s.Close()
	if err := <-kept; err == nil || !strings.Contains(err.Error(), "cancelled") {
		t.Errorf("the kept frame: %v", err)
	}
}

func TestTooLongARequest(t *testing.T) {
	s := start(t, handler{exec: echo})
	c := dialServer(t, s)
	if _, err := c.Exec(t.Context(), testToken, command("ls", strings.Repeat("x", maxLine))); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("%v", err)
	}
	if _, err := c.Exec(t.Context(), testToken, command("ls")); err != nil {
		t.Errorf("the connection was lost: %v", err)
	}
}

// A client skips what is no answer to it, and never takes the answer of
// another kind or another frame.
func TestClientSkipsForeignLines(t *testing.T) {
	path := filepath.Join(shortDir(t), "exec-approvals.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	folder, err := folderOf(path)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		b := make([]byte, 1<<16)
		n, _ := nc.Read(b)
		f, err := parseFrame(b[:n])
		if err != nil {
			return
		}
		hello, _ := encodeLine(helloReply{kindHello, f.id, folder, ""})
		nc.Write(hello)
		n, _ = nc.Read(b)
		if f, err = parseFrame(b[:n]); err != nil {
			return
		}
		for _, line := range []string{
			"", "not JSON", `{"type":"exec-res","id":"other","ok":true}`,
			`{"type":"decision","id":"` + f.id + `","decision":"allow-once"}`,
			`{"type":"exec-res","id":"` + f.id + `","ok":false}`,
		} {
			fmt.Fprintln(nc, line)
		}
		nc.Read(b)
	}()
	c, err := dialAt(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), generous)
	defer cancel()
	var e *Error
	if _, err := c.Exec(ctx, testToken, command("ls")); !errors.As(err, &e) || e.Code != CodeUnavailable {
		t.Errorf("%v", err)
	}
}

func TestDialNobody(t *testing.T) {
	start := time.Now()
	_, err := dialAt(filepath.Join(shortDir(t), "none"))
	if !errors.Is(err, ErrAbsent) || time.Since(start) > generous {
		t.Errorf("%v", err)
	}
}
